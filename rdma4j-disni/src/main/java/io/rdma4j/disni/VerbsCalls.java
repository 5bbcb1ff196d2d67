// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.disni;

import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.CompletionQueueInitAttributes;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.WorkCompletionFlag;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/** The calls of the verbs. Thread safe as libibverbs is. Those of each message allocate nothing in steady state. */
public final class VerbsCalls {
    static final String CONTEXT = "device";
    static final String PROTECTION_DOMAIN = "protection domain";
    static final String QUEUE_PAIR = "queue pair";
    private static final String QUEUE = "completion queue";
    private static final String CHANNEL = "completion channel";
    private static final String REGION = "memory region";

    private final Handles handles;
    private final Devices devices;
    private final DeferredClosing closing;

    record Channel(CompletionChannel events, Waiting<CompletionQueue> waiting) {}

    VerbsCalls(Handles handles, Devices devices, DeferredClosing closing) {
        this.handles = handles;
        this.devices = devices;
        this.closing = closing;
    }

    static CompletionQueue queue(Handles handles, long queue) throws RdmaException {
        return handles.find(queue, CompletionQueue.class, QUEUE);
    }

    // ---------------------------------------------------------------- devices and domains

    /** {@return a number for the device, which no other has} C: {@code context->cmd_fd}. */
    public int deviceNumber(long context) throws RdmaException {
        return devices.number(device(context));
    }

    /** C: {@code context->num_comp_vectors}. */
    public int completionVectors(long context) throws RdmaException {
        return device(context).queryDevice().completionVectors();
    }

    private DeviceContext device(long context) throws RdmaException {
        return handles.find(context, DeviceContext.class, CONTEXT);
    }

    /** C: {@code ibv_alloc_pd}. */
    public long allocateProtectionDomain(long context) throws RdmaException {
        return handles.add(device(context).allocateProtectionDomain());
    }

    /** C: {@code pd->handle}. */
    public int protectionDomainNumber(long domain) throws RdmaException {
        handles.find(domain, ProtectionDomain.class, PROTECTION_DOMAIN);
        return (int) domain;
    }

    /** C: {@code ibv_dealloc_pd}. */
    public int deallocateProtectionDomain(long domain) {
        return Refusals.returned("deallocate protection domain", () -> {
            ProtectionDomain removed = handles.remove(domain, ProtectionDomain.class,
                    PROTECTION_DOMAIN);
            closing.close(removed, removed::close);
        });
    }

    // ---------------------------------------------------------------- memory

    /**
     * Registers all bytes of a direct buffer, and keeps the buffer until {@link #deregister}. C: {@code ibv_reg_mr}.
     *
     * @param keys where lkey, rkey and a number of the region are written, 4 bytes each
     * @return the number of the region
     */
    public long register(long domain, ByteBuffer buffer, int access, long keys)
            throws RdmaException {
        return register(domain, MemorySegment.ofBuffer(buffer.duplicate().clear()), access, keys,
                keys + Integer.BYTES, keys + 2 * Integer.BYTES);
    }

    /** Registers memory that the program keeps. C: {@code ibv_reg_mr}. */
    public long register(long domain, long address, int length, int access, long lkey, long rkey,
            long number) throws RdmaException {
        if (length < 0) {
            throw new RdmaException(Errno.EINVAL, "register memory",
                    "a region cannot have " + length + " bytes");
        }
        return register(domain, CallMemory.segment(address, length), access, lkey, rkey, number);
    }

    private long register(long domain, MemorySegment memory, int access, long lkey, long rkey,
            long number) throws RdmaException {
        ProtectionDomain in = handles.find(domain, ProtectionDomain.class, PROTECTION_DOMAIN);
        return Refusals.thrown("register memory", () -> {
            MemoryRegion region = in.register(memory, AccessFlag.ofBits(access));
            long handle = handles.add(region);
            CallMemory.writeInt(lkey, region.lkey());
            CallMemory.writeInt(rkey, region.rkey());
            CallMemory.writeInt(number, (int) handle);
            return handle;
        });
    }

    /** C: {@code ibv_dereg_mr}. */
    public void deregister(long region) throws RdmaException {
        MemoryRegion removed = handles.remove(region, MemoryRegion.class, REGION);
        closing.close(removed, removed::close);
    }

    // ---------------------------------------------------------------- completions

    /** C: {@code ibv_create_comp_channel}. */
    public long createCompletionChannel(long context) throws RdmaException {
        device(context);
        CompletionChannel events = CompletionChannel.create();
        return handles.add(new Channel(events, new Waiting<>(events)));
    }

    /** C: {@code ibv_destroy_comp_channel}. DiSNI calls it before its queues are destroyed: it is closed after them. */
    public int destroyCompletionChannel(long channel) {
        return Refusals.returned("destroy completion channel", () -> {
            CompletionChannel events = handles.remove(channel, Channel.class, CHANNEL).events;
            closing.close(events, events::close);
        });
    }

    /** C: {@code ibv_create_cq}. */
    public long createCompletionQueue(long context, long channel, int capacity, int vector)
            throws RdmaException {
        DeviceContext of = device(context);
        CompletionChannel events = handles.find(channel, Channel.class, CHANNEL).events;
        return Refusals.thrown("create completion queue",
                () -> handles.add(of.createCompletionQueue(new CompletionQueueInitAttributes()
                        .capacity(capacity).channel(events).completionVector(vector))));
    }

    /** C: {@code ibv_destroy_cq}. */
    public int destroyCompletionQueue(long queue) {
        return Refusals.returned("destroy completion queue", () -> {
            CompletionQueue removed = handles.remove(queue, CompletionQueue.class, QUEUE);
            closing.close(removed, removed::close);
        });
    }

    /**
     * {@return the queue with a number, to be polled as often as a program likes} It refuses to be polled when it is destroyed. C:
     * {@code ibv_poll_cq}.
     */
    public CompletionQueue queue(long queue) throws RdmaException {
        return queue(handles, queue);
    }

    /** {@return what DiSNI's programs read as a number, though it is big-endian in C, or the key that was invalidated} */
    public static int immediate(WorkCompletion completion) {
        if (completion.has(WorkCompletionFlag.WITH_IMMEDIATE)) {
            return Integer.reverseBytes(completion.immediate());
        }
        return completion.has(WorkCompletionFlag.WITH_INVALIDATE)
                ? completion.invalidatedRkey()
                : 0;
    }

    /** C: {@code ibv_req_notify_cq}. */
    public void requestNotification(long queue, int isSolicitedOnly) throws RdmaException {
        CompletionQueue asked = queue(handles, queue);
        if (isSolicitedOnly == 0) {
            asked.requestNotification();
        } else {
            asked.requestSolicitedNotification();
        }
    }

    /**
     * Waits for an event, and acknowledges it at once: DiSNI acknowledges completions, of which there are others. C:
     * {@code ibv_get_cq_event}, {@code ibv_ack_cq_events}.
     *
     * @param milliseconds less than 0 for any time
     * @return 0, or −1 if none comes in time
     */
    public int nextEvent(long channel, int milliseconds) throws RdmaException {
        CompletionQueue queue = handles.find(channel, Channel.class, CHANNEL).waiting
                .poll(milliseconds);
        if (queue == null) {
            return Refusals.FAILED;
        }
        queue.acknowledgeEvents(1);
        closing.onAcknowledged(queue);
        return 0;
    }

    // ---------------------------------------------------------------- queue pairs

    private PostedQueuePair queuePair(long handle) throws RdmaException {
        return handles.find(handle, PostedQueuePair.class, QUEUE_PAIR);
    }

    /** C: {@code qp->qp_num}. */
    public int queuePairNumber(long queuePair) throws RdmaException {
        return queuePair(queuePair).queuePair().number();
    }

    /** Posts a list of {@code struct ibv_send_wr}. C: {@code ibv_post_send}. */
    public void postSend(long queuePair, long requests) throws RdmaException {
        queuePair(queuePair).postSend(requests);
    }

    /** Posts a list of {@code struct ibv_recv_wr}. C: {@code ibv_post_recv}. */
    public void postReceive(long queuePair, long requests) throws RdmaException {
        queuePair(queuePair).postReceive(requests);
    }

    /** DiSNI hands over nothing that could be changed. C: {@code ibv_modify_qp}. */
    public int modifyQueuePair(long queuePair) throws RdmaException {
        queuePair(queuePair);
        throw RdmaException.unsupported("modify queue pair", "DiSNI hands over no attributes:"
                + " connect by its connection manager, or use rdma4j-api");
    }
}
