// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.engine;

/**
 * How the threads of the application poll: when one did last, whether its polls follow each other closely, and how many in a row have found
 * nothing. From that follow which poll may look at memory alone, which gives way to other threads, and whether somebody polls at all.
 *
 * <p>Threads share it without any order: it need not be exact.
 */
final class PollPace {
    /** How long after a poll another one is expected; the background thread stays away as long. */
    static final long POLLING_NS = 1_000_000;
    /** After this time, and so many polls, without a packet the peer may be waiting for this processor. */
    private static final long PATIENCE_NS = 3_000;
    /** Who looks once and then waits is no poller. */
    static final int PATIENT_POLLS = 4;
    /** How many polls may leave the engine alone because nothing has come, until the next one runs it. */
    static final int GLANCES = 8;
    /** After so many polls in a row that ran the engine, found nothing and were brisk; before that, each poll runs it. */
    static final int BRISK_POLLS = 4;
    /** A poll is brisk that runs the engine less than so long after the last one that did. */
    static final long BRISK_NS = 5_000;
    /** Who polls so long after the poll before has done something else meanwhile. */
    static final long SPINNING_NS = 20_000;

    private volatile long lastPollNs;
    /** Written before the time. */
    private long lastPollerId;
    /** When a poll found something last, or gave way. */
    private long lastFoundNs;
    /** How many polls in a row have found nothing. */
    private int vainPolls;
    /** The last poll began long after the one before, and says when it ended. */
    private boolean marksEnd;
    /** How many polls in a row ran the engine, were brisk and found nothing. */
    private int briskPolls;
    /** How many of the next polls may leave the engine alone. */
    private int glancesLeft;

    /** Nobody has polled yet. */
    PollPace(long nowNs) {
        lastPollNs = nowNs - POLLING_NS;
        lastFoundNs = nowNs;
    }

    // ---------------------------------------------------------------- polls

    /**
     * {@return whether the calling thread's poll may leave the engine alone if nothing has come} Only some polls in a row do, so that time goes on, and
     * only those of the thread that polled last, if it does nothing else.
     */
    boolean mayGlance() {
        return glancesLeft > 0 && lastPollerId == Thread.currentThread().threadId();
    }

    /** A poll has left the engine alone. */
    void onGlance() {
        glancesLeft--;
    }

    /** The calling thread polls, and not only looks at memory. */
    void onPoll(long nowNs) {
        long sinceNs = nowNs - lastPollNs;
        briskPolls = sinceNs < BRISK_NS ? briskPolls + 1 : 0;
        glancesLeft = 0;
        boolean isPause = sinceNs > SPINNING_NS;
        if (isPause && marksEnd) {
            onWork();
        }
        // While it is interpreted, a poll alone may take as long. The next one is told by the end of this one.
        marksEnd = isPause;
        lastPollerId = Thread.currentThread().threadId();
        lastPollNs = nowNs;
    }

    /** The poll has found something. */
    void onFound(long nowNs) {
        lastFoundNs = nowNs;
        vainPolls = 0;
        briskPolls = 0;
    }

    /** The poll has found nothing. {@return whether the thread gives way} */
    boolean onNothing(long nowNs) {
        vainPolls++;
        if (briskPolls >= BRISK_POLLS) {
            glancesLeft = GLANCES;
        }
        if (vainPolls < PATIENT_POLLS || nowNs - lastFoundNs <= PATIENCE_NS) {
            return false;
        }
        // Not at each poll: if no other thread wants the processor, a yield costs more than a poll.
        lastFoundNs = nowNs;
        return true;
    }

    /** {@return whether the poll says when it ends, if it does not give way} */
    boolean marksEnd() {
        return marksEnd;
    }

    /** The poll ends later than it began. */
    void onEnd(long nowNs) {
        lastPollNs = nowNs;
    }

    // ---------------------------------------------------------------- between polls

    /** A thread that polls has work of its own, and does not only look for packets: it does not give way soon. */
    void onWork() {
        // Nearly always it is 0: no other processor loses its copy.
        if (vainPolls != 0) {
            vainPolls = 0;
            briskPolls = 0;
            glancesLeft = 0;
        }
    }

    /** The calling thread waits from now on. If it was the one that polled, nobody does. */
    void onWait(long nowNs) {
        if (lastPollerId == Thread.currentThread().threadId()) {
            lastPollNs = nowNs - POLLING_NS;
            onWork();
        }
    }

    /** {@return how long another poll is expected; 0 or less for not at all} */
    long expectedForNs(long nowNs) {
        return lastPollNs + POLLING_NS - nowNs;
    }
}
