package io.rdma4j.protocol.iwarp;

/**
 * What a side wants of its connections, whoever asks for them.
 *
 * @param wantsCrc whether units are to carry a CRC
 * @param isPeerToPeer whether this side, as initiator, sends first by itself
 * @param maxReads how many READs a queue pair can serve or ask for at once, less than 16383
 */
public record MpaSettings(boolean wantsCrc, boolean isPeerToPeer, int maxReads) {
    /** As Linux's siw, but that the initiator sends first, which both siw and hardware wait for. */
    public static final MpaSettings USUAL = new MpaSettings(false, true, 128);
}
