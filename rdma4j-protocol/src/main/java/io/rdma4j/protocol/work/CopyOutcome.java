package io.rdma4j.protocol.work;

/** What became of payload on its way into memory. */
public enum CopyOutcome {
    /** It is there. */
    DONE,
    /**
     * What it was to be read from is gone. So it can be only where a packet has not left this machine: it is the
     * sender's memory, and for the receiver it is as if the packet had not come.
     */
    SOURCE_GONE,
    /** It may not be written there, or that is gone. */
    TARGET_REFUSED
}
