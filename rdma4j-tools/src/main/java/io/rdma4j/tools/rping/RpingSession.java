// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.rping;

import io.rdma4j.cm.CmId;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.tools.endpoint.OpenObjects;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.WorkCompletionOpcode;
import io.rdma4j.verbs.WorkCompletionStatus;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** One connection of rping with its buffers. One thread at a time. */
final class RpingSession implements AutoCloseable {
    /**
     * What is asked for on the command line.
     *
     * @param size bytes of a ping
     * @param count pings of the client, 0 for no end
     * @param isValidating whether the client compares what comes back
     * @param isVerbose whether pings are printed
     * @param isOwnQueuePair whether the program brings its queue pair up by itself
     * @param patience how long the peer may be silent
     */
    record Settings(int size, int count, boolean isValidating, boolean isVerbose,
            boolean isOwnQueuePair, Duration patience) {}

    private static final ValueLayout.OfLong U64 = ValueLayout.JAVA_LONG_UNALIGNED
            .withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt U32 = ValueLayout.JAVA_INT_UNALIGNED
            .withOrder(ByteOrder.BIG_ENDIAN);
    private static final int ADVERTISEMENT = 16;
    private static final int SEND_DEPTH = 16;
    private static final int RECEIVE_DEPTH = 2;

    private final Settings settings;
    private final RpingOutput out;
    private final int size;
    private final RpingQueuePair own;
    private final OpenObjects open = new OpenObjects();
    private final Arena arena = Arena.ofShared();
    private final MemorySegment sent = arena.allocate(ADVERTISEMENT);
    private final MemorySegment received = arena.allocate(ADVERTISEMENT);
    private final MemorySegment data;
    private final MemorySegment start;
    private final MemoryRegion sentRegion;
    private final MemoryRegion receivedRegion;
    private final MemoryRegion dataRegion;
    private final MemoryRegion startRegion;

    RpingSession(CmId id, Settings settings, RpingOutput out) throws RdmaException {
        this.settings = settings;
        this.out = out;
        size = settings.size();
        open.add(arena::close);
        try {
            data = arena.allocate(size);
            start = arena.allocate(size);
            sentRegion = registered(id.registerMessages(sent));
            receivedRegion = registered(id.registerMessages(received));
            ProtectionDomain domain = id.protectionDomain();
            dataRegion = registered(domain.register(data, AccessFlag.LOCAL_WRITE,
                    AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ));
            startRegion = registered(domain.register(start, AccessFlag.LOCAL_WRITE,
                    AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ));
            own = new RpingQueuePair(id, settings.isOwnQueuePair(), SEND_DEPTH, RECEIVE_DEPTH,
                    settings.patience());
            open.add(own::close);
            out.debug(String.format("created qp 0x%x", own.queuePair().number()));
            postReceive();
        } catch (RdmaException | RuntimeException e) {
            open.closeAfter(e);
            throw e;
        }
    }

    private MemoryRegion registered(MemoryRegion region) {
        open.add(region::close);
        return region;
    }

    private ConnectionParameters parameters() {
        return new ConnectionParameters().responderResources(1).initiatorDepth(1);
    }

    void accept() throws RdmaException {
        own.accept(parameters());
    }

    void connect() throws RdmaException {
        own.connect(parameters());
    }

    void leave() throws RdmaException {
        own.leave();
    }

    private void postReceive() throws RdmaException {
        own.postReceive(0, receivedRegion, 0, ADVERTISEMENT);
    }

    void ping() throws RdmaException {
        for (int round = 0; settings.count() == 0 || round < settings.count(); round++) {
            fill(round);
            advertise(startRegion);
            awaitMessage();
            advertise(dataRegion);
            awaitMessage();
            if (settings.isValidating() && start.mismatch(data) >= 0) {
                throw new RdmaException(Errno.EIO, "check data",
                        "data mismatch in round " + round + " at byte " + start.mismatch(data));
            }
            if (settings.isVerbose()) {
                out.print("ping data: " + text(data));
            }
        }
    }

    /** The text of a round: its number, then letters that start one further each time. */
    private void fill(int round) {
        byte[] head = ("rdma-ping-" + round + ": ").getBytes(StandardCharsets.US_ASCII);
        int letters = 'z' - 'A' + 1;
        for (int i = 0; i < size - 1; i++) {
            byte value = i < head.length
                    ? head[i]
                    : (byte) ('A' + (round + i - head.length) % letters);
            start.set(ValueLayout.JAVA_BYTE, i, value);
        }
        start.set(ValueLayout.JAVA_BYTE, size - 1, (byte) 0);
    }

    private void advertise(MemoryRegion region) throws RdmaException {
        postAdvertisement(region);
        expectSuccess(own.awaitSendCompletion());
    }

    private void postAdvertisement(MemoryRegion region) throws RdmaException {
        sent.set(U64, 0, region.address());
        sent.set(U32, 8, region.rkey());
        sent.set(U32, 12, size);
        out.debug(String.format("RDMA addr %x rkey %x len %d", region.address(), region.rkey(),
                size));
        own.postSend(1, sentRegion, 0, ADVERTISEMENT, SendFlag.SIGNALED);
    }

    private void awaitMessage() throws RdmaException {
        expectSuccess(own.awaitReceiveCompletion());
        postReceive();
    }

    void serve() throws RdmaException {
        while (true) {
            if (!awaitAdvertisement()) {
                return;
            }
            out.debug("server received sink adv");
            own.postRead(2, dataRegion, 0, advertisedLength(), received.get(U64, 0),
                    received.get(U32, 8), SendFlag.SIGNALED);
            expectSuccess(own.awaitSendCompletion());
            out.debug("server received read complete");
            if (settings.isVerbose()) {
                out.print("server ping data: " + text(data));
            }
            postReceive();
            advertise(dataRegion);
            if (!awaitAdvertisement()) {
                return;
            }
            out.debug("server received sink adv");
            own.postWrite(3, dataRegion, 0, advertisedLength(), received.get(U64, 0),
                    received.get(U32, 8), SendFlag.SIGNALED);
            expectSuccess(own.awaitSendCompletion());
            out.debug("server rdma write complete");
            postReceive();
            postAdvertisement(dataRegion);
            // The client may end as soon as it has this message; a lost acknowledgement is then not repeated.
            if (!isDelivered(own.awaitSendCompletion())) {
                return;
            }
        }
    }

    /** {@return false when the client has ended} */
    private boolean awaitAdvertisement() throws RdmaException {
        return isDelivered(own.awaitReceiveCompletion());
    }

    /** {@return false when the connection has ended before} */
    private static boolean isDelivered(WorkCompletion completion) throws RdmaException {
        if (completion.status() == WorkCompletionStatus.WORK_REQUEST_FLUSHED) {
            return false;
        }
        if (!completion.isSuccess()) {
            throw new RdmaException(Errno.EIO,
                    completion.opcode() == WorkCompletionOpcode.RECEIVE ? "receive" : "send",
                    completion.status() + ": " + completion.explanation());
        }
        return true;
    }

    private int advertisedLength() throws RdmaException {
        int length = received.get(U32, 12);
        if (length < 0 || length > size) {
            throw new RdmaException(Errno.EMSGSIZE, "read data", "the client's pings have "
                    + Integer.toUnsignedString(length) + " bytes; start this side with -S "
                    + length);
        }
        return length;
    }

    private void expectSuccess(WorkCompletion completion) throws RdmaException {
        if (!isDelivered(completion)) {
            own.requireDevice();
            throw new RdmaException(Errno.EIO, "exchange data", "the peer disconnected too early");
        }
    }

    private String text(MemorySegment memory) {
        int end = 0;
        while (end < size && memory.get(ValueLayout.JAVA_BYTE, end) != 0) {
            end++;
        }
        return StandardCharsets.US_ASCII
                .decode(memory.asSlice(0, end).asByteBuffer()).toString();
    }

    @Override
    public void close() throws RdmaException {
        open.close();
    }
}
