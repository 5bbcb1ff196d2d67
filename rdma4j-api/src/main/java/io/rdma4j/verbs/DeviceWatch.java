// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

/**
 * The registration of a callback for changes of the devices of this machine: see {@link RdmaDevices#watch}.
 *
 * <p>Implemented by providers; a later version adds methods only as {@code default}.
 *
 * @since 0.1.0
 */
public interface DeviceWatch extends AutoCloseable {
    /** Ends it. A call that has begun goes on. Idempotent. */
    @Override
    void close();
}
