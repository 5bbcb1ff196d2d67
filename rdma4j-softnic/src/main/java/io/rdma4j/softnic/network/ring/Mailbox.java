// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.ring;

import io.rdma4j.protocol.roce.wire.PacketView;
import io.rdma4j.softnic.network.SharedMemory;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

/**
 * The packets of other devices to this one: a ring for each of them, in shared memory. For the owner of the engine, except
 * {@link #isQuiet}, {@link #beginSleep} and {@link #endSleep}.
 */
public final class Mailbox {
    /** The interval of checks for dead writers; a live writer gives back an idle ring's memory sooner. */
    static final long SWEEP_NS = 10_000_000_000L;
    private static final RingReader[] NONE = {};

    private final MemorySegment memory;
    private final MailboxSystem system;
    private final @Nullable RingReader[] rings;
    private final PacketView packet = new PacketView();
    /** The rings that may get packets; replaced, not changed, because a thread that goes to sleep reads the array. */
    private volatile RingReader[] active = NONE;
    /** The rings that hold memory, including those whose writers may die before they give it back. */
    private RingReader[] holding = NONE;
    private volatile int seenChanges;
    private int first;
    /** The number of sleeps so far; for the thread that goes to sleep. */
    private int sleeps;
    private long sweepDueNs = Long.MAX_VALUE;

    /**
     * @param memory {@link #length} bytes of zeros
     */
    public Mailbox(MemorySegment memory, long nonce, MailboxSystem system) {
        this.memory = memory;
        this.system = system;
        int ringCount = RingLayout.ringsOf(memory.byteSize());
        rings = new RingReader[ringCount];
        memory.set(JAVA_INT, RingLayout.VERSION_AT, RingLayout.VERSION);
        memory.set(JAVA_LONG, RingLayout.NONCE_AT, nonce);
        memory.set(JAVA_INT, RingLayout.RINGS_AT, ringCount);
        RingLayout.setLong(memory, RingLayout.MAGIC_AT, RingLayout.MAGIC);
    }

    /** {@return the bytes of a mailbox of so many rings, 256 at most; few of the bytes are ever used} */
    public static long length(int rings) {
        return RingLayout.mailboxLength(rings);
    }

    /** {@return the length in bytes of the part before the records, which writers have to map} */
    public static long headLength() {
        return RingLayout.RECORDS_AT;
    }

    /** {@return whether memory is the mailbox of a nonce} */
    public static boolean is(MemorySegment memory, long nonce) {
        return RingLayout.getLong(memory, RingLayout.MAGIC_AT) == RingLayout.MAGIC
                && memory.get(JAVA_INT, RingLayout.VERSION_AT) == RingLayout.VERSION
                && memory.get(JAVA_LONG, RingLayout.NONCE_AT) == nonce;
    }

    /** Receives packets. {@return how many} */
    public int receive(SharedMemory.Handler handler, int budget) {
        int changes = RingLayout.getInt(memory, RingLayout.CHANGES_AT);
        if (changes != seenChanges) {
            findActive();
            // Only now: a thread that goes to sleep and sees this number has to see the rings that belong to it.
            seenChanges = changes;
        }
        RingReader[] looked = active;
        if (looked.length == 0) {
            return 0;
        }
        // Not always the same one first.
        first = first + 1 < looked.length ? first + 1 : 0;
        int count = 0;
        for (int i = 0; i < looked.length && count < budget; i++) {
            int at = first + i;
            count += read(looked[at < looked.length ? at : at - looked.length], handler,
                    budget - count);
        }
        return count;
    }

    /** {@return whether {@link #receive} would find nothing} For any thread. */
    public boolean isQuiet() {
        return RingLayout.getInt(memory, RingLayout.CHANGES_AT) == seenChanges && isEmpty();
    }

    private int read(RingReader ring, SharedMemory.Handler handler, int budget) {
        int count = ring.read(handler, packet, budget);
        if (ring.isBroken()) {
            ring.release();
            findActive();
        }
        if (ring.takeWanted()) {
            system.wake(ring.process(), ring.wakeDescriptor(), ring.wakeInode());
        }
        return count;
    }

    /** {@return whether packets of a process are still to be received} */
    public boolean holdsPacketsOf(int prefix) {
        if (RingLayout.getInt(memory, RingLayout.CHANGES_AT) != seenChanges) {
            // Perhaps it has begun to write again.
            return true;
        }
        for (RingReader ring : active) {
            long owner = ring.owner();
            if (owner != 0 && ring.ownerPrefix(owner) == prefix && !ring.hasNothing()) {
                return true;
            }
        }
        return false;
    }

    private void findActive() {
        List<RingReader> activeNow = new ArrayList<>();
        List<RingReader> holdingNow = new ArrayList<>();
        for (int i = 0; i < rings.length; i++) {
            MemorySegment header = RingLayout.header(memory, i);
            int state = RingLayout.getInt(header, RingLayout.ACTIVE);
            if (state != RingLayout.AT_REST) {
                RingReader ring = ring(i, header);
                holdingNow.add(ring);
                if (state != RingLayout.EMPTIED && !ring.isBroken()) {
                    activeNow.add(ring);
                }
            }
        }
        active = activeNow.toArray(NONE);
        holding = holdingNow.toArray(NONE);
    }

    private RingReader ring(int i, MemorySegment header) {
        RingReader ring = rings[i];
        if (ring == null) {
            ring = new RingReader(header,
                    memory.asSlice(RingLayout.recordsAt(i), RingLayout.CAPACITY), system);
            rings[i] = ring;
        }
        return ring;
    }

    // ---------------------------------------------------------------- writers that have gone

    /** {@return when {@link #sweepIfDue} is to be called, {@link Long#MAX_VALUE} for never} */
    public long sweepDueNs(long nowNs) {
        if (holding.length == 0) {
            sweepDueNs = Long.MAX_VALUE;
        } else if (sweepDueNs == Long.MAX_VALUE) {
            sweepDueNs = nowNs + SWEEP_NS;
        }
        return sweepDueNs;
    }

    /** Frees the memory of rings whose writers have died, or closed before all was read. */
    public void sweepIfDue(long nowNs) {
        // Checked here too, because a thread that polls without a pause never asks for due times.
        if (nowNs < sweepDueNs(nowNs)) {
            return;
        }
        sweepDueNs = Long.MAX_VALUE;
        for (RingReader ring : holding) {
            long owner = ring.owner();
            if ((owner == 0 || system.isDead(ring.ownerPrefix(owner))) && ring.hasNothing()) {
                ring.reclaim(owner);
            }
        }
        findActive();
    }

    // ---------------------------------------------------------------- sleeping

    /**
     * Announces that writers have to wake this reader. For any thread, one at a time.
     *
     * @return whether all rings are empty, so that the reader may sleep
     */
    public boolean beginSleep() {
        // Each sleep has another number, so that a writer that is still ending the previous sleep does not end this
        // one.
        sleeps = sleeps == -1 ? 1 : sleeps + 1;
        RingLayout.setInt(memory, RingLayout.ASLEEP_AT, sleeps);
        // A writer writes, and then looks whether anybody sleeps.
        VarHandle.fullFence();
        if (isQuiet()) {
            return true;
        }
        endSleep();
        return false;
    }

    private boolean isEmpty() {
        for (RingReader ring : active) {
            if (!ring.isBroken() && !ring.isEmpty()) {
                return false;
            }
        }
        return true;
    }

    /** {@return whether a thread sleeps, or is about to} For any thread. */
    boolean isAsleep() {
        return RingLayout.getInt(memory, RingLayout.ASLEEP_AT) != 0;
    }

    /** The sleep is over. */
    public void endSleep() {
        RingLayout.setInt(memory, RingLayout.ASLEEP_AT, 0);
    }
}
