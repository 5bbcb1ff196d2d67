// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.work;

/**
 * The requests of a queue whose queue pair has ended, as far as the driver has lost them: those that are outstanding when
 * the driver has no more completions, up to the one that was posted last when this was made. It is made after the driver
 * has flushed, which reports no success of the queue after that. It may flush once more, and some of these requests, too:
 * such completions are ignored ({@link WorkLedger#complete}).
 *
 * <p>The driver stopped at one request, and has lost all after it. If none has failed yet, outstanding requests before the
 * first signaled one may have succeeded, of which nothing is reported, and are left out. For one thread.
 */
public final class LostRequests {
    private static final long UNKNOWN = -1;

    private final OutstandingWork work;
    private final long tag;
    private final int queuePair;
    private final long lostFrom;
    private final long end;
    /** The number of the next request. */
    private long next = UNKNOWN;

    /**
     * @param tag the upper bits of each {@code wr_id}
     * @param queuePair the number of the queue pair
     * @param late how many were not given to the driver at all: the last ones, which are lost in any case
     */
    public LostRequests(OutstandingWork work, long tag, int queuePair, int late) {
        this.work = work;
        this.tag = tag;
        this.queuePair = queuePair;
        end = work.acceptedEnd();
        lostFrom = end - late;
    }

    public int queuePair() {
        return queuePair;
    }

    /** {@return whether there may be a request} For any thread, before it is taken from. */
    public boolean isPossible() {
        return work.firstOutstanding() < end;
    }

    /** {@return whether there is another request} Before the first, all completions that were taken must have been read. */
    public boolean hasNext() {
        if (next == UNKNOWN) {
            next = work.firstLost(lostFrom);
        }
        // The queue pair may have been reset since.
        next = Math.max(next, work.firstOutstanding());
        return next < end;
    }

    /** {@return the {@code wr_id} of the next request} */
    public long next() {
        return tag | (next++ & WorkLedgers.NUMBERS);
    }
}
