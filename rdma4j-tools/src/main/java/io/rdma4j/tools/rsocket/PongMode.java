// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.rsocket;

/** How the tool waits. */
enum PongMode {
    /** In calls that block. */
    BLOCKING,
    /** By calling again. */
    SPINNING,
    /** With a selector. */
    SELECTING
}
