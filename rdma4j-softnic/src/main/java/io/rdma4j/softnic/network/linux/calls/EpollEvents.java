// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.calls;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

import static java.lang.foreign.ValueLayout.JAVA_INT;

/**
 * An array of {@code struct epoll_event}, and access to its contents. Source: epoll_ctl(2), epoll_wait(2).
 */
public final class EpollEvents {
    /** Something can be read. */
    public static final int EPOLLIN = 1;
    /** Something can be written. */
    public static final int EPOLLOUT = 4;
    /** An error. Always reported. */
    public static final int EPOLLERR = 8;
    /** Both directions have ended. Always reported. */
    public static final int EPOLLHUP = 0x10;
    /** The other side has ended its writing. */
    public static final int EPOLLRDHUP = 0x2000;
    /** Of several sets that wait for the same, not all are told: one is that some thread waits for. */
    public static final int EPOLLEXCLUSIVE = 1 << 28;
    /** Edge triggered: reported once for each change, not as long as the state lasts. */
    public static final int EPOLLET = 1 << 31;

    /** The maximum number of one call. */
    public static final int MOST = 64;

    /** It is packed on x86-64 alone. */
    private static final boolean IS_PACKED = switch (System.getProperty("os.arch", "")) {
        case "amd64", "x86_64" -> true;
        default -> false;
    };
    private static final int KEY_AT = IS_PACKED ? 4 : 8;
    private static final int LENGTH = KEY_AT + 8;
    private static final ValueLayout.OfLong KEY = ValueLayout.JAVA_LONG_UNALIGNED;
    private static final ValueLayout.OfInt BITS = ValueLayout.JAVA_INT_UNALIGNED;

    private final MemorySegment memory;
    /** How many were written. */
    public int count;

    public EpollEvents(Arena arena) {
        memory = arena.allocate((long) MOST * LENGTH, 8);
    }

    /** {@return an event to watch for} */
    public static MemorySegment one(Arena arena, int bits, long key) {
        MemorySegment event = arena.allocate(LENGTH, 8);
        event.set(JAVA_INT, 0, bits);
        event.set(KEY, KEY_AT, key);
        return event;
    }

    /** {@return the address of the memory that the kernel writes to} */
    public long address() {
        return memory.address();
    }

    /** {@return the event bits} */
    public int bits(int index) {
        return memory.get(BITS, (long) index * LENGTH);
    }

    /** {@return the key that was passed to {@link SocketPoller#watch(int, int, long)}} */
    public long key(int index) {
        return memory.get(KEY, (long) index * LENGTH + KEY_AT);
    }
}
