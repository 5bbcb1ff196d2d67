package io.rdma4j.cm;

import io.rdma4j.connection.DatagramParameters;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.ScatterGatherElement;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.WorkCompletion;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;

/**
 * Short forms for an id's queue pair: registering, posting and waiting in one line each.
 *
 * <p>C: {@code rdma/rdma_verbs.h}. They make the requests they post; a program that counts allocations
 * posts its own to {@link #queuePair()}.
 *
 * <p>Memory of a posted request belongs to the device until its completion: a send's must not change, a
 * receive's or a READ's is not to be looked at, and neither region nor segment may be closed. Data of any
 * memory without a region is copied before the call returns: a queue pair that {@link CmId} made takes at
 * least {@link CmId#INLINE_DATA} bytes so, and more if it was asked for more
 * ({@link io.rdma4j.verbs.QueuePairCapabilities#withInlineData}). Requests without {@code SIGNALED} complete
 * with a later one that has it. Thread safe, as the queue pair is; requests of several threads are posted
 * in some order.
 *
 * <p>Posting throws {@link RdmaException} with ENOMEM when the queue is full and EINVAL for what the queue
 * pair or its state does not allow, and {@link IllegalStateException} without a queue pair; registering
 * throws as {@link ProtectionDomain#register} does.
 *
 * <p>Waiting for a completion takes none of the events in the queue's channel and asks for none, so queues may
 * share a channel, and threads may wait for completions and for events of the same queue: each is woken for
 * what it waits for. A completion goes to one of those who wait for it, or poll. Nobody waits in vain: when the
 * queue pair has ended and nothing of it is outstanding, the wait ends, after all completions in the queue have
 * been handed out. Where queue pairs share a completion queue, it is this one's end that counts. When the peer
 * disconnects, the queue pair of a synchronous id ends by itself, that of an asynchronous one when the
 * application answers DISCONNECTED by {@link CmId#disconnect} or {@link CmId#close}.
 */
public interface CmOperations {
    /**
     * {@return the id's queue pair} C: {@code id->qp}.
     *
     * @throws IllegalStateException if it has none
     */
    QueuePair queuePair();

    /** {@return the shared receive queue created on the id, or null} C: {@code id->srq}. */
    @Nullable
    SharedReceiveQueue sharedReceiveQueue();

    /**
     * {@return the queue pair's protection domain; before there is one, that of the id's device} C:
     * {@code id->pd}.
     *
     * @throws RdmaException ENOMEM when the device has no room for another domain
     */
    ProtectionDomain protectionDomain() throws RdmaException;

    /**
     * Registers memory for messages. C: {@code rdma_reg_msgs}.
     *
     * @throws RdmaException EINVAL for a segment that cannot be registered, EFAULT for one that is known not to
     *         be mapped, ENOMEM when the device has no room for another region; see
     *         {@link ProtectionDomain#register}
     */
    default MemoryRegion registerMessages(MemorySegment segment) throws RdmaException {
        return protectionDomain().register(segment, AccessFlag.LOCAL_WRITE);
    }

    /**
     * Registers memory that the peer may read. C: {@code rdma_reg_read}.
     *
     * @throws RdmaException EINVAL for a segment that cannot be registered, EFAULT for one that is known not to
     *         be mapped, ENOMEM when the device has no room for another region; see
     *         {@link ProtectionDomain#register}
     */
    default MemoryRegion registerRead(MemorySegment segment) throws RdmaException {
        return protectionDomain().register(segment, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ);
    }

    /**
     * Registers memory that the peer may write. C: {@code rdma_reg_write}.
     *
     * @throws RdmaException EINVAL for a segment that cannot be registered, EFAULT for one that is known not to
     *         be mapped, ENOMEM when the device has no room for another region; see
     *         {@link ProtectionDomain#register}
     */
    default MemoryRegion registerWrite(MemorySegment segment) throws RdmaException {
        return protectionDomain().register(segment, AccessFlag.LOCAL_WRITE,
                AccessFlag.REMOTE_WRITE);
    }

    /**
     * Posts a receive into a stretch of a region, to the id's shared receive queue if it has one. C:
     * {@code rdma_post_recv}.
     *
     * @throws RdmaException EINVAL in state RESET or for more elements than the queue takes, ENOMEM when the
     *         queue is full
     */
    default void postReceive(long requestId, MemoryRegion region, long offset, long length)
            throws RdmaException {
        post(new ReceiveWorkRequest().id(requestId).add(region, offset, length));
    }

    /**
     * Posts a receive into several stretches. C: {@code rdma_post_recvv}.
     *
     * @throws RdmaException EINVAL in state RESET or for more elements than the queue takes, ENOMEM when the
     *         queue is full
     */
    default void postReceive(long requestId, List<ScatterGatherElement> elements)
            throws RdmaException {
        ReceiveWorkRequest request = new ReceiveWorkRequest().id(requestId);
        for (ScatterGatherElement element : elements) {
            request.add(element.address(), element.length(), element.lkey());
        }
        post(request);
    }

    private void post(ReceiveWorkRequest request) throws RdmaException {
        SharedReceiveQueue shared = sharedReceiveQueue();
        if (shared == null) {
            queuePair().postReceive(request);
        } else {
            shared.post(request);
        }
    }

    /**
     * Posts a SEND of a stretch of a region. C: {@code rdma_post_send}.
     *
     * @throws RdmaException EINVAL in a state that takes no sends or for a request that does not fit the queue
     *         pair, EMSGSIZE for more bytes than a message can have, EOPNOTSUPP for what the device does not
     *         offer, ENOMEM when the queue is full
     */
    default void postSend(long requestId, MemoryRegion region, long offset, long length,
            SendFlag... flags) throws RdmaException {
        post(new SendWorkRequest().send(), requestId, region, offset, length, flags);
    }

    /**
     * Posts a READ of the peer's memory into a stretch of a region. C: {@code rdma_post_read}.
     *
     * @throws RdmaException EINVAL in a state that takes no sends or for a request that does not fit the queue
     *         pair, EMSGSIZE for more bytes than a message can have, EOPNOTSUPP for what the device does not
     *         offer, ENOMEM when the queue is full
     */
    default void postRead(long requestId, MemoryRegion region, long offset, long length,
            long remoteAddress, int rkey, SendFlag... flags) throws RdmaException {
        post(new SendWorkRequest().read(remoteAddress, rkey), requestId, region, offset, length,
                flags);
    }

    /**
     * Posts a WRITE of a stretch of a region to the peer's memory. C: {@code rdma_post_write}.
     *
     * @throws RdmaException EINVAL in a state that takes no sends or for a request that does not fit the queue
     *         pair, EMSGSIZE for more bytes than a message can have, EOPNOTSUPP for what the device does not
     *         offer, ENOMEM when the queue is full
     */
    default void postWrite(long requestId, MemoryRegion region, long offset, long length,
            long remoteAddress, int rkey, SendFlag... flags) throws RdmaException {
        post(new SendWorkRequest().write(remoteAddress, rkey), requestId, region, offset, length,
                flags);
    }

    /**
     * Posts a SEND of several stretches. C: {@code rdma_post_sendv}.
     *
     * @throws RdmaException EINVAL in a state that takes no sends or for a request that does not fit the queue
     *         pair, EMSGSIZE for more bytes than a message can have, EOPNOTSUPP for what the device does not
     *         offer, ENOMEM when the queue is full
     */
    default void postSend(long requestId, List<ScatterGatherElement> elements, SendFlag... flags)
            throws RdmaException {
        post(new SendWorkRequest().send(), requestId, elements, flags);
    }

    /**
     * Posts a READ into several stretches. C: {@code rdma_post_readv}.
     *
     * @throws RdmaException EINVAL in a state that takes no sends or for a request that does not fit the queue
     *         pair, EMSGSIZE for more bytes than a message can have, EOPNOTSUPP for what the device does not
     *         offer, ENOMEM when the queue is full
     */
    default void postRead(long requestId, List<ScatterGatherElement> elements, long remoteAddress,
            int rkey, SendFlag... flags) throws RdmaException {
        post(new SendWorkRequest().read(remoteAddress, rkey), requestId, elements, flags);
    }

    /**
     * Posts a WRITE of several stretches. C: {@code rdma_post_writev}.
     *
     * @throws RdmaException EINVAL in a state that takes no sends or for a request that does not fit the queue
     *         pair, EMSGSIZE for more bytes than a message can have, EOPNOTSUPP for what the device does not
     *         offer, ENOMEM when the queue is full
     */
    default void postWrite(long requestId, List<ScatterGatherElement> elements, long remoteAddress,
            int rkey, SendFlag... flags) throws RdmaException {
        post(new SendWorkRequest().write(remoteAddress, rkey), requestId, elements, flags);
    }

    /**
     * Posts a SEND of any memory, copied at once. C: {@code rdma_post_send} without a region and with
     * {@code IBV_SEND_INLINE}.
     *
     * @throws RdmaException EINVAL for more bytes than the queue pair takes inline
     */
    default void postSend(long requestId, MemorySegment data, SendFlag... flags)
            throws RdmaException {
        post(new SendWorkRequest().send().id(requestId).inline(data), flags);
    }

    /**
     * Posts a WRITE of any memory, copied at once. C: {@code rdma_post_write} without a region and with
     * {@code IBV_SEND_INLINE}.
     *
     * @throws RdmaException EINVAL for more bytes than the queue pair takes inline
     */
    default void postWrite(long requestId, MemorySegment data, long remoteAddress, int rkey,
            SendFlag... flags) throws RdmaException {
        post(new SendWorkRequest().write(remoteAddress, rkey).id(requestId).inline(data), flags);
    }

    /**
     * Posts a datagram to a queue pair of port space UDP, with the Q_Key
     * {@link DatagramParameters#UDP_QKEY}. C: {@code rdma_post_ud_send}.
     *
     * @throws RdmaException EINVAL in a state that takes no sends, or for a path of another protection domain;
     *         EMSGSIZE for more bytes than a packet can carry; ENOMEM when the queue is full
     */
    default void postDatagram(long requestId, MemoryRegion region, long offset, long length,
            AddressHandle path, int remoteQueuePair, SendFlag... flags) throws RdmaException {
        postDatagram(requestId, region, offset, length, path, remoteQueuePair,
                DatagramParameters.UDP_QKEY, flags);
    }

    /**
     * As above, with the Q_Key that the receiver wants: {@link DatagramParameters#qkey} of the event that
     * told of the service or group. A datagram with another one is dropped without a word.
     *
     * @throws RdmaException EINVAL in a state that takes no sends, or for a path of another protection domain;
     *         EMSGSIZE for more bytes than a packet can carry; ENOMEM when the queue is full
     */
    default void postDatagram(long requestId, MemoryRegion region, long offset, long length,
            AddressHandle path, int remoteQueuePair, int remoteQkey, SendFlag... flags)
            throws RdmaException {
        post(new SendWorkRequest().send().to(path, remoteQueuePair, remoteQkey), requestId, region,
                offset, length, flags);
    }

    /**
     * Posts a datagram of any memory, copied at once, with the Q_Key {@link DatagramParameters#UDP_QKEY}.
     * C: {@code rdma_post_ud_send} without a region and with {@code IBV_SEND_INLINE}.
     *
     * @throws RdmaException EINVAL for more bytes than the queue pair takes inline
     */
    default void postDatagram(long requestId, MemorySegment data, AddressHandle path,
            int remoteQueuePair, SendFlag... flags) throws RdmaException {
        postDatagram(requestId, data, path, remoteQueuePair, DatagramParameters.UDP_QKEY, flags);
    }

    /**
     * As above, with the Q_Key that the receiver wants.
     *
     * @throws RdmaException as above
     */
    default void postDatagram(long requestId, MemorySegment data, AddressHandle path,
            int remoteQueuePair, int remoteQkey, SendFlag... flags) throws RdmaException {
        post(new SendWorkRequest().send().id(requestId).inline(data).to(path, remoteQueuePair,
                remoteQkey), flags);
    }

    private void post(SendWorkRequest request, long requestId, MemoryRegion region, long offset,
            long length, SendFlag... flags) throws RdmaException {
        post(request.id(requestId).add(region, offset, length), flags);
    }

    private void post(SendWorkRequest request, long requestId, List<ScatterGatherElement> elements,
            SendFlag... flags) throws RdmaException {
        request.id(requestId);
        elements.forEach(request::add);
        post(request, flags);
    }

    private void post(SendWorkRequest request, SendFlag... flags) throws RdmaException {
        for (SendFlag flag : flags) {
            request.set(flag);
        }
        queuePair().postSend(request);
    }

    /**
     * Waits for the next completion of the send queue. Several threads may wait; each completion wakes one.
     * C: {@code rdma_get_send_comp}.
     *
     * @throws RdmaException ENOTCONN when no completion is left and none can come, because the queue pair is in
     *         state ERR or RESET; ENODEV likewise when the device is gone, EBADF when the queue pair is closed;
     *         EINTR when interrupted, EINVAL if the queue has no channel, EIO when it has overrun
     */
    default WorkCompletion awaitSendCompletion() throws RdmaException {
        return CompletionWait.await(queuePair(), CompletionWait.Side.SEND);
    }

    /**
     * {@return as above, or null if none comes in time; zero looks only}
     *
     * @throws RdmaException as above
     */
    default @Nullable WorkCompletion pollSendCompletion(Duration timeout) throws RdmaException {
        return CompletionWait.poll(queuePair(), CompletionWait.Side.SEND, timeout);
    }

    /**
     * Waits for the next completion of the receive queue. Several threads may wait; each completion wakes
     * one. C: {@code rdma_get_recv_comp}.
     *
     * @throws RdmaException ENOTCONN when no completion is left and none can come, because the queue pair is in
     *         state ERR or RESET; ENODEV likewise when the device is gone, EBADF when the queue pair is closed;
     *         EINTR when interrupted, EINVAL if the queue has no channel, EIO when it has overrun
     */
    default WorkCompletion awaitReceiveCompletion() throws RdmaException {
        return CompletionWait.await(queuePair(), CompletionWait.Side.RECEIVE);
    }

    /**
     * {@return as above, or null if none comes in time; zero looks only}
     *
     * @throws RdmaException as above
     */
    default @Nullable WorkCompletion pollReceiveCompletion(Duration timeout) throws RdmaException {
        return CompletionWait.poll(queuePair(), CompletionWait.Side.RECEIVE, timeout);
    }
}
