// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.stat;

/** What one look at a process shows. */
sealed interface Reading permits ProcessReading, SocketsReading {
    /** {@return whether it has nothing open that was asked for} */
    boolean isEmpty();
}
