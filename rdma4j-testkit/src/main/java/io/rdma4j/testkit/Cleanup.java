// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.testkit;

/** Closes objects in the end, the last first. */
@FunctionalInterface
interface Cleanup {
    /** {@return the object, which will be closed} */
    <T extends AutoCloseable> T keep(T object);
}
