package io.rdma4j.verbs;

/**
 * The path a datagram takes.
 *
 * <p>C: {@code struct ibv_ah}, {@code ibv_destroy_ah} is {@link #close()}. Belongs to its protection
 * domain. Thread safe.
 */
public interface AddressHandle extends AutoCloseable {
    /** {@return the protection domain it belongs to} */
    ProtectionDomain protectionDomain();

    /** {@return the path} */
    AddressHandleAttributes attributes();

    /** Frees it. Idempotent. C: {@code ibv_destroy_ah}. */
    @Override
    void close() throws RdmaException;
}
