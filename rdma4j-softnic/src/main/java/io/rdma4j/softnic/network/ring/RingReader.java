package io.rdma4j.softnic.network.ring;

import io.rdma4j.softnic.network.SharedMemory;
import io.rdma4j.softnic.network.SharedPacket;
import io.rdma4j.verbs.Gid;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicLong;

import static io.rdma4j.softnic.network.ring.RingLayout.CAPACITY;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

/** Reads what another process writes into a ring. For one thread at a time, but for {@link #isEmpty}. */
final class RingReader {
    private static final int MASK = CAPACITY - 1;
    /** The writer is told that often how much room there is. */
    private static final int SHARE = CAPACITY / 8;
    /** Less than what is in a ring that a writer waits for. */
    private static final int MUCH = CAPACITY / 2;

    private final MemorySegment header;
    private final MemorySegment records;
    /** Bytes since ever. Never read from the shared memory, where others could change it. */
    private long position;
    /** What the writer was told; a thread that goes to sleep looks from there, in another thread. */
    private final AtomicLong toldPosition = new AtomicLong();
    /** Where it was last asked whether the writer waits for room. */
    private long askedPosition;
    private Gid source = Gid.ZERO;
    private Gid local = Gid.ZERO;
    private boolean hasAddresses;
    private boolean isBroken;

    RingReader(MemorySegment header, MemorySegment records) {
        this.header = header;
        this.records = records;
    }

    /** {@return whether nothing is there to be read} For any thread. */
    boolean isEmpty() {
        return RingLayout.getLong(records, toldPosition.get() & MASK) == 0;
    }

    /** {@return whether it has found what makes no sense, and reads no more} */
    boolean isBroken() {
        return isBroken;
    }

    /** {@return whether nothing is there that will be read} */
    boolean hasNothing() {
        return isBroken || isEmpty();
    }

    /** Gives its memory back to the system. */
    void release(MailboxSystem system) {
        system.release(records);
    }

    /**
     * Reads packets.
     *
     * @param packet to be filled
     * @param budget the most records to look at
     * @return how many packets
     */
    int read(SharedMemory.Handler handler, SharedPacket packet, int budget) {
        int count = 0;
        long word = isBroken ? 0 : wordAt(position);
        for (int left = budget; left > 0 && word != 0; left--) {
            int index = (int) position & MASK;
            int length = RecordCheck.length(word, index);
            if (length < 0) {
                fail(handler);
                break;
            }
            // Asked for now, the next record comes from the writer's cache while this one is carried out.
            long next = wordAt(position + length);
            if (RingLayout.kind(word) != RingLayout.SKIP) {
                if (!take(word, index, packet)) {
                    fail(handler);
                    break;
                }
                handler.onPacket(packet);
                count++;
            }
            position += length;
            if (position - toldPosition.getPlain() >= SHARE) {
                tell();
            }
            word = next == 0 ? wordAt(position) : next;
        }
        if (position != toldPosition.getPlain()) {
            tell();
        }
        return count;
    }

    private long wordAt(long at) {
        return RingLayout.getLong(records, at & MASK);
    }

    private boolean take(long word, int index, SharedPacket packet) {
        int kind = RingLayout.kind(word);
        int headerLength = RingLayout.headerLength(word);
        int payloadLength = RingLayout.payloadLength(word);
        if (kind == RingLayout.PACKET_WITH_ADDRESSES) {
            source = gid(index + RingLayout.WORD_LENGTH, source);
            local = gid(index + RingLayout.WORD_LENGTH + 16, local);
            hasAddresses = true;
        } else if (!hasAddresses) {
            return false;
        }
        packet.travelled(source, local);
        copyHeader(index + RingLayout.headerAt(kind), headerLength, packet.header());
        packet.fill(headerLength, records,
                index + (long) RingLayout.payloadAt(kind, headerLength, payloadLength),
                payloadLength, RingLayout.span(word));
        return true;
    }

    /** @param likely the one that it mostly is */
    private Gid gid(int at, Gid likely) {
        long high = records.get(JAVA_LONG, at);
        long low = records.get(JAVA_LONG, at + 8L);
        return high == likely.high() && low == likely.low() ? likely : new Gid(high, low);
    }

    private void copyHeader(int at, int length, MemorySegment to) {
        int copied = 0;
        for (; copied + 8 <= length; copied += 8) {
            to.set(JAVA_LONG_UNALIGNED, copied,
                    records.get(JAVA_LONG_UNALIGNED, (long) at + copied));
        }
        if (copied < length) {
            to.set(JAVA_INT, copied, records.get(JAVA_INT, (long) at + copied));
        }
    }

    private void fail(SharedMemory.Handler handler) {
        isBroken = true;
        RingLayout.setInt(header, RingLayout.BROKEN, 1);
        handler.onNonsense();
    }

    /** Tells the writer how much room it has. */
    private void tell() {
        toldPosition.setRelease(position);
        RingLayout.setLong(header, RingLayout.HEAD, position);
    }

    /** {@return whether the writer is to be woken, for it sleeps until there is room} To be asked after each {@link #read}. */
    boolean takeWanted() {
        // A thread that waits does so in front of a ring that is nearly full.
        if (position - askedPosition < MUCH) {
            return false;
        }
        askedPosition = position;
        // The writer says that it waits, and looks again; this one has told it how far it is, and looks.
        VarHandle.fullFence();
        return RingLayout.getInt(header, RingLayout.WANTS_ROOM) != 0
                && RingLayout.exchangeInt(header, RingLayout.WANTS_ROOM, 1, 0);
    }

    /** {@return the process that writes here, as it says} */
    long process() {
        return header.get(JAVA_LONG, RingLayout.OWNER_PROCESS);
    }

    /** {@return the file descriptor, in that process, by which it is woken} */
    int wakeDescriptor() {
        return header.get(JAVA_INT, RingLayout.OWNER_WAKE);
    }

    /** {@return what tells the file of that descriptor from others} */
    long wakeInode() {
        return header.get(JAVA_LONG, RingLayout.OWNER_WAKE_INODE);
    }

    /** {@return whose ring it is} */
    long owner() {
        return RingLayout.getLong(header, RingLayout.OWNER);
    }

    /** {@return the prefix of the one whose ring it is, or who takes it} */
    int ownerPrefix(long owner) {
        return RingLayout.prefix(header, owner);
    }

    /** Its writer has gone, and all is read: gives the memory back, unless another one has taken the ring meanwhile. */
    void reclaim(long gone, MailboxSystem system) {
        if (RingLayout.exchangeLong(header, RingLayout.OWNER, gone,
                RingLayout.changing(RingLayout.READER))) {
            // Another one may have come, and gone, since it was seen to be empty.
            if (hasNothing()) {
                RingLayout.setInt(header, RingLayout.ACTIVE, RingLayout.AT_REST);
                release(system);
            }
            RingLayout.setLong(header, RingLayout.OWNER, 0);
        }
    }
}
