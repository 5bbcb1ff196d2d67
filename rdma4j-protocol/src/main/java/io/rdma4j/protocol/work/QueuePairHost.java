package io.rdma4j.protocol.work;

import io.rdma4j.protocol.roce.RetransmissionCause;
import io.rdma4j.protocol.roce.RoundTripEstimate;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.Counter;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.WorkCompletionOpcode;
import io.rdma4j.verbs.WorkCompletionStatus;

import java.lang.foreign.MemorySegment;

/** Where the protocol of a queue pair reports what became of work and of itself. */
public interface QueuePairHost {
    /**
     * A send request ended. Unsignaled successes are reported too; the host leaves them out. Requests end in
     * order; the host frees the slot of each before anybody can see its completion, for whoever sees it
     * may post the next.
     *
     * @param byteLength bytes read, 0 for what sends
     */
    void sendCompleted(SendRequest request, WorkCompletionStatus status, long byteLength);

    /**
     * A receive request ended. Its slot is freed as that of a send.
     *
     * @param details flags, immediate data and whether the peer solicits an event
     */
    void receiveCompleted(ReceiveRequest request, WorkCompletionStatus status,
            WorkCompletionOpcode opcode, long byteLength, ReceiveDetails details);

    /**
     * Carries out a request that concerns this side alone: a bind or an invalidation.
     *
     * @return how it ended
     */
    WorkCompletionStatus carryOut(SendRequest request);

    /**
     * Invalidates a key as the peer asks.
     *
     * @return false if it is not a key that this queue pair's peer may invalidate
     */
    boolean invalidate(int rkey);

    /**
     * Starts to write mapped memory to its file, which takes long. {@link QueuePairProtocol#onFlushed} says how it has
     * ended, never during this call.
     *
     * @param ticket a number to say it with
     * @return whether it has been started; if not {@code onFlushed} is not called
     */
    boolean flush(MemorySegment memory, long offset, long length, long ticket);

    /** The queue pair changed its state by itself. */
    void stateChanged(QueuePairState state);

    /** Something happened that no completion reports. */
    void asyncEvent(AsyncEventType type);

    /** The first request of the peer arrived, so it is ready: it has learnt who this side is. */
    default void peerIsReady() {}

    /**
     * {@return how many packets of one message, whichever, may be sent as one on a path} More than 1 if it leads back
     * to the same device, where nothing limits them. See {@link OutgoingPacket#span(int)}.
     */
    default int maxSegments(Path path) {
        return 1;
    }

    /**
     * {@return how many middle packets of one message may be sent as one on a path} The port cuts it. See
     * {@link OutgoingPacket#span(int)}.
     */
    default int maxMiddleSegments(Path path) {
        return 1;
    }

    /** {@return how long the answers of the peer at the other end of a path take, shared by all who lead there} */
    default RoundTripEstimate roundTrips(Path path) {
        return new RoundTripEstimate();
    }

    /** The packet with this PSN is sent again, and what lies behind if the cause says so. */
    void retransmits(int psn, RetransmissionCause cause);

    /** Something happened that is counted. */
    void count(Counter counter);

    /** It happened so often. */
    void count(Counter counter, long times);
}
