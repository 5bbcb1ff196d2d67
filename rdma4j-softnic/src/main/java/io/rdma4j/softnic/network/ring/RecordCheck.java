// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.ring;

import io.rdma4j.protocol.roce.wire.Opcode;

/** Whether a word is the beginning of a record. */
final class RecordCheck {
    private static final int MIN_MTU = 256;

    private RecordCheck() {}

    /**
     * {@return the length of a record in bytes, -1 if it is invalid}
     *
     * @param word not 0
     * @param index the offset of the record in the ring
     */
    static int length(long word, int index) {
        int rest = RingLayout.CAPACITY - index;
        int payloadLength = RingLayout.payloadLength(word);
        int kind = RingLayout.kind(word);
        boolean hasPiggyback = RingLayout.hasPiggyback(word);
        boolean isLent = RingLayout.isLent(word);
        if (RingLayout.hasUnused(word) || ((hasPiggyback || isLent) && kind == RingLayout.SKIP)) {
            return -1;
        }
        if (kind == RingLayout.SKIP) {
            // Only a rest that is too short for a record is skipped, so no whole round of the ring is skipped, and no
            // two skips follow each other.
            return payloadLength == rest && rest < RingLayout.MAX_RECORD ? rest : -1;
        }
        int headerLength = RingLayout.headerLength(word);
        int span = RingLayout.span(word);
        int maxPayload = isLent ? RingLayout.MAX_LENT : RingLayout.MAX_PAYLOAD;
        if ((kind != RingLayout.PACKET && kind != RingLayout.PACKET_WITH_ADDRESSES)
                || headerLength < Opcode.BTH_LENGTH || headerLength > Opcode.MAX_HEADER_LENGTH
                || (headerLength & 3) != 0 || payloadLength > maxPayload
                || (isLent && payloadLength == 0)
                // With the shortest path MTU there are most packets.
                || span < 1 || span > maxPayload / MIN_MTU) {
            return -1;
        }
        int headerAt = RingLayout.headerAt(kind, hasPiggyback);
        int length = isLent
                ? RingLayout.lengthOfLent(headerAt, headerLength)
                : RingLayout.aligned(RingLayout.payloadAt(headerAt, headerLength, payloadLength)
                        + payloadLength);
        return length <= rest ? length : -1;
    }
}
