// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.engine;

/**
 * Decides when a poller need only check the source that had something last, because checking all takes longer: if the poller
 * comes back at once and has checked all sources recently.
 */
public final class BriefLooks {
    /** How often the one source is checked in vain before all are. */
    private static final int VAIN_LOOKS = 16;
    /** No longer than so, and only if it has looked just now. */
    private static final long LOOK_AT_ALL_NS = 100_000;
    private static final long JUST_NOW_NS = 10_000;

    private long lastLookNs;
    private long lastLookAtAllNs;
    private int vainLooks;

    /** Creates one for a poller that has not looked yet. */
    public BriefLooks() {}

    /**
     * {@return whether the check that begins now may be brief}
     *
     * @param isOften whether the caller comes back at once
     */
    public boolean isBrief(long nowNs, boolean isOften) {
        return note(nowNs, isOften && nowNs - lastLookNs < JUST_NOW_NS && vainLooks < VAIN_LOOKS);
    }

    /**
     * As above for a caller that has found something already, and so will come back at once.
     */
    public boolean isBriefAfterFinding(long nowNs) {
        return note(nowNs, true);
    }

    private boolean note(long nowNs, boolean isAllowed) {
        boolean isBrief = isAllowed && nowNs - lastLookAtAllNs < LOOK_AT_ALL_NS;
        lastLookNs = nowNs;
        if (!isBrief) {
            lastLookAtAllNs = nowNs;
            vainLooks = 0;
        }
        return isBrief;
    }

    /** Records whether a brief check has found anything. */
    public void onBriefLook(boolean hasFound) {
        vainLooks = hasFound ? 0 : vainLooks + 1;
    }
}
