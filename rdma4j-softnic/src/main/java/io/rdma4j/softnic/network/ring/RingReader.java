// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.ring;

import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.PacketView;
import io.rdma4j.softnic.network.SharedMemory;
import io.rdma4j.verbs.Gid;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicLong;

import static io.rdma4j.softnic.network.ring.RingLayout.CAPACITY;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

/** Reads the packets that another process writes into a ring. For one thread at a time, except {@link #isEmpty}. */
final class RingReader {
    private static final int MASK = CAPACITY - 1;
    /** How many bytes are read before the position is published to the writer again. */
    private static final int SHARE = CAPACITY / 8;
    /** Less than the contents of a ring whose writer waits for room. */
    private static final int MUCH = CAPACITY / 2;

    private final MemorySegment header;
    private final MemorySegment records;
    /** The total number of bytes read. Never read from shared memory, where another process could change it. */
    private long position;
    /** The position last published to the writer; a thread that goes to sleep checks from there. */
    private final AtomicLong publishedPosition = new AtomicLong();
    /** The position of the last check whether the writer waits for room. */
    private long askedPosition;
    private Gid source = Gid.ZERO;
    private Gid local = Gid.ZERO;
    private boolean hasAddresses;
    private boolean isBroken;
    /** What was read early. */
    @SuppressWarnings("UnusedVariable") // A compiler leaves out what is read and not kept.
    private long fetched;
    /** Whether lent payloads were read since the last check whether the writer waits for room. */
    private boolean hasBorrowed;
    private final MailboxSystem system;
    /** The section that was read last, its owner and its number. */
    private LentSection section = LentSection.gone();
    private long sectionOwner;
    private long sectionNumber;
    /** Whose pages this process may not have, 0 for nobody's. */
    private long refusedOwner;

    RingReader(MemorySegment header, MemorySegment records, MailboxSystem system) {
        this.header = header;
        this.records = records;
        this.system = system;
    }

    /** {@return whether there is no record to read} For any thread. */
    boolean isEmpty() {
        return RingLayout.getLong(records, publishedPosition.get() & MASK) == 0;
    }

    /** {@return whether it has found invalid contents and reads no more} */
    boolean isBroken() {
        return isBroken;
    }

    /** {@return whether there is no record that will be read} */
    boolean hasNothing() {
        return isBroken || isEmpty();
    }

    /** Gives its memory back to the system. */
    void release() {
        system.release(records);
    }

    /**
     * Reads packets. So long that compilers do not inline it, on purpose: ADR 56.
     *
     * @param packet to be filled
     * @param budget the most records to look at
     * @return how many packets
     */
    int read(SharedMemory.Handler handler, PacketView packet, int budget) {
        int count = 0;
        long word = isBroken ? 0 : wordAt(position);
        for (int left = budget; left > 0 && word != 0; left--) {
            int index = (int) position & MASK;
            int length = RecordCheck.length(word, index);
            if (length < 0) {
                fail(handler);
                break;
            }
            // Read early, so that both are fetched from the writer's cache while this record is processed: the second line of it
            // and the next record.
            fetched = wordAt(position + RingLayout.ALIGNMENT);
            long next = wordAt(position + length);
            int kind = RingLayout.kind(word);
            if (kind == RingLayout.SKIP) {
                position += length;
            } else {
                if (kind == RingLayout.PACKET_WITH_ADDRESSES) {
                    source = gid(index + RingLayout.WORD_LENGTH, source);
                    local = gid(index + RingLayout.WORD_LENGTH + 16, local);
                    hasAddresses = true;
                } else if (!hasAddresses) {
                    fail(handler);
                    break;
                }
                // The headers are read here, once.
                boolean hasPiggyback = RingLayout.hasPiggyback(word);
                int headerAt = RingLayout.headerAt(kind, hasPiggyback);
                int headerLength = RingLayout.headerLength(word);
                int payloadLength = RingLayout.payloadLength(word);
                boolean isLent = RingLayout.isLent(word);
                boolean isPacket;
                if (isLent) {
                    isPacket = borrow(packet, index, index + headerAt, headerLength, word);
                } else {
                    int payloadAt = RingLayout.payloadAt(headerAt, headerLength, payloadLength);
                    isPacket = packet.wrap(records, index + (long) headerAt, headerLength,
                            records, index + (long) payloadAt, payloadLength,
                            RingLayout.span(word)) == null;
                }
                packet.travelled(source, local);
                if (isPacket && hasPiggyback) {
                    packet.piggyback(
                            records.get(JAVA_LONG, index + RingLayout.piggybackAt(headerAt)));
                }
                // Before the handler, which may throw: it does not get the packet again. The writer does not know it yet.
                position += length;
                if (isPacket) {
                    handler.onPacket(packet);
                } else {
                    handler.onMalformed(source);
                }
                count++;
                if (isLent) {
                    // The writer lends no more until it knows.
                    publish();
                }
            }
            if (position - publishedPosition.getPlain() >= SHARE) {
                publish();
            }
            word = next == 0 ? wordAt(position) : next;
        }
        if (position != publishedPosition.getPlain()) {
            publish();
        }
        return count;
    }

    /**
     * Reads a packet whose payload is lent.
     *
     * @param record the offset of the record
     * @param headerAt the offset of its headers
     * @return whether it is a packet
     */
    private boolean borrow(PacketView packet, int record, int headerAt, int headerLength,
            long word) {
        hasBorrowed = true;
        int payloadLength = RingLayout.payloadLength(word);
        int at = record + RingLayout.lentAt(headerAt - record, headerLength);
        // Each read once, for the writer may change them.
        long owner = records.get(JAVA_LONG, at);
        int descriptor = (int) records.get(JAVA_LONG, at + RingLayout.LENT_DESCRIPTOR);
        long place = records.get(JAVA_LONG, at + RingLayout.LENT_PLACE);
        if (!LentSection.isInOne(place, payloadLength)) {
            return false;
        }
        // What was withdrawn before is not even copied.
        LentSection from = RingLayout.getLong(records, at + RingLayout.LENT_WITHDRAWAL) == 0
                ? section(owner, descriptor, LentSection.number(place))
                : LentSection.gone();
        if (packet.wrap(records, headerAt, headerLength, from.use(), from.start(place),
                payloadLength, RingLayout.span(word)) != null || !canBeLent(packet.opcode())) {
            return false;
        }
        packet.lent(records, at + RingLayout.LENT_WITHDRAWAL);
        return true;
    }

    /** Other packets are handled without a look whether their payload was withdrawn. */
    private static boolean canBeLent(Opcode opcode) {
        return opcode.service() == Opcode.Service.RC && switch (opcode.kind()) {
            case SEND, WRITE, READ_RESPONSE -> true;
            case READ_REQUEST, COMPARE_SWAP, FETCH_ADD, FLUSH, ATOMIC_WRITE, ACKNOWLEDGE,
                    ATOMIC_ACKNOWLEDGE, CONGESTION_NOTIFICATION ->
                false;
        };
    }

    private LentSection section(long owner, int descriptor, long number) {
        if (owner != sectionOwner || number != sectionNumber || !section.isAlive()) {
            LentSection found = owner == refusedOwner
                    ? null
                    : system.lentSection(owner, descriptor, number);
            if (found == null) {
                refusedOwner = owner;
                RingLayout.setInt(header, RingLayout.CANNOT_BORROW, 1);
            }
            section = found == null ? LentSection.gone() : found;
            sectionOwner = owner;
            sectionNumber = number;
        }
        return section;
    }

    private long wordAt(long at) {
        return RingLayout.getLong(records, at & MASK);
    }

    /** @param likely the one that it mostly is */
    private Gid gid(int at, Gid likely) {
        long high = records.get(JAVA_LONG, at);
        long low = records.get(JAVA_LONG, at + 8L);
        return high == likely.high() && low == likely.low() ? likely : new Gid(high, low);
    }

    private void fail(SharedMemory.Handler handler) {
        isBroken = true;
        RingLayout.setInt(header, RingLayout.BROKEN, 1);
        handler.onNonsense();
    }

    /** Publishes the position to the writer. */
    private void publish() {
        publishedPosition.setRelease(position);
        RingLayout.setLong(header, RingLayout.HEAD, position);
    }

    /**
     * {@return whether the writer must be woken, because it sleeps until there is room} Must be called after each {@link
     * #read}.
     */
    boolean takeWanted() {
        // A thread that waits does so in front of a ring that is nearly full, or has lent as much as it may.
        if (position - askedPosition < MUCH && !hasBorrowed) {
            return false;
        }
        hasBorrowed = false;
        askedPosition = position;
        // The writer announces that it waits, then checks the position; the reader publishes its position, then checks
        // for waiting.
        VarHandle.fullFence();
        return RingLayout.getInt(header, RingLayout.WANTS_ROOM) != 0
                && RingLayout.exchangeInt(header, RingLayout.WANTS_ROOM, 1, 0);
    }

    /** {@return the process ID of the writer, as it wrote it} */
    long process() {
        return header.get(JAVA_LONG, RingLayout.OWNER_PROCESS);
    }

    /** {@return the file descriptor, in that process, by which it is woken} */
    int wakeDescriptor() {
        return header.get(JAVA_INT, RingLayout.OWNER_WAKE);
    }

    /** {@return the inode of the writer's wake-up pipe} */
    long wakeInode() {
        return header.get(JAVA_LONG, RingLayout.OWNER_WAKE_INODE);
    }

    /** {@return the owner of the ring} */
    long owner() {
        return RingLayout.getLong(header, RingLayout.OWNER);
    }

    /** {@return the prefix of the process that owns or claims the ring} */
    int ownerPrefix(long owner) {
        return RingLayout.prefix(header, owner);
    }

    /**
     * Frees the memory after the writer has ended and all was read, unless another writer has claimed the ring meanwhile.
     */
    void reclaim(long gone) {
        if (RingLayout.exchangeLong(header, RingLayout.OWNER, gone,
                RingLayout.changing(RingLayout.READER))) {
            // Another writer may have used the ring since it was seen to be empty.
            if (hasNothing()) {
                RingLayout.setInt(header, RingLayout.ACTIVE, RingLayout.AT_REST);
                release();
            }
            RingLayout.setLong(header, RingLayout.OWNER, 0);
        }
    }
}
