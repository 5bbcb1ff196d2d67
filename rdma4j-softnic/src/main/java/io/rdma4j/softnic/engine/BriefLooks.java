package io.rdma4j.softnic.engine;

/**
 * When a poller need only ask the one who had something last, for to ask all takes longer: it comes back at once, and has asked
 * all a short while ago.
 */
public final class BriefLooks {
    /** So often the one is asked in vain. */
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
     * {@return whether the look that begins now may be brief}
     *
     * @param isOften whether the caller comes back at once
     */
    public boolean isBrief(long nowNs, boolean isOften) {
        return note(nowNs, isOften && nowNs - lastLookNs < JUST_NOW_NS && vainLooks < VAIN_LOOKS);
    }

    /**
     * As above for a caller that has found something already, where it takes no asking. Whoever finds something comes back
     * at once.
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

    /** Says whether a brief look has found anything. */
    public void onBriefLook(boolean hasFound) {
        vainLooks = hasFound ? 0 : vainLooks + 1;
    }
}
