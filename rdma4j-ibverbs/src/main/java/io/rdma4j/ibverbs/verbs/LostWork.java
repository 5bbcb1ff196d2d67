package io.rdma4j.ibverbs.verbs;

/**
 * The requests of a queue whose queue pair has ended, as far as the driver has lost them: those that are outstanding when
 * the driver has no more completions, up to the one that was accepted last when this was made. It is made after the driver
 * has flushed, so that the completions of all that it will ever complete are in the completion queue.
 *
 * <p>The driver stopped at one request, and has lost all after it. Outstanding requests before the first signaled one may
 * have succeeded, of which nothing is reported, and are left out. For one thread.
 */
final class LostWork {
    private final OutstandingWork work;
    private final long tag;
    private final int queuePair;
    private final long lostFrom;
    private final long end;
    /** The next request; before the first, none is certain to be lost. */
    private long next = -1;

    /**
     * @param tag the upper bits of each {@code wr_id}
     * @param queuePair the number of the queue pair
     * @param late how many were not given to the driver at all: the last ones, which are lost in any case
     */
    LostWork(OutstandingWork work, long tag, int queuePair, int late) {
        this.work = work;
        this.tag = tag;
        this.queuePair = queuePair;
        end = work.acceptedEnd();
        lostFrom = end - late;
    }

    int queuePair() {
        return queuePair;
    }

    /** {@return whether there may be a request} For any thread, before it is taken from. */
    boolean isPossible() {
        return work.firstOutstanding() < end;
    }

    /** {@return whether there is another request} All completions that were taken from the driver must have been read. */
    boolean hasNext() {
        if (next < 0) {
            next = work.firstSignaled(lostFrom);
        }
        // Others may have completed meanwhile: it was reset.
        next = Math.max(next, work.firstOutstanding());
        return next < end;
    }

    /** {@return the {@code wr_id} of the next request} */
    long next() {
        return tag | (next++ & WorkLedgers.NUMBERS);
    }
}
