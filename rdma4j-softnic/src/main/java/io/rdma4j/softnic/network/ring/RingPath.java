// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.ring;

import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.work.Registration;
import io.rdma4j.softnic.network.MemoryPath;
import io.rdma4j.softnic.network.PacketPort;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.IntPredicate;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

/**
 * The path to a mailbox of another process: a ring in it that only this device writes to.
 *
 * <p>A slow reader makes its writers wait. If it does not read for {@link #PATIENCE_NS}, the writer checks whether it is alive.
 * Until it reads again, writers that may lose packets drop them, as with a full socket.
 */
public final class RingPath implements MemoryPath {
    /** How long a reader may stop reading before it is checked. */
    static final long PATIENCE_NS = 100_000_000;
    /** The idle time after which the memory is given back. */
    static final long REST_NS = 1_000_000_000;
    /** From this length on, the copy takes longer than the check whether the reader sleeps. */
    private static final int LONG_PAYLOAD = 8192;
    /** As {@link #bestCopiedPayload}: measured, in docs/evidence/performance. */
    private static final int BEST_COPIED = 1 << 15;
    private static final long LONGEST_REST_NS = 60_000_000_000L;

    /**
     * The writer, as described in the ring's header.
     *
     * @param nonce the nonce of its own mailbox
     * @param prefix the prefix of its queue pair numbers
     * @param process the process ID
     * @param wakeDescriptor the file descriptor, in that process, of its wake-up pipe
     * @param wakeInode the inode of that pipe
     */
    public record Owner(long nonce, int prefix, long process, int wakeDescriptor, long wakeInode) {}

    private final MemorySegment mailbox;
    private final MemorySegment header;
    private final MemorySegment records;
    private final RingWriter writer;
    private final PeerProcess peer;
    /** Whether a thread of this process sleeps, or is about to. */
    private final BooleanSupplier isAsleep;
    /** The paths with packets whose readers were not checked for sleep since. */
    private final List<RingPath> unannounced;
    private boolean isClosed;
    private long lastHead;
    /** When the reader was seen to have read something, or was first waited for. */
    private long lastProgressNs;
    /** Read by the thread that goes to sleep. */
    private volatile boolean isFull;
    private boolean isStandingStill;
    private boolean isUnannounced;
    private boolean isResting;
    private long lastSentNs;
    private long restNs = REST_NS;

    private RingPath(MemorySegment mailbox, MemorySegment header, MemorySegment records,
            Owner owner, BooleanSupplier isAsleep, PeerProcess peer, List<RingPath> unannounced,
            long nowNs) {
        this.mailbox = mailbox;
        this.unannounced = unannounced;
        this.isAsleep = isAsleep;
        this.header = header;
        this.records = records;
        this.peer = peer;
        writer = new RingWriter(header, records);
        lastProgressNs = nowNs;
        lastSentNs = nowNs;
        isResting = true;
        header.set(JAVA_LONG, RingLayout.OWNER_PROCESS, owner.process());
        header.set(JAVA_INT, RingLayout.OWNER_WAKE, owner.wakeDescriptor());
        header.set(JAVA_LONG, RingLayout.OWNER_WAKE_INODE, owner.wakeInode());
        header.set(JAVA_INT, RingLayout.OWNER_PREFIX, owner.prefix());
        RingLayout.setInt(header, RingLayout.WANTS_ROOM, 0);
        RingLayout.setInt(header, RingLayout.CANNOT_BORROW, 0);
        RingLayout.setLong(header, RingLayout.OWNER, owner.nonce());
    }

    /**
     * Claims a ring of a mailbox.
     *
     * @param mailbox at least its first {@link Mailbox#headLength} bytes; {@link PeerProcess} maps the rest
     * @param own the writer's mailbox, in which a thread announces that it goes to sleep
     * @param unannounced gets the path when a packet was sent and its reader has to be checked for sleep
     * @param isDead whether the process of a prefix has ended; used if all rings are taken
     * @return the path, null if there is no free ring
     */
    public static @Nullable RingPath claim(MemorySegment mailbox, Owner owner, Mailbox own,
            PeerProcess peer, List<RingPath> unannounced, IntPredicate isDead, long nowNs) {
        return claim(mailbox, owner, own::isAsleep, peer, unannounced, isDead, nowNs);
    }

    static @Nullable RingPath claim(MemorySegment mailbox, Owner owner, BooleanSupplier isAsleep,
            PeerProcess peer, List<RingPath> unannounced, IntPredicate isDead, long nowNs) {
        RingPath free = claimOne(mailbox, owner, isAsleep, peer, unannounced, _ -> false, nowNs);
        return free != null
                ? free
                : claimOne(mailbox, owner, isAsleep, peer, unannounced,
                        prefix -> prefix != RingLayout.READER && isDead.test(prefix), nowNs);
    }

    private static @Nullable RingPath claimOne(MemorySegment mailbox, Owner owner,
            BooleanSupplier isAsleep, PeerProcess peer, List<RingPath> unannounced,
            IntPredicate mayBeTakenFrom, long nowNs) {
        for (int ring = 0; ring < RingLayout.rings(mailbox); ring++) {
            MemorySegment header = RingLayout.header(mailbox, ring);
            long before = RingLayout.getLong(header, RingLayout.OWNER);
            boolean isFree = before == 0
                    || mayBeTakenFrom.test(RingLayout.prefix(header, before));
            if (isFree && RingLayout.getInt(header, RingLayout.BROKEN) == 0
                    && RingLayout.exchangeLong(header, RingLayout.OWNER, before,
                            RingLayout.changing(owner.prefix()))) {
                MemorySegment records = peer.map(RingLayout.recordsAt(ring), RingLayout.CAPACITY);
                if (records == null) {
                    RingLayout.setLong(header, RingLayout.OWNER, before);
                    return null;
                }
                try {
                    return new RingPath(mailbox, header, records, owner, isAsleep, peer,
                            unannounced,
                            nowNs);
                } catch (IllegalStateException noSense) {
                    RingLayout.setLong(header, RingLayout.OWNER, before);
                }
            }
        }
        return null;
    }

    /** From now on payloads in the pages of a device are lent. */
    public void lendFrom(Lender lender) {
        writer.lendFrom(lender);
    }

    /** Withdraws what was lent by a registration that has ended. */
    public void withdraw(Registration ended) {
        if (!isClosed) {
            writer.loans().withdraw(ended);
        }
    }

    /** Withdraws what was lent of a part of the pages. */
    public void withdraw(long place, long byteSize) {
        if (!isClosed) {
            writer.loans().withdraw(place, byteSize);
        }
    }

    /** Withdraws what was lent in requests to a queue pair. */
    public void withdrawRequests(int queuePair) {
        if (!isClosed) {
            writer.loans().withdrawRequests(queuePair);
        }
    }

    @Override
    public boolean isOpen() {
        return !isClosed;
    }

    @Override
    public int maxPayload() {
        return RingLayout.MAX_PAYLOAD;
    }

    @Override
    public int bestCopiedPayload() {
        return BEST_COPIED;
    }

    @Override
    public boolean hasRoom(long nowNs) {
        if (isClosed) {
            return true;
        }
        if (writer.hasRoom()) {
            if (isFull) {
                isFull = false;
            }
            isStandingStill = false;
            return true;
        }
        if (isFull) {
            lookAfterReader(nowNs);
            return isClosed;
        }
        lastHead = writer.head();
        lastProgressNs = nowNs;
        return waitForRoom();
    }

    @Override
    public boolean isStandingStill() {
        return isStandingStill;
    }

    @Override
    public boolean isReaderAlive() {
        return !isClosed && peer.isAlive();
    }

    /** {@return whether there is room after all} */
    private boolean waitForRoom() {
        isFull = true;
        // A thread that goes to sleep first announces it and then checks for full rings.
        VarHandle.fullFence();
        if (!isAsleep.getAsBoolean() || !announceWait()) {
            return false;
        }
        isFull = false;
        return true;
    }

    /** Asks the reader to wake a thread of this process. {@return whether there is room now, so that it may not do so} */
    private boolean announceWait() {
        RingLayout.setInt(header, RingLayout.WANTS_ROOM, 1);
        // The reader publishes its position and then checks whether the writer waits.
        VarHandle.fullFence();
        return writer.hasRoomNow();
    }

    /** It has been full before. */
    private void lookAfterReader(long nowNs) {
        if (writer.head() != lastHead) {
            lastHead = writer.head();
            lastProgressNs = nowNs;
            isStandingStill = false;
        } else if (nowNs - lastProgressNs > PATIENCE_NS) {
            lastProgressNs = nowNs;
            isStandingStill = true;
            if (writer.isBroken() || !peer.isAlive()) {
                close();
            }
        }
    }

    @Override
    public PacketPort.Sent send(OutgoingPacket packet, long nowNs) {
        if (isClosed) {
            return PacketPort.Sent.REFUSED;
        }
        lastSentNs = nowNs;
        if (isResting) {
            wakeUp();
        }
        return switch (writer.write(packet)) {
            case WRITTEN -> {
                written(packet);
                yield PacketPort.Sent.SENT;
            }
            case LENT -> {
                written(packet);
                yield PacketPort.Sent.LENT;
            }
            case PAYLOAD_GONE -> PacketPort.Sent.PAYLOAD_GONE;
            case FULL -> PacketPort.Sent.REFUSED;
        };
    }

    private void written(OutgoingPacket packet) {
        if (!isUnannounced) {
            isUnannounced = true;
            unannounced.add(this);
        }
        if (packet.payloadLength() >= LONG_PAYLOAD) {
            // The reader copies it while the next one is written.
            VarHandle.fullFence();
            wakeReader();
        }
    }

    /** Wakes the reader if it sleeps. Must follow a fence after everything that was sent. */
    public void announce() {
        isUnannounced = false;
        wakeReader();
    }

    private void wakeReader() {
        int sleep = isClosed ? 0 : RingLayout.getInt(mailbox, RingLayout.ASLEEP_AT);
        if (sleep == 0) {
            return;
        }
        if (!peer.wake()) {
            close();
            return;
        }
        // Cleared only after the wake-up: if this process dies in between, others wake the reader once more. In the
        // other order, no process would wake it.
        boolean _ = RingLayout.exchangeInt(mailbox, RingLayout.ASLEEP_AT, sleep, 0);
    }

    // ---------------------------------------------------------------- waiting for room

    /**
     * Called by a thread that has announced that it goes to sleep. For any thread.
     *
     * @return false if it must not sleep, because there is now the room that the writer waits for
     */
    public boolean sleeps() {
        if (!isFull || !announceWait()) {
            return true;
        }
        // The thread runs a round now. What still waits for room is seen there, and if the ring is full again the writer waits
        // anew; if nothing waits any more, no other thread would end the waiting, and none could ever sleep.
        isFull = false;
        return false;
    }

    // ---------------------------------------------------------------- resting

    /** {@return when {@link #restIfDue} is to be called, {@link Long#MAX_VALUE} for never} */
    public long restDueNs() {
        return isResting || isClosed ? Long.MAX_VALUE : lastSentNs + restNs;
    }

    /** Gives the memory back after an idle time. */
    public void restIfDue(long nowNs) {
        if (nowNs < restDueNs()) {
            return;
        }
        if (writer.isBroken()) {
            close();
            return;
        }
        if (!writer.isEmpty()) {
            // Its reader stands still: ever more rarely.
            lastSentNs = nowNs;
            restNs = Math.min(2 * restNs, LONGEST_REST_NS);
            return;
        }
        restNs = REST_NS;
        isResting = true;
        giveBack();
    }

    private void giveBack() {
        RingLayout.setInt(header, RingLayout.ACTIVE, RingLayout.EMPTIED);
        // From now on the reader does not read the ring, which would allocate a page again.
        RingLayout.increment(mailbox, RingLayout.CHANGES_AT);
        peer.release(records);
        RingLayout.setInt(header, RingLayout.ACTIVE, RingLayout.AT_REST);
    }

    private void wakeUp() {
        isResting = false;
        restNs = REST_NS;
        RingLayout.setInt(header, RingLayout.ACTIVE, RingLayout.IN_USE);
        RingLayout.increment(mailbox, RingLayout.CHANGES_AT);
    }

    /** Releases the ring; the reader still reads its contents. Idempotent. */
    public void close() {
        if (!isClosed) {
            isClosed = true;
            isFull = false;
            writer.loans().withdrawAll();
            // The rest will be read when there is no writer left to wake.
            RingLayout.setInt(header, RingLayout.WANTS_ROOM, 0);
            if (writer.isEmpty() || writer.isBroken()) {
                giveBack();
            }
            RingLayout.setLong(header, RingLayout.OWNER, 0);
            RingLayout.increment(mailbox, RingLayout.CHANGES_AT);
            peer.close();
        }
    }
}
