// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.iwarp;

/**
 * The options of a side for its connections, active and passive.
 *
 * @param wantsCrc whether to request a CRC in units
 * @param isPeerToPeer whether this side, as initiator, sends first by itself
 * @param maxReads the maximum number of outstanding READs of a queue pair in each direction, less
 *         than 16383
 */
public record MpaSettings(boolean wantsCrc, boolean isPeerToPeer, int maxReads) {
    /**
     * As Linux's siw, except that the initiator sends first, for which both siw and hardware wait.
     */
    // [RFC 5044 4.4-1]
    public static final MpaSettings USUAL = new MpaSettings(false, true, 128);
}
