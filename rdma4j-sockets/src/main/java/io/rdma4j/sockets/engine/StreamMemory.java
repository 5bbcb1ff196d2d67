// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.engine;

import io.rdma4j.sockets.protocol.ConnectionData;
import io.rdma4j.sockets.protocol.Mapping;
import io.rdma4j.sockets.protocol.Message;
import io.rdma4j.sockets.protocol.RemoteRange;
import io.rdma4j.sockets.protocol.StreamSettings;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Objects;

/**
 * The memory of a connection, in two regions: what the peer writes (the receive buffer, then the slots, then the mappings),
 * and what is this side's own (the send buffer, then the words of messages that come as SENDs). A buffer that grows is replaced by
 * a region of its own, whose pages another process of this machine may be lent.
 */
final class StreamMemory {
    private static final System.Logger LOG = System.getLogger(StreamMemory.class.getName());
    /** Of a cache line. Whole pages, as {@code allocateRegion} has them, would be 8 KiB more for each connection. */
    private static final int ALIGNMENT = 64;

    private final ProtectionDomain domain;
    private final StreamSettings settings;
    private final LargerBuffers budget;
    private final Arena arena = Arena.ofShared();
    private final MemoryRegion remote;
    private final MemoryRegion own;
    private final ByteBuffer remoteBytes;
    private final RangeSlots ranges;
    /** Where the slots begin, and the mappings. */
    private final int slotsOffset;
    private final int mappingsOffset;
    private final ByteBuffer ownBytes;
    private @Nullable StreamBuffer largerInput;
    private @Nullable StreamBuffer largerOutput;

    StreamMemory(ProtectionDomain domain, StreamSettings settings, LargerBuffers budget)
            throws RdmaException {
        this.domain = domain;
        this.settings = settings;
        this.budget = budget;
        int words = settings.hasImmediates() ? 0 : settings.receives() * Message.BYTES;
        slotsOffset = Math.ceilDiv(settings.receiveBytes(), RangeSlots.ALIGNMENT)
                * RangeSlots.ALIGNMENT;
        mappingsOffset = slotsOffset + RangeSlots.BYTES;
        long remoteLength = mappingsOffset + (long) settings.mappings() * Mapping.BYTES;
        long ownLength = (long) settings.sendBytes() + words;
        MemoryRegion first = null;
        try {
            MemorySegment forPeer = allocate(remoteLength);
            MemorySegment forThisSide = allocate(ownLength);
            first = domain.register(forPeer, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
            remote = first;
            own = domain.register(forThisSide, AccessFlag.LOCAL_WRITE);
            remoteBytes = forPeer.asByteBuffer().order(ByteOrder.nativeOrder());
            ranges = new RangeSlots(remoteBytes, slotsOffset);
            ownBytes = forThisSide.asByteBuffer();
        } catch (RdmaException | RuntimeException e) {
            if (first != null) {
                first.close();
            }
            arena.close();
            throw e;
        }
    }

    private MemorySegment allocate(long byteSize) throws RdmaException {
        try {
            return arena.allocate(byteSize, ALIGNMENT);
        } catch (OutOfMemoryError tooMuch) {
            throw new RdmaException(Errno.ENOMEM, "allocate buffers",
                    "the system has no " + byteSize + " bytes of native memory", tooMuch);
        }
    }

    void close() throws RdmaException {
        for (StreamBuffer each : new StreamBuffer[]{largerInput, largerOutput}) {
            if (each != null) {
                each.region().close();
                budget.giveBack(each.length());
            }
        }
        remote.close();
        own.close();
        arena.close();
    }

    // ---------------------------------------------------------------- for the peer

    RemoteRange receiveBuffer() {
        return new RemoteRange(remote.address(), remote.rkey(), settings.receiveBytes());
    }

    RemoteRange slots() {
        return new RemoteRange(remote.address() + slotsOffset, remote.rkey(),
                ConnectionData.SLOTS);
    }

    /** {@return what the peer has written to a slot, which is cleared} */
    RemoteRange takeSlot(int index) {
        return ranges.take(index);
    }

    /** {@return what the peer has written, of which there is room for the index} */
    Mapping mapping(int index) {
        int at = mappingsOffset + index * Mapping.BYTES;
        return new Mapping(remoteBytes.getLong(at),
                RangeSlots.range(remoteBytes, at + Long.BYTES));
    }

    // ---------------------------------------------------------------- larger buffers

    /** {@return another receive buffer for the peer, null if there is no memory for one} */
    @Nullable
    RemoteRange enlargeInput() {
        StreamBuffer made = larger(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
        largerInput = made;
        return made == null
                ? null
                : new RemoteRange(made.region().address(), made.region().rkey(), made.length());
    }

    /** {@return the size of another send buffer, 0 if there is no memory for one} */
    int enlargeOutput() {
        StreamBuffer made = larger(AccessFlag.LOCAL_WRITE);
        largerOutput = made;
        return made == null ? 0 : made.length();
    }

    private @Nullable StreamBuffer larger(AccessFlag... access) {
        int bytes = BufferSize.LARGER;
        if (!budget.take(bytes)) {
            return null;
        }
        try {
            return StreamBuffer.of(domain.allocateRegion(bytes, access), bytes);
        } catch (RdmaException e) {
            // The stream goes on as before.
            LOG.log(System.Logger.Level.DEBUG, "a buffer does not grow", e);
            budget.giveBack(bytes);
            return null;
        }
    }

    // ---------------------------------------------------------------- of this side

    /** {@return the region of the words of receives} */
    MemoryRegion wordRegion() {
        return own;
    }

    /** {@return the region of the send buffer} */
    MemoryRegion sendRegion(boolean isLarger) {
        return isLarger ? Objects.requireNonNull(largerOutput).region() : own;
    }

    /** {@return the size of the send buffer} */
    int sendBytes(boolean isLarger) {
        return isLarger ? Objects.requireNonNull(largerOutput).length() : settings.sendBytes();
    }

    /** {@return where the word of a receive comes to lie} */
    long wordOffset(int receive) {
        return (long) settings.sendBytes() + (long) receive * Message.BYTES;
    }

    int word(int receive, ByteOrder order) {
        int value = ownBytes.getInt((int) wordOffset(receive));
        return order == ByteOrder.BIG_ENDIAN ? value : Integer.reverseBytes(value);
    }

    // ---------------------------------------------------------------- copies

    /** Copies bytes of the application to the send buffer. Its buffers do not move on: see {@link #advance}. */
    void put(boolean isLarger, int offset, int count, ByteBuffer[] from, int first) {
        ByteBuffer to = isLarger ? Objects.requireNonNull(largerOutput).bytes() : ownBytes;
        int run = Math.min(count, sendBytes(isLarger) - offset);
        gather(to, offset, 0, run, from, first);
        if (run < count) {
            gather(to, 0, run, count - run, from, first);
        }
    }

    /** Copies bytes from buffers, behind the first {@code skip} that they have. */
    static void gather(ByteBuffer to, int offset, int skip, int count, ByteBuffer[] from,
            int first) {
        int at = offset;
        int skipped = skip;
        int left = count;
        for (int i = first; left > 0; i++) {
            ByteBuffer each = from[i];
            int passed = Math.min(skipped, each.remaining());
            int run = Math.min(left, each.remaining() - passed);
            to.put(at, each, each.position() + passed, run);
            skipped -= passed;
            at += run;
            left -= run;
        }
    }

    /** Moves buffers on whose bytes were sent. {@return the first that has more} */
    static int advance(ByteBuffer[] buffers, int first, long count) {
        long left = count;
        int i = first;
        while (left > 0) {
            int run = (int) Math.min(left, buffers[i].remaining());
            buffers[i].position(buffers[i].position() + run);
            left -= run;
            i += left > 0 ? 1 : 0;
        }
        return i;
    }

    /** Copies bytes of the receive buffer to the application's buffers, which move on. */
    void get(boolean isLarger, int offset, int count, ByteBuffer[] to, int first) {
        ByteBuffer from = isLarger ? Objects.requireNonNull(largerInput).bytes() : remoteBytes;
        int at = offset;
        int left = count;
        for (int i = first; left > 0; i++) {
            ByteBuffer each = to[i];
            int run = Math.min(left, each.remaining());
            each.put(each.position(), from, at, run);
            each.position(each.position() + run);
            at += run;
            left -= run;
        }
    }
}
