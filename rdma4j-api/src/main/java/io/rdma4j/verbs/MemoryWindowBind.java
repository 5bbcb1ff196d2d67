// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import java.util.Locale;
import java.util.Set;

/**
 * What a memory window shall cover and allow.
 *
 * <p>C: {@code struct} {@index ibv_mw_bind_info}. A length of 0 unbinds a window of type 1. One of type 2 cannot be bound to
 * nothing: the request completes with {@link WorkCompletionStatus#MEMORY_WINDOW_BIND_ERROR} (IBTA o10-37.2.40), and what
 * ends its binding is an invalidation ({@link SendWorkRequest#localInvalidate}), also by the peer's SEND.
 *
 * @param region the region underneath; it needs {@link AccessFlag#MW_BIND} ({@index mr of struct ibv_mw_bind_info})
 * @param address the first byte, as {@link MemoryRegion#address()} counts ({@index addr of struct ibv_mw_bind_info})
 * @param length the bytes ({@index length of struct ibv_mw_bind_info})
 * @param access what the peer may do ({@index mw_access_flags of struct ibv_mw_bind_info})
 * @since 0.1.0
 */
public record MemoryWindowBind(MemoryRegion region, long address, long length,
        Set<AccessFlag> access) {
    /** Keeps a copy of the set. */
    public MemoryWindowBind {
        access = Set.copyOf(access);
    }

    /** {@return what is covered and allowed, such as {@code 0x7f3500001000+64 [REMOTE_WRITE] of rkey 0xcafef00d}} */
    @Override
    public String toString() {
        return String.format(Locale.ROOT, "0x%x+%d %s of rkey 0x%08x", address, length, access,
                region.rkey());
    }
}
