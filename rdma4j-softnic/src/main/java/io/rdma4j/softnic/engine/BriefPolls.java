// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.engine;

/**
 * Decides when a poller need only check the source that had something last, because checking all takes longer: if the poller
 * comes back at once and has checked all sources recently.
 */
public final class BriefPolls {
    /** How often the one source is checked in vain before all are. */
    private static final int EMPTY_POLLS = 16;
    /** No longer than so, and only if it has polled just now. */
    private static final long POLL_ALL_NS = 100_000;
    private static final long JUST_NOW_NS = 50_000;
    /** While the code is interpreted, a round alone takes as long; so it is more than one, within a longer time. */
    private static final int ROUNDS = 4;
    private static final long POLL_ALL_AT_LAST_NS = 1_000_000;

    private long lastPollNs;
    private long lastPollOfAllNs;
    private int emptyPolls;
    private int rounds;

    /** Creates one for a poller that has not polled yet. */
    public BriefPolls() {}

    /**
     * {@return whether the check that begins now may be brief}
     *
     * @param isOften whether the caller comes back at once
     */
    public boolean isBrief(long nowNs, boolean isOften) {
        return note(nowNs, isOften && nowNs - lastPollNs < JUST_NOW_NS && emptyPolls < EMPTY_POLLS);
    }

    /**
     * As above for a caller that has found something already, and so will come back at once.
     */
    public boolean isBriefAfterFinding(long nowNs) {
        return note(nowNs, true);
    }

    /** All sources have just been checked in another way. */
    public void onAllChecked(long nowNs) {
        lastPollNs = nowNs;
        lastPollOfAllNs = nowNs;
        emptyPolls = 0;
        rounds = 0;
    }

    private boolean note(long nowNs, boolean isAllowed) {
        long sinceNs = nowNs - lastPollOfAllNs;
        rounds++;
        boolean isBrief = isAllowed && (sinceNs < POLL_ALL_NS
                || (rounds < ROUNDS && sinceNs < POLL_ALL_AT_LAST_NS));
        if (isBrief) {
            lastPollNs = nowNs;
        } else {
            onAllChecked(nowNs);
        }
        return isBrief;
    }

    /** Records whether a brief check has found anything. */
    public void onBriefPoll(boolean hasFound) {
        emptyPolls = hasFound ? 0 : emptyPolls + 1;
    }
}
