// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.memory;

import io.rdma4j.protocol.work.Registration;
import io.rdma4j.softnic.memory.LendableMemory;
import io.rdma4j.softnic.memory.Withdrawal;
import io.rdma4j.softnic.network.linux.calls.LinuxSocket;
import io.rdma4j.softnic.network.linux.calls.SharedPages;
import io.rdma4j.softnic.network.ring.Lender;
import io.rdma4j.softnic.network.ring.LentSection;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

/**
 * Pages of a device in which regions lie that it allocates itself: a file without a name, which grows, and which the processes
 * that borrow from it map to read. Each region is a stretch of it, mapped for itself, so that it ends as other regions do. For
 * any thread, but for {@link #ended} and what a {@link Lender} has.
 */
final class LendablePages implements LendableMemory, Lender, AutoCloseable {
    static final String NAME = "rdma4j-memory";
    /** What the first word of the pages is besides the nonce. */
    static final long MAGIC = 0x7264_6d61_346a_7031L; // "rdma4jp1"
    static final long NONCE_AT = 8;
    /** A multiple of every system's pages. */
    static final long STRETCH = 1L << 16;
    /** Less would not be lent. */
    private static final long SHORTEST = 1L << 13;
    private static final System.Logger LOG = System.getLogger(LendablePages.class.getName());

    /** A mapped stretch. */
    private record Mapped(long place, long length) {}

    private final ReentrantLock lock = new ReentrantLock();
    private final long nonce;
    private final Withdrawal withdrawal;
    /** Lengths by place. */
    private final TreeMap<Long, Long> free = new TreeMap<>();
    private final TreeMap<Long, Mapped> byAddress = new TreeMap<>();
    private @Nullable SharedPages pages;
    private volatile int descriptor = -1;
    /** Behind the last stretch that was ever used. */
    private long end = STRETCH;
    private long length;
    private boolean isRefused;

    /**
     * @param nonce of the device's mailbox
     * @param withdrawal withdraws what was lent
     */
    LendablePages(long nonce, Withdrawal withdrawal) {
        this.nonce = nonce;
        this.withdrawal = withdrawal;
    }

    @Override
    public long nonce() {
        return nonce;
    }

    @Override
    public int descriptor() {
        return descriptor;
    }

    @Override
    public void ended(Registration registration) {
        if (registration.sharedAt() >= 0) {
            withdrawal.ended(registration);
        }
    }

    @Override
    public void ends(long place, long byteSize) {
        if (place >= 0) {
            withdrawal.ends(place, byteSize);
        }
    }

    @Override
    public @Nullable MemorySegment allocate(long byteSize, Arena arena) {
        // More than there is would otherwise be taken page by page, until other programs have none.
        if (byteSize < SHORTEST || !SharedPages.wouldGive(byteSize)) {
            return null;
        }
        lock.lock();
        try {
            SharedPages from = open();
            return from == null ? null : allocate(from, byteSize, arena);
        } finally {
            lock.unlock();
        }
    }

    /** {@return the pages, null if there are none} */
    private @Nullable SharedPages open() {
        if (pages != null || isRefused) {
            return pages;
        }
        SharedPages made = null;
        try {
            made = SharedPages.createGrowing(NAME);
            made.grow(LentSection.LENGTH);
            made.fill(STRETCH);
            MemorySegment head = made.map(0, STRETCH);
            head.set(JAVA_LONG, 0, MAGIC);
            head.set(JAVA_LONG, NONCE_AT, nonce);
            length = LentSection.LENGTH;
            descriptor = made.descriptor();
            pages = made;
        } catch (LinuxSocket.Refused e) {
            isRefused = true;
            LOG.log(System.Logger.Level.DEBUG, () -> "no memory is lent: " + e.getMessage());
            if (made != null) {
                made.close();
            }
        }
        return pages;
    }

    private @Nullable MemorySegment allocate(SharedPages from, long byteSize, Arena arena) {
        long wanted = byteSize + STRETCH - 1 & -STRETCH;
        long place = take(wanted);
        try {
            if (end > length) {
                long next = end + LentSection.LENGTH - 1 & -LentSection.LENGTH;
                from.grow(next);
                length = next;
            }
            // Forgotten before it is unmapped: what is mapped there next is something else.
            MemorySegment memory = from.allocate(place, byteSize, arena,
                    pages -> forget(pages.address()), () -> giveBack(place, wanted));
            byAddress.put(memory.address(), new Mapped(place, byteSize));
            return memory;
        } catch (LinuxSocket.Refused e) {
            LOG.log(System.Logger.Level.DEBUG,
                    () -> "memory that cannot be lent is used: " + e.getMessage());
            add(place, wanted);
            return null;
        }
    }

    /** {@return the place of a free stretch} */
    private long take(long wanted) {
        for (Map.Entry<Long, Long> stretch : free.entrySet()) {
            if (stretch.getValue() >= wanted) {
                return takeOf(stretch.getKey(), stretch.getValue(), wanted);
            }
        }
        long place = end;
        end += wanted;
        return place;
    }

    private long takeOf(long place, long stretch, long wanted) {
        free.remove(place);
        if (stretch > wanted) {
            free.put(place + wanted, stretch - wanted);
        }
        return place;
    }

    private void forget(long address) {
        lock.lock();
        try {
            byAddress.remove(address);
        } finally {
            lock.unlock();
        }
    }

    private void giveBack(long place, long stretch) {
        lock.lock();
        try {
            add(place, stretch);
        } finally {
            lock.unlock();
        }
    }

    /** A stretch is free, and one with its neighbours. */
    private void add(long place, long stretch) {
        long from = place;
        long to = place + stretch;
        Map.Entry<Long, Long> before = free.lowerEntry(from);
        if (before != null && before.getKey() + before.getValue() == from) {
            from = before.getKey();
        }
        Long behind = free.remove(to);
        if (behind != null) {
            to += behind;
        }
        free.remove(from);
        if (to == end) {
            end = from;
        } else {
            free.put(from, to - from);
        }
    }

    @Override
    public long placeOf(MemorySegment memory) {
        if (!memory.isNative()) {
            return Registration.NOT_SHARED;
        }
        lock.lock();
        try {
            Map.Entry<Long, Mapped> found = byAddress.floorEntry(memory.address());
            if (found == null) {
                return Registration.NOT_SHARED;
            }
            long offset = memory.address() - found.getKey();
            Mapped mapped = found.getValue();
            return offset < mapped.length && memory.byteSize() <= mapped.length - offset
                    ? mapped.place + offset
                    : Registration.NOT_SHARED;
        } finally {
            lock.unlock();
        }
    }

    /** No more is lent. Regions keep their memory until they are closed. */
    @Override
    public void close() {
        lock.lock();
        try {
            isRefused = true;
            if (pages != null) {
                pages.close();
                pages = null;
            }
        } finally {
            lock.unlock();
        }
    }
}
