// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

/**
 * The path a datagram takes.
 *
 * <p>C: {@code struct} {@index ibv_ah}, {@index ibv_destroy_ah} is {@link #close()}. Belongs to its protection
 * domain. Thread safe.
 *
 * <p>Implemented by providers; a later version adds methods only as {@code default}.
 *
 * @since 0.1.0
 */
public interface AddressHandle extends AutoCloseable {
    /**
     * Bytes before the payload of a received datagram. With IPv6 they hold its header; with IPv4 the last
     * 20 hold its header and the first 20 nothing. Source: IBTA annex A17.4.5.1.
     */
    int GLOBAL_ROUTE_LENGTH = 40;

    /** {@return the protection domain it belongs to} C: {@index pd of struct ibv_ah}. */
    ProtectionDomain protectionDomain();

    /** {@return the path} */
    AddressHandleAttributes attributes();

    /**
     * Frees it. Idempotent. C: {@index ibv_destroy_ah}.
     *
     * @throws RdmaException EIO if the device cannot free it, EBUSY if a request that names it is being posted and that
     *         does not end; never by a software device
     */
    @Override
    void close() throws RdmaException;
}
