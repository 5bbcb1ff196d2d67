package io.rdma4j.cm;

import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;

import java.lang.foreign.MemorySegment;

/**
 * Short forms for an id's queue pair: registering, posting and waiting in one line each.
 *
 * <p>C: {@code rdma/rdma_verbs.h}. They make the requests they post; a program that counts allocations
 * posts its own to {@link #queuePair()}.
 */
public interface CmOperations {
    /**
     * {@return the id's queue pair} C: {@code id->qp}.
     *
     * @throws IllegalStateException if it has none
     */
    QueuePair queuePair();

    /** {@return the queue pair's protection domain; before there is one, that of the id's device} */
    ProtectionDomain protectionDomain() throws RdmaException;

    /** Registers memory for messages. C: {@code rdma_reg_msgs}. */
    default MemoryRegion registerMessages(MemorySegment segment) throws RdmaException {
        return protectionDomain().register(segment, AccessFlag.LOCAL_WRITE);
    }

    /** Registers memory that the peer may read. C: {@code rdma_reg_read}. */
    default MemoryRegion registerRead(MemorySegment segment) throws RdmaException {
        return protectionDomain().register(segment, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ);
    }

    /** Registers memory that the peer may write. C: {@code rdma_reg_write}. */
    default MemoryRegion registerWrite(MemorySegment segment) throws RdmaException {
        return protectionDomain().register(segment, AccessFlag.LOCAL_WRITE,
                AccessFlag.REMOTE_WRITE);
    }

    /** Posts a receive into a stretch of a region. C: {@code rdma_post_recv}. */
    default void postReceive(long requestId, MemoryRegion region, long offset, long length)
            throws RdmaException {
        queuePair().postReceive(
                new ReceiveWorkRequest().id(requestId).add(region, offset, length));
    }

    /** Posts a SEND of a stretch of a region. C: {@code rdma_post_send}. */
    default void postSend(long requestId, MemoryRegion region, long offset, long length,
            SendFlag... flags) throws RdmaException {
        post(new SendWorkRequest().send(), requestId, region, offset, length, flags);
    }

    /** Posts a READ of the peer's memory into a stretch of a region. C: {@code rdma_post_read}. */
    default void postRead(long requestId, MemoryRegion region, long offset, long length,
            long remoteAddress, int rkey, SendFlag... flags) throws RdmaException {
        post(new SendWorkRequest().read(remoteAddress, rkey), requestId, region, offset, length,
                flags);
    }

    /** Posts a WRITE of a stretch of a region to the peer's memory. C: {@code rdma_post_write}. */
    default void postWrite(long requestId, MemoryRegion region, long offset, long length,
            long remoteAddress, int rkey, SendFlag... flags) throws RdmaException {
        post(new SendWorkRequest().write(remoteAddress, rkey), requestId, region, offset, length,
                flags);
    }

    private void post(SendWorkRequest request, long requestId, MemoryRegion region, long offset,
            long length, SendFlag... flags) throws RdmaException {
        request.id(requestId).add(region, offset, length);
        for (SendFlag flag : flags) {
            request.set(flag);
        }
        queuePair().postSend(request);
    }

    /** Waits for the next completion of the send queue. C: {@code rdma_get_send_comp}. */
    default WorkCompletion awaitSendCompletion() throws RdmaException {
        return IdDataPath.awaitCompletion(queuePair().sendCompletionQueue());
    }

    /** Waits for the next completion of the receive queue. C: {@code rdma_get_recv_comp}. */
    default WorkCompletion awaitReceiveCompletion() throws RdmaException {
        return IdDataPath.awaitCompletion(queuePair().receiveCompletionQueue());
    }
}
