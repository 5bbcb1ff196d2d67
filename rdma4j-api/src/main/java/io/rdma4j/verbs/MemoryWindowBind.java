package io.rdma4j.verbs;

import java.util.Set;

/**
 * What a memory window shall cover and allow.
 *
 * <p>C: {@code struct ibv_mw_bind_info}. A length of 0 unbinds the window.
 *
 * @param region the region underneath; it needs {@link AccessFlag#MW_BIND} ({@code mr})
 * @param address the first byte, as {@link MemoryRegion#address()} counts ({@code addr})
 * @param length the bytes ({@code length})
 * @param access what the peer may do ({@code mw_access_flags})
 */
public record MemoryWindowBind(MemoryRegion region, long address, long length,
        Set<AccessFlag> access) {
    /** Keeps a copy of the set. */
    public MemoryWindowBind {
        access = Set.copyOf(access);
    }
}
