// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

/**
 * A promise that what is created in it is used by one thread at a time.
 *
 * <p>C: {@code struct} {@index ibv_td}, {@index ibv_alloc_td}. A device may use it to leave out locks; it is put to
 * use through {@link ProtectionDomain#createParentDomain}. Thread safe.
 *
 * <p>Implemented by providers; a later version adds methods only as {@code default}.
 *
 * @since 0.1.0
 */
public interface ThreadDomain extends AutoCloseable {
    /** {@return the device it belongs to} */
    DeviceContext context();

    /**
     * Frees it. Idempotent. C: {@index ibv_dealloc_td}.
     *
     * @throws RdmaException EBUSY while a parent domain uses it
     */
    @Override
    void close() throws RdmaException;
}
