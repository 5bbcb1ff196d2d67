// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.cmtools;

import io.rdma4j.cm.CmId;
import io.rdma4j.connection.DatagramParameters;
import io.rdma4j.tools.endpoint.OpenObjects;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * One connection with its verbs' objects; for datagrams one queue pair with its peer.
 *
 * <p>Closing it closes the id as well.
 */
final class Connection implements AutoCloseable {
    /** Software devices have one. */
    static final int DEVICE_PORT = 1;

    private final CmId id;
    private final Workload workload;
    private final OpenObjects open = new OpenObjects();
    private final SendWorkRequest send = new SendWorkRequest();
    private @Nullable ProtectionDomain domain;
    private @Nullable CompletionQueue sends;
    private @Nullable CompletionQueue receives;
    private @Nullable MemorySegment memory;
    private @Nullable MemoryRegion region;
    private @Nullable AddressHandle peer;
    private boolean connected;
    private boolean ended;

    Connection(CmId id, Workload workload) {
        this.id = id;
        this.workload = workload;
        id.userContext(this);
    }

    CmId id() {
        return id;
    }

    // ---------------------------------------------------------------- verbs' objects

    private boolean isDatagram() {
        return id.queuePairType() == QueuePairType.UD;
    }

    private int headerLength() {
        return isDatagram() ? AddressHandle.GLOBAL_ROUTE_LENGTH : 0;
    }

    /** Creates the queue pair and what it needs, once the id has a device. */
    void prepare(boolean blocksMulticastLoopback) throws IOException {
        DeviceContext context = id.context();
        if (isDatagram()) {
            checkSize(context);
        }
        ProtectionDomain created = context.allocateProtectionDomain();
        open.add(created::close);
        domain = created;
        int depth = Math.max(1, workload.messages());
        CompletionQueue sending = context.createCompletionQueue(depth);
        open.add(sending::close);
        sends = sending;
        CompletionQueue receiving = context.createCompletionQueue(depth);
        open.add(receiving::close);
        receives = receiving;
        id.createQueuePair(created, new QueuePairInitAttributes().type(id.queuePairType())
                .capabilities(QueuePairCapabilities.ofDepth(depth, depth)).signalAll(true)
                .sendCompletionQueue(sending).receiveCompletionQueue(receiving)
                .blockSelfMulticastLoopback(blocksMulticastLoopback));
        open.add(id::closeQueuePair);
        if (workload.messages() > 0) {
            createMessage(created);
        }
    }

    private void checkSize(DeviceContext context) throws IOException {
        int longest = context.queryPort(DEVICE_PORT).activeMtu().bytes();
        if (workload.messages() > 0 && workload.size() > longest) {
            throw new Failure(Failure.INVALID, "message_size " + workload.size()
                    + " is larger than active mtu " + longest);
        }
    }

    private void createMessage(ProtectionDomain of) throws RdmaException {
        Arena arena = Arena.ofShared();
        open.add(arena::close);
        MemorySegment bytes = arena.allocate(headerLength() + workload.size());
        memory = bytes;
        MemoryRegion registered = of.register(bytes, AccessFlag.LOCAL_WRITE);
        open.add(registered::close);
        region = registered;
        send.send().add(registered, headerLength(), workload.size());
    }

    // ---------------------------------------------------------------- messages

    void postReceives() throws RdmaException {
        if (workload.messages() == 0) {
            return;
        }
        ReceiveWorkRequest receive = new ReceiveWorkRequest().add(Objects.requireNonNull(region), 0,
                headerLength() + workload.size());
        for (int i = 0; i < workload.messages(); i++) {
            id.queuePair().postReceive(receive);
        }
    }

    void postSends() throws RdmaException {
        if (!connected) {
            return;
        }
        for (int i = 0; i < workload.messages(); i++) {
            id.queuePair().postSend(send);
        }
    }

    /** {@return whether it has its queues yet} */
    boolean isPrepared() {
        return sends != null;
    }

    /** {@return where sends complete, or else receives} */
    CompletionQueue completions(boolean ofSends) {
        return Objects.requireNonNull(ofSends ? sends : receives);
    }

    /** Looks at what completed. */
    void check(WorkCompletion completion, boolean isSend) throws IOException {
        if (completion.status() == WorkCompletionStatus.WORK_REQUEST_FLUSHED) {
            throw new Failure(Failure.RESET, "the peer disconnected too early; both sides need the"
                    + " same -C and -S");
        }
        if (!completion.isSuccess()) {
            throw new Failure(Failure.FAILED_WORK, (isSend ? "send: " : "receive: ")
                    + completion.status() + "; " + advice(completion));
        }
        if (isSend) {
            return;
        }
        long length = completion.byteLength() - headerLength();
        if (length != workload.size()) {
            throw new Failure(Failure.INVALID, "the peer's messages have " + length + " bytes, not "
                    + workload.size() + "; both sides need the same -S");
        }
        if (isDatagram() && peer == null) {
            answer(completion);
        }
    }

    private static String advice(WorkCompletion completion) {
        return switch (completion.status()) {
            case LOCAL_LENGTH_ERROR, REMOTE_INVALID_REQUEST_ERROR ->
                "both sides need the same -S";
            case RNR_RETRY_EXCEEDED_ERROR -> "both sides need the same -C";
            default -> completion.explanation();
        };
    }

    // ---------------------------------------------------------------- the peer

    /** Sends go where a look-up or a group says. */
    void sendTo(DatagramParameters service) throws RdmaException {
        sendTo(pathTo(service), service.queuePairNumber(), service.qkey());
    }

    private AddressHandle pathTo(DatagramParameters service) throws RdmaException {
        return Objects.requireNonNull(domain).createAddressHandle(service.path());
    }

    /** Sends go where the first datagram came from; its immediate value tells the queue pair. */
    private void answer(WorkCompletion completion) throws RdmaException {
        sendTo(Objects.requireNonNull(domain).createAddressHandle(DEVICE_PORT, completion,
                Objects.requireNonNull(memory).asSlice(0, AddressHandle.GLOBAL_ROUTE_LENGTH)),
                completion.immediate(),
                DatagramParameters.UDP_QKEY);
    }

    private void sendTo(AddressHandle handle, int queuePair, int qkey) {
        open.add(handle::close);
        peer = handle;
        send.sendWithImmediate(id.queuePair().number()).to(handle, queuePair, qkey);
    }

    // ---------------------------------------------------------------- its life

    void onConnected() {
        connected = true;
    }

    boolean isConnected() {
        return connected;
    }

    void onEnded() {
        connected = false;
        ended = true;
    }

    boolean hasEnded() {
        return ended;
    }

    @Override
    public void close() throws RdmaException {
        open.close();
        id.close();
    }
}
