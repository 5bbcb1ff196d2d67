// SPDX-License-Identifier: Apache-2.0
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
 * Short forms to register memory, to post requests to an id's queue pair and to wait for completions, in one line each.
 *
 * <p>C: {@code rdma/rdma_verbs.h}. Each posting method allocates the request that it posts; a program that must not
 * allocate reuses its own requests and posts them to {@link #queuePair()}.
 *
 * <p>The memory of a posted request belongs to the device until the completion: do not change the memory of a send, do
 * not read the memory of a receive or a READ, and do not close its region or segment. Data from memory without a region
 * is copied before the call returns. A queue pair that {@link CmId} created accepts at
 * least {@link CmId#INLINE_DATA} bytes of such data, or more if its attributes say so
 * ({@link io.rdma4j.verbs.QueuePairCapabilities#withInlineData}). A request without {@code SIGNALED} has a completion
 * only if it fails; a later completion shows that it is done. Thread safe, as the queue pair is; the order of requests
 * from several threads is undefined.
 *
 * <p>Posting throws {@link RdmaException} with ENOMEM when the queue is full and EINVAL for a request that the queue
 * pair or its state does not allow, EBADF once the id or the queue pair is closed, and {@link IllegalStateException} before
 * there is a queue pair, and for a send as {@link QueuePair#postSend(SendWorkRequest)} does; registering throws as
 * {@link #protectionDomain} and {@link ProtectionDomain#register} do.
 *
 * <p>Waiting for a completion neither takes events from the queue's channel nor asks for any. So queues may
 * share a channel, and threads may wait for completions and for events of the same queue. One of the threads that
 * wait or poll gets each completion. {@link #awaitSendCompletion} and {@link #awaitReceiveCompletion} wait for what is
 * outstanding: if there is nothing that will complete when they are called, neither of this queue pair nor of another one
 * with the same completion queue, they throw {@link IllegalStateException} at once and say why, instead of waiting for
 * ever. A thread that waits for what other threads will post calls {@link #pollSendCompletion} or
 * {@link #pollReceiveCompletion} with a time-out, as long as it likes. What is posted to a shared receive queue, and on a
 * native device to a completion queue of several queue pairs, counts as outstanding always. A wait ends when no completion can come any more: the queue pair is in state ERR or
 * RESET, has no outstanding request, and all completions in the queue have been taken. If queue pairs share a completion
 * queue, only the state of this one counts. When the peer disconnects, the queue pair of a synchronous id fails by
 * itself; that of an asynchronous id fails when the application calls {@link CmId#disconnect} or {@link CmId#close}
 * after DISCONNECTED.
 *
 * <p>Implemented by {@link CmId} and by programs; a later version adds methods only as {@code default}.
 *
 * @since 0.1.0
 */
public interface QueuePairOperations {
    /**
     * {@return the id's queue pair} C: {@code id->}{@index qp of struct rdma_cm_id}.
     *
     * @throws IllegalStateException if it has none
     */
    QueuePair queuePair();

    /**
     * {@return the id's queue pair, for a request or a wait}
     *
     * @throws RdmaException EBADF if the id is closed
     * @throws IllegalStateException if it has none
     */
    default QueuePair requireQueuePair() throws RdmaException {
        return queuePair();
    }

    /** {@return the shared receive queue created on the id, or null} C: {@code id->}{@index srq of struct rdma_cm_id}. */
    @Nullable
    SharedReceiveQueue sharedReceiveQueue();

    /**
     * {@return the queue pair's protection domain; without a queue pair, the one that the ids of the device share} C:
     * {@code id->pd}.
     *
     * @throws RdmaException ENOMEM when the device has no room for another domain
     * @throws IllegalStateException if the id has no queue pair and no device, as before an address is bound or resolved, and
     *         while it is bound to the wildcard address; for a queue pair of type XRC_RECEIVE, which has no domain
     */
    ProtectionDomain protectionDomain() throws RdmaException;

    /**
     * Registers memory for messages. A read-only segment, such as a file mapped so, can be sent and not received into; in C it
     * cannot be registered so. C: {@index rdma_reg_msgs}.
     *
     * @param segment native or mapped memory, as {@link ProtectionDomain#register(MemorySegment, java.util.Set)} wants it
     * @return the region, which the caller closes
     * @throws RdmaException EINVAL for a segment that cannot be registered, EFAULT for one that is known not to
     *         be mapped, ENOMEM when the device has no room for another region; see
     *         {@link ProtectionDomain#register}
     * @throws IllegalStateException as {@link #protectionDomain}
     */
    default MemoryRegion registerMessages(MemorySegment segment) throws RdmaException {
        return segment.isReadOnly() ? protectionDomain().register(segment)
                : protectionDomain().register(segment, AccessFlag.LOCAL_WRITE);
    }

    /**
     * Registers memory that the peer may read, also a read-only segment, such as a file mapped so, which in C cannot be
     * registered so. C: {@index rdma_reg_read}.
     *
     * @param segment native or mapped memory, as {@link ProtectionDomain#register(MemorySegment, java.util.Set)} wants it
     * @return the region, which the caller closes
     * @throws RdmaException EINVAL for a segment that cannot be registered, EFAULT for one that is known not to
     *         be mapped, ENOMEM when the device has no room for another region; see
     *         {@link ProtectionDomain#register}
     * @throws IllegalStateException as {@link #protectionDomain}
     */
    default MemoryRegion registerRead(MemorySegment segment) throws RdmaException {
        return segment.isReadOnly()
                ? protectionDomain().register(segment, AccessFlag.REMOTE_READ)
                : protectionDomain().register(segment, AccessFlag.LOCAL_WRITE,
                        AccessFlag.REMOTE_READ);
    }

    /**
     * Registers memory that the peer may write. C: {@index rdma_reg_write}.
     *
     * @param segment native or mapped memory, as {@link ProtectionDomain#register(MemorySegment, java.util.Set)} wants it
     * @return the region, which the caller closes
     * @throws RdmaException EINVAL for a segment that cannot be registered, EFAULT for one that is known not to
     *         be mapped, ENOMEM when the device has no room for another region; see
     *         {@link ProtectionDomain#register}
     * @throws IllegalStateException as {@link #protectionDomain}
     */
    default MemoryRegion registerWrite(MemorySegment segment) throws RdmaException {
        return protectionDomain().register(segment, AccessFlag.LOCAL_WRITE,
                AccessFlag.REMOTE_WRITE);
    }

    /**
     * Posts a receive into a range of a region, to the id's shared receive queue if it has one. C:
     * {@index rdma_post_recv}.
     *
     * @param requestId the number that its completion has
     * @param region where the bytes are
     * @param offset of the first byte
     * @param length in bytes
     * @throws RdmaException EINVAL in state RESET or for more elements than the queue takes, ENOMEM when the
     *         queue is full
     */
    default void postReceive(long requestId, MemoryRegion region, long offset, long length)
            throws RdmaException {
        requireReceives();
        post(new ReceiveWorkRequest().id(requestId).add(region, offset, length));
    }

    /**
     * Posts a receive into several ranges. C: {@index rdma_post_recvv}.
     *
     * @param requestId the number that its completion has
     * @param elements where the bytes are, in this order
     * @throws RdmaException EINVAL in state RESET or for more elements than the queue takes, ENOMEM when the
     *         queue is full
     */
    default void postReceive(long requestId, List<ScatterGatherElement> elements)
            throws RdmaException {
        requireReceives();
        ReceiveWorkRequest request = new ReceiveWorkRequest().id(requestId);
        for (ScatterGatherElement element : elements) {
            request.add(element.address(), element.length(), element.lkey());
        }
        post(request);
    }

    /** What is closed says so before anybody looks at arguments. */
    private void requireReceives() throws RdmaException {
        if (sharedReceiveQueue() == null) {
            requireQueuePair();
        }
    }

    private void post(ReceiveWorkRequest request) throws RdmaException {
        SharedReceiveQueue shared = sharedReceiveQueue();
        if (shared == null) {
            requireQueuePair().postReceive(request);
        } else {
            shared.post(request);
        }
    }

    /**
     * Posts a SEND of a range of a region. C: {@index rdma_post_send}.
     *
     * @param requestId the number that its completion has
     * @param region where the bytes are
     * @param offset of the first byte
     * @param length in bytes
     * @param flags none or more
     * @throws RdmaException EINVAL in a state that takes no sends or for a request that does not fit the queue
     *         pair, EMSGSIZE for more bytes than a message can have, EOPNOTSUPP for what the device does not
     *         offer, ENOMEM when the queue is full
     */
    default void postSend(long requestId, MemoryRegion region, long offset, long length,
            SendFlag... flags) throws RdmaException {
        post(new SendWorkRequest().send(), requestId, region, offset, length, flags);
    }

    /**
     * Posts a READ of the peer's memory into a range of a region. C: {@index rdma_post_read}.
     *
     * @param requestId the number that its completion has
     * @param region where the bytes are
     * @param offset of the first byte
     * @param length in bytes
     * @param remoteAddress where at the peer
     * @param rkey the key of the peer's memory
     * @param flags none or more
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
     * Posts a WRITE of a range of a region to the peer's memory. C: {@index rdma_post_write}.
     *
     * @param requestId the number that its completion has
     * @param region where the bytes are
     * @param offset of the first byte
     * @param length in bytes
     * @param remoteAddress where at the peer
     * @param rkey the key of the peer's memory
     * @param flags none or more
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
     * Posts a SEND of several ranges. C: {@index rdma_post_sendv}.
     *
     * @param requestId the number that its completion has
     * @param elements where the bytes are, in this order
     * @param flags none or more
     * @throws RdmaException EINVAL in a state that takes no sends or for a request that does not fit the queue
     *         pair, EMSGSIZE for more bytes than a message can have, EOPNOTSUPP for what the device does not
     *         offer, ENOMEM when the queue is full
     */
    default void postSend(long requestId, List<ScatterGatherElement> elements, SendFlag... flags)
            throws RdmaException {
        post(new SendWorkRequest().send(), requestId, elements, flags);
    }

    /**
     * Posts a READ into several ranges. C: {@index rdma_post_readv}.
     *
     * @param requestId the number that its completion has
     * @param elements where the bytes are, in this order
     * @param remoteAddress where at the peer
     * @param rkey the key of the peer's memory
     * @param flags none or more
     * @throws RdmaException EINVAL in a state that takes no sends or for a request that does not fit the queue
     *         pair, EMSGSIZE for more bytes than a message can have, EOPNOTSUPP for what the device does not
     *         offer, ENOMEM when the queue is full
     */
    default void postRead(long requestId, List<ScatterGatherElement> elements, long remoteAddress,
            int rkey, SendFlag... flags) throws RdmaException {
        post(new SendWorkRequest().read(remoteAddress, rkey), requestId, elements, flags);
    }

    /**
     * Posts a WRITE of several ranges. C: {@index rdma_post_writev}.
     *
     * @param requestId the number that its completion has
     * @param elements where the bytes are, in this order
     * @param remoteAddress where at the peer
     * @param rkey the key of the peer's memory
     * @param flags none or more
     * @throws RdmaException EINVAL in a state that takes no sends or for a request that does not fit the queue
     *         pair, EMSGSIZE for more bytes than a message can have, EOPNOTSUPP for what the device does not
     *         offer, ENOMEM when the queue is full
     */
    default void postWrite(long requestId, List<ScatterGatherElement> elements, long remoteAddress,
            int rkey, SendFlag... flags) throws RdmaException {
        post(new SendWorkRequest().write(remoteAddress, rkey), requestId, elements, flags);
    }

    /**
     * Posts a SEND of any memory, copied at once. C: {@index rdma_post_send} without a region and with
     * {@code IBV_SEND_INLINE}.
     *
     * @param requestId the number that its completion has
     * @param data any memory; the bytes are copied before the call returns
     * @param flags none or more
     * @throws RdmaException EINVAL for more bytes than the queue pair takes inline
     */
    default void postSend(long requestId, MemorySegment data, SendFlag... flags)
            throws RdmaException {
        post(new SendWorkRequest().send(), requestId, data, flags);
    }

    /**
     * Posts a WRITE of any memory, copied at once. C: {@index rdma_post_write} without a region and with
     * {@code IBV_SEND_INLINE}.
     *
     * @param requestId the number that its completion has
     * @param data any memory; the bytes are copied before the call returns
     * @param remoteAddress where at the peer
     * @param rkey the key of the peer's memory
     * @param flags none or more
     * @throws RdmaException EINVAL for more bytes than the queue pair takes inline
     */
    default void postWrite(long requestId, MemorySegment data, long remoteAddress, int rkey,
            SendFlag... flags) throws RdmaException {
        post(new SendWorkRequest().write(remoteAddress, rkey), requestId, data, flags);
    }

    /**
     * Posts a datagram to a service that was looked up, or to a group that was joined. C: {@index rdma_post_ud_send},
     * which takes the Q_Key of port space UDP, whatever the service said.
     *
     * @param requestId the number that its completion has
     * @param region where the bytes are
     * @param offset of the first byte
     * @param length in bytes
     * @param path made from {@link DatagramParameters#path} of the receiver
     * @param receiver the parameters of the event that reported the service or group ({@link CmEvent#datagram}): its
     *        queue pair and Q_Key
     * @param flags none or more
     * @throws RdmaException EINVAL in a state that takes no sends, or for a path of another protection domain;
     *         EMSGSIZE for more bytes than a packet can carry; ENOMEM when the queue is full
     */
    default void postDatagram(long requestId, MemoryRegion region, long offset, long length,
            AddressHandle path, DatagramParameters receiver, SendFlag... flags)
            throws RdmaException {
        postDatagram(requestId, region, offset, length, path, receiver.queuePairNumber(),
                receiver.qkey(), flags);
    }

    /**
     * Posts a datagram to a queue pair whose number and Q_Key the program knows otherwise, such as the sender of a datagram. C:
     * {@code rdma_post_ud_send}.
     *
     * @param requestId the number that its completion has
     * @param region where the bytes are
     * @param offset of the first byte
     * @param length in bytes
     * @param path to the receiver
     * @param remoteQueuePairNumber the queue pair that it is for
     * @param remoteQkey the Q_Key of the receiver, which drops datagrams with another one silently;
     *        {@link DatagramParameters#UDP_QKEY} for ids of port space UDP that have not chosen one
     * @param flags none or more
     * @throws RdmaException EINVAL in a state that takes no sends, or for a path of another protection domain;
     *         EMSGSIZE for more bytes than a packet can carry; ENOMEM when the queue is full
     */
    default void postDatagram(long requestId, MemoryRegion region, long offset, long length,
            AddressHandle path, int remoteQueuePairNumber, int remoteQkey, SendFlag... flags)
            throws RdmaException {
        post(new SendWorkRequest().send().to(path, remoteQueuePairNumber, remoteQkey), requestId,
                region, offset, length, flags);
    }

    /**
     * Posts a datagram of any memory, copied at once, to a service that was looked up, or to a group that was joined. C:
     * {@code rdma_post_ud_send} without a region and with {@code IBV_SEND_INLINE}.
     *
     * @param requestId the number that its completion has
     * @param data any memory; the bytes are copied before the call returns
     * @param path made from {@link DatagramParameters#path} of the receiver
     * @param receiver the parameters of the event that reported the service or group ({@link CmEvent#datagram}): its
     *        queue pair and Q_Key
     * @param flags none or more
     * @throws RdmaException EINVAL for more bytes than the queue pair takes inline
     */
    default void postDatagram(long requestId, MemorySegment data, AddressHandle path,
            DatagramParameters receiver, SendFlag... flags) throws RdmaException {
        postDatagram(requestId, data, path, receiver.queuePairNumber(), receiver.qkey(), flags);
    }

    /**
     * Posts a datagram of any memory, copied at once, to a queue pair whose number and Q_Key the program knows otherwise. C:
     * {@code rdma_post_ud_send} without a region and with {@code IBV_SEND_INLINE}.
     *
     * @param requestId the number that its completion has
     * @param data any memory; the bytes are copied before the call returns
     * @param path to the receiver
     * @param remoteQueuePairNumber the queue pair that it is for
     * @param remoteQkey the Q_Key of the receiver, which drops datagrams with another one silently;
     *        {@link DatagramParameters#UDP_QKEY} for ids of port space UDP that have not chosen one
     * @param flags none or more
     * @throws RdmaException EINVAL for more bytes than the queue pair takes inline
     */
    default void postDatagram(long requestId, MemorySegment data, AddressHandle path,
            int remoteQueuePairNumber, int remoteQkey, SendFlag... flags) throws RdmaException {
        post(new SendWorkRequest().send().to(path, remoteQueuePairNumber, remoteQkey), requestId,
                data, flags);
    }

    private void post(SendWorkRequest request, long requestId, MemoryRegion region, long offset,
            long length, SendFlag... flags) throws RdmaException {
        QueuePair queuePair = requireQueuePair();
        post(queuePair, request.id(requestId).add(region, offset, length), flags);
    }

    private void post(SendWorkRequest request, long requestId, List<ScatterGatherElement> elements,
            SendFlag... flags) throws RdmaException {
        QueuePair queuePair = requireQueuePair();
        request.id(requestId);
        elements.forEach(request::add);
        post(queuePair, request, flags);
    }

    private void post(SendWorkRequest request, long requestId, MemorySegment data,
            SendFlag... flags) throws RdmaException {
        QueuePair queuePair = requireQueuePair();
        post(queuePair, request.id(requestId).inline(data), flags);
    }

    private static void post(QueuePair queuePair, SendWorkRequest request, SendFlag... flags)
            throws RdmaException {
        for (SendFlag flag : flags) {
            request.set(flag);
        }
        queuePair.postSend(request);
    }

    /**
     * Waits for the next completion of the send queue. Several threads may wait; each completion wakes one.
     * C: {@index rdma_get_send_comp}.
     *
     * @return the completion
     * @throws IllegalStateException if nothing is outstanding, or only unsignaled sends, which complete only if they fail
     * @throws RdmaException ENOTCONN when no completion is left and none can come, because the queue pair is in
     *         state ERR or RESET; ENODEV likewise when the device was removed, EBADF when the queue pair is closed;
     *         EINTR when interrupted, EINVAL if the queue has no channel, EIO when it has overrun, EOPNOTSUPP if the
     *         device has no connection manager
     */
    default WorkCompletion awaitSendCompletion() throws RdmaException {
        return CompletionWait.await(requireQueuePair(), CompletionWait.Side.SEND);
    }

    /**
     * {@return the next completion of the send queue, or null if none comes in time; zero looks only} It waits also if nothing
     * is outstanding, for another thread may post. C: {@index rdma_get_send_comp}, which has no time-out.
     *
     * @param timeout how long to wait at most
     * @throws RdmaException as {@link #awaitSendCompletion}
     */
    default @Nullable WorkCompletion pollSendCompletion(Duration timeout) throws RdmaException {
        return CompletionWait.poll(requireQueuePair(), CompletionWait.Side.SEND, timeout);
    }

    /**
     * Waits for the next completion of the receive queue. Several threads may wait; each completion wakes
     * one. C: {@index rdma_get_recv_comp}.
     *
     * @return the completion
     * @throws IllegalStateException if nothing is outstanding, or only unsignaled sends, which complete only if they fail
     * @throws RdmaException ENOTCONN when no completion is left and none can come, because the queue pair is in
     *         state ERR or RESET; ENODEV likewise when the device was removed, EBADF when the queue pair is closed;
     *         EINTR when interrupted, EINVAL if the queue has no channel, EIO when it has overrun, EOPNOTSUPP if the
     *         device has no connection manager
     */
    default WorkCompletion awaitReceiveCompletion() throws RdmaException {
        return CompletionWait.await(requireQueuePair(), CompletionWait.Side.RECEIVE);
    }

    /**
     * {@return the next completion of the receive queue, or null if none comes in time; zero looks only} It waits also if nothing
     * is outstanding, for another thread may post. C: {@index rdma_get_recv_comp}, which has no time-out.
     *
     * @param timeout how long to wait at most
     * @throws RdmaException as {@link #awaitReceiveCompletion}
     */
    default @Nullable WorkCompletion pollReceiveCompletion(Duration timeout) throws RdmaException {
        return CompletionWait.poll(requireQueuePair(), CompletionWait.Side.RECEIVE, timeout);
    }
}
