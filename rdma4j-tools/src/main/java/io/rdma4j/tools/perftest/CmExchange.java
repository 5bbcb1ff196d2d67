// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.perftest;

import io.rdma4j.cm.CmId;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.TransportType;
import io.rdma4j.verbs.WorkCompletion;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.time.Duration;

/** The conversation over a connection of the connection manager: what is passed at a time is a message. */
final class CmExchange extends Exchange {
    private static final int AREA_BYTES = 4096;
    private static final int RETRIES = 7;
    /** How long the peer may take to end the conversation. */
    private static final Duration PARTING = Duration.ofMillis(500);

    private final CmId id;
    private final Duration patience;
    private final Arena arena;
    /** Messages leave from its first half and arrive in the second. */
    private final MemorySegment memory;
    private final MemoryRegion region;
    private boolean isSending;
    /** Found by {@link #isPeerGone}: the end of the conversation, or a message. */
    private @Nullable WorkCompletion found;

    private CmExchange(CmId id, boolean isClient, Duration patience, Arena arena,
            MemorySegment memory, MemoryRegion region) {
        super(isClient);
        this.id = id;
        this.patience = patience;
        this.arena = arena;
        this.memory = memory;
        this.region = region;
    }

    /** Connects to a server. The id has found its way there, and is closed with the conversation, or if this fails. */
    static CmExchange connect(CmId id, Duration patience) throws RdmaException {
        return start(id, true, patience);
    }

    /** Accepts a client. The id stands for its request, and is closed with the conversation, or if this fails. */
    static CmExchange accept(CmId id, Duration patience) throws RdmaException {
        return start(id, false, patience);
    }

    private static CmExchange start(CmId id, boolean isClient, Duration patience)
            throws RdmaException {
        Arena arena = Arena.ofShared();
        MemoryRegion region = null;
        try {
            id.createQueuePair(new QueuePairInitAttributes().type(QueuePairType.RC)
                    .capabilities(QueuePairCapabilities.ofDepth(1, 1)));
            MemorySegment memory = arena.allocate(2 * AREA_BYTES);
            region = id.registerMessages(memory);
            CmExchange exchange = new CmExchange(id, isClient, patience, arena, memory, region);
            exchange.postReceive();
            ConnectionParameters parameters = new ConnectionParameters().retryCount(RETRIES)
                    .rnrRetryCount(RETRIES);
            if (isClient) {
                id.connect(parameters);
            } else {
                id.accept(parameters);
            }
            return exchange;
        } catch (RdmaException | RuntimeException e) {
            release(id, region, arena);
            throw e;
        }
    }

    /** In this order: a region in use keeps its domain, and that its device. */
    private static void release(CmId id, @Nullable MemoryRegion region, Arena arena)
            throws RdmaException {
        try (arena; id; region) {
            id.closeQueuePair();
        }
    }

    /** {@return the device that it goes through} */
    DeviceContext context() {
        return id.context();
    }

    /** {@return the address of this side} */
    InetAddress address() {
        return id.localAddress().getAddress();
    }

    private void postReceive() throws RdmaException {
        id.postReceive(0, region, AREA_BYTES, AREA_BYTES);
    }

    @Override
    Endpoint exchange(Endpoint own) throws IOException {
        return Endpoint.ofRecord(exchange(own.toRecord()));
    }

    @Override
    void requireOwn(Endpoint own) {
        // The conversation goes the same way.
    }

    @Override
    void requirePeer(Endpoint own, Endpoint peer) {
        // The conversation goes the same way.
    }

    @Override
    void stayAwake() {
        // The device spins for a while before a thread sleeps.
    }

    /**
     * The peer's next message shows that this one has arrived, and a peer that has received everything may end before it
     * has acknowledged it: so its completion is waited for only when the next one is to be sent.
     */
    @Override
    void send(byte[] bytes) throws IOException {
        if (isSending) {
            check(id.pollSendCompletion(patience));
        }
        isSending = true;
        MemorySegment.copy(bytes, 0, memory, ValueLayout.JAVA_BYTE, 0, bytes.length);
        id.postSend(0, region, 0, bytes.length, SendFlag.SIGNALED);
    }

    @Override
    byte[] receive(int length) throws IOException {
        beginWaiting();
        WorkCompletion completion = found == null ? id.pollReceiveCompletion(patience) : found;
        found = null;
        while (completion == null) {
            requireLife(patience.toSeconds());
            completion = id.pollReceiveCompletion(patience);
        }
        check(completion);
        if (completion.byteLength() != length) {
            throw new IOException("the peer does not speak as perftest does: it sent "
                    + completion.byteLength() + " bytes where " + length + " were due");
        }
        byte[] bytes = new byte[length];
        MemorySegment.copy(memory, ValueLayout.JAVA_BYTE, AREA_BYTES, bytes, 0, length);
        postReceive();
        return bytes;
    }

    /** {@return whether the peer has ended the conversation} */
    boolean isPeerGone() throws RdmaException {
        if (found == null) {
            found = id.pollReceiveCompletion(Duration.ZERO);
        }
        return found != null && !found.isSuccess();
    }

    private static void check(@Nullable WorkCompletion completion) throws IOException {
        if (completion == null || !completion.isSuccess()) {
            throw goneAway();
        }
    }

    @Override
    void part(boolean isPeerPatient) throws IOException {
        if (isSending) {
            // An error is ignored: a peer that has ended has received it, or has reported its own failure.
            id.pollSendCompletion(patience);
        }
        boolean isClientOfOurs = isPeerPatient && isClient();
        if (!isClientOfOurs) {
            awaitLastCompletion();
        }
    }

    /** A C program may not have the completion of its last message yet, which siw takes back when the connection ends. */
    private void awaitLastCompletion() throws RdmaException {
        if (context().device().transport() == TransportType.IWARP) {
            id.pollReceiveCompletion(PARTING);
        }
    }

    @Override
    void leave(boolean isPeerPatient) throws IOException {
        // Closing the id says that this side leaves; no thread waits for an acknowledgement of this conversation.
        if (!isPeerPatient) {
            awaitLastCompletion();
        }
    }

    @Override
    public void close() throws IOException {
        release(id, region, arena);
    }
}
