// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.ring;

import io.rdma4j.protocol.roce.wire.Opcode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static io.rdma4j.softnic.network.ring.RingLayout.ADDRESSES_LENGTH;
import static io.rdma4j.softnic.network.ring.RingLayout.ALIGNMENT;
import static io.rdma4j.softnic.network.ring.RingLayout.CAPACITY;
import static io.rdma4j.softnic.network.ring.RingLayout.MAX_LENT;
import static io.rdma4j.softnic.network.ring.RingLayout.MAX_PAYLOAD;
import static io.rdma4j.softnic.network.ring.RingLayout.MAX_RECORD;
import static io.rdma4j.softnic.network.ring.RingLayout.PACKET;
import static io.rdma4j.softnic.network.ring.RingLayout.PACKET_WITH_ADDRESSES;
import static io.rdma4j.softnic.network.ring.RingLayout.SKIP;
import static org.assertj.core.api.Assertions.assertThat;

/** Which words of another process begin a record, and how long it is: a reader must not go beyond what it has mapped. */
class RecordCheckTest {
    private static final int BTH = 12;
    private static final int LONGEST_HEADERS = Opcode.MAX_HEADER_LENGTH;

    private static int length(int kind, int headers, int span, int payload, int index) {
        return RecordCheck.length(RingLayout.word(kind, headers, span, payload), index);
    }

    // ---------------------------------------------------------------- the words

    @ParameterizedTest
    @CsvSource({"1, 12, 1, 0", "2, 48, 256, 65536", "3, 0, 0, 16777215", "3, 255, 4095, 1"})
    void wordSaysWhatWasPutIntoIt(int kind, int headers, int span, int payload) {
        long word = RingLayout.word(kind, headers, span, payload);
        assertThat(RingLayout.kind(word)).isEqualTo(kind);
        assertThat(RingLayout.headerLength(word)).isEqualTo(headers);
        assertThat(RingLayout.span(word)).isEqualTo(span);
        assertThat(RingLayout.payloadLength(word)).isEqualTo(payload);
    }

    // ---------------------------------------------------------------- packets

    /** A word, perhaps two addresses, headers, payload, in whole lines of the cache. A long payload begins at byte 128. */
    @ParameterizedTest
    @CsvSource({"12, 0, 64, 64", "12, 44, 64, 128", "12, 45, 128, 128", "12, 12, 64, 64",
        "12, 13, 64, 128", "28, 511, 576, 640", "28, 512, 640, 640", "28, 513, 704, 704",
        "12, 65536, 65664, 65664"})
    void recordIsAsLongAsItsPartsInWholeLines(int headers, int payload, int length,
            int lengthWithAddresses) {
        assertThat(length(PACKET, headers, 1, payload, 0)).isEqualTo(length);
        assertThat(length(PACKET_WITH_ADDRESSES, headers, 1, payload, 0))
                .isEqualTo(lengthWithAddresses);
    }

    @Test
    void recordEndsWithinTheRing() {
        int last = CAPACITY - ALIGNMENT;
        assertThat(length(PACKET, BTH, 1, 0, last)).isEqualTo(ALIGNMENT);
        assertThat(length(PACKET, BTH, 1, ALIGNMENT, last)).isEqualTo(-1);
        assertThat(length(PACKET, BTH, 1, MAX_PAYLOAD, CAPACITY - MAX_RECORD))
                .isEqualTo(MAX_RECORD);
        assertThat(length(PACKET, BTH, 1, MAX_PAYLOAD, CAPACITY - MAX_RECORD + ALIGNMENT))
                .isEqualTo(-1);
        assertThat(length(PACKET_WITH_ADDRESSES, BTH, 1, ALIGNMENT - ADDRESSES_LENGTH, last))
                .isEqualTo(-1);
    }

    @Test
    void longestPayloadIsTheLongest() {
        assertThat(length(PACKET, BTH, 1, MAX_PAYLOAD, 0)).isPositive();
        assertThat(length(PACKET, BTH, 1, MAX_PAYLOAD + 1, 0)).isEqualTo(-1);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 8, 11, 13, 14, 15, 255})
    void headersThatNoPacketHasAreNone(int headers) {
        assertThat(length(PACKET, headers, 1, 0, 0)).isEqualTo(-1);
    }

    @Test
    void headersAreFromTheShortestToTheLongestOfRoce() {
        assertThat(length(PACKET, BTH, 1, 0, 0)).isPositive();
        assertThat(length(PACKET, LONGEST_HEADERS, 1, 0, 0)).isPositive();
        assertThat(length(PACKET, LONGEST_HEADERS + 4, 1, 0, 0)).isEqualTo(-1);
    }

    /** With the shortest path MTU, 256 packets have the longest payload. */
    @Test
    void recordStandsForOnePacketOrMore() {
        assertThat(length(PACKET, BTH, 0, 0, 0)).isEqualTo(-1);
        assertThat(length(PACKET, BTH, 1, 0, 0)).isPositive();
        assertThat(length(PACKET, BTH, 256, 0, 0)).isPositive();
        assertThat(length(PACKET, BTH, 257, 0, 0)).isEqualTo(-1);
    }

    @Test
    void otherKindsAreNone() {
        assertThat(length(0, BTH, 1, 0, 0)).isEqualTo(-1);
        for (int unused = 48; unused < Long.SIZE; unused++) {
            long word = RingLayout.word(PACKET, BTH, 1, 0) | 1L << unused;
            assertThat(RecordCheck.length(word, 0)).isEqualTo(-1);
        }
    }

    @ParameterizedTest
    @CsvSource({"12, 0, 64, 64", "12, 36, 64, 128", "12, 4, 64, 64", "12, 5, 64, 128",
        "28, 512, 640, 640"})
    void piggybackTakesEightBytes(int headers, int payload, int length, int lengthWithAddresses) {
        assertThat(RecordCheck.length(RingLayout.withPiggyback(
                RingLayout.word(PACKET, headers, 1, payload)), 0)).isEqualTo(length);
        assertThat(RecordCheck.length(RingLayout.withPiggyback(
                RingLayout.word(PACKET_WITH_ADDRESSES, headers, 1, payload)), 0))
                .isEqualTo(lengthWithAddresses);
        assertThat(RecordCheck.length(RingLayout.withPiggyback(
                RingLayout.word(SKIP, 0, 0, ALIGNMENT)), CAPACITY - ALIGNMENT)).isEqualTo(-1);
    }

    // ---------------------------------------------------------------- lent payloads

    private static int lengthOfLent(int kind, int headers, int span, int payload, int index) {
        return RecordCheck.length(
                RingLayout.withLentPayload(RingLayout.word(kind, headers, span, payload)), index);
    }

    /** Four words stand for the payload, behind the headers, at a multiple of eight. */
    @ParameterizedTest
    @CsvSource({"12, 8192, 64, 128", "20, 65536, 64, 128", "24, 65536, 64, 128",
        "28, 65536, 128, 128", "28, 1, 128, 128"})
    void recordOfALentPayloadIsShort(int headers, int payload, int length,
            int lengthWithAddresses) {
        assertThat(lengthOfLent(PACKET, headers, 1, payload, 0)).isEqualTo(length);
        assertThat(lengthOfLent(PACKET_WITH_ADDRESSES, headers, 1, payload, 0))
                .isEqualTo(lengthWithAddresses);
        int last = CAPACITY - length;
        assertThat(lengthOfLent(PACKET, headers, 1, payload, last)).isEqualTo(length);
        assertThat(lengthOfLent(PACKET, headers, 1, payload, last + ALIGNMENT)).isEqualTo(-1);
    }

    @Test
    void payloadOfNothingOrOfTooMuchIsNotLent() {
        assertThat(lengthOfLent(PACKET, BTH, 1, 0, 0)).isEqualTo(-1);
        assertThat(lengthOfLent(PACKET, BTH, 1, MAX_LENT, 0)).isPositive();
        assertThat(lengthOfLent(PACKET, BTH, 1, MAX_LENT + 1, 0)).isEqualTo(-1);
        assertThat(lengthOfLent(PACKET, BTH, MAX_LENT / 256, MAX_LENT, 0)).isPositive();
        assertThat(lengthOfLent(PACKET, BTH, MAX_LENT / 256 + 1, MAX_LENT, 0)).isEqualTo(-1);
        assertThat(lengthOfLent(SKIP, 0, 0, ALIGNMENT, CAPACITY - ALIGNMENT)).isEqualTo(-1);
    }

    @Test
    void lentPayloadIsInOneSection() {
        assertThat(LentSection.isInOne(0, MAX_LENT)).isTrue();
        assertThat(LentSection.isInOne(LentSection.LENGTH - 1, 1)).isTrue();
        assertThat(LentSection.isInOne(LentSection.LENGTH - 1, 2)).isFalse();
        assertThat(LentSection.isInOne(-1, 1)).isFalse();
        assertThat(LentSection.isInOne(Long.MIN_VALUE, 1)).isFalse();
        assertThat(LentSection.isInOne((1L << 46) - LentSection.LENGTH, 1)).isTrue();
        assertThat(LentSection.isInOne(1L << 46, 1)).isFalse();
        assertThat(LentSection.isInOne(Long.MAX_VALUE - 1, 1)).isFalse();
    }

    // ---------------------------------------------------------------- skipped parts

    @Test
    void skippedIsTheWholeRestAndNothingElse() {
        int index = CAPACITY - 640;
        assertThat(length(SKIP, 0, 0, 640, index)).isEqualTo(640);
        assertThat(length(SKIP, 0, 0, 576, index)).isEqualTo(-1);
        assertThat(length(SKIP, 0, 0, 704, index)).isEqualTo(-1);
    }

    @Test
    void restThatTakesAnyRecordIsNotSkipped() {
        assertThat(length(SKIP, 0, 0, MAX_RECORD - ALIGNMENT, CAPACITY - MAX_RECORD + ALIGNMENT))
                .isEqualTo(MAX_RECORD - ALIGNMENT);
        assertThat(length(SKIP, 0, 0, MAX_RECORD, CAPACITY - MAX_RECORD)).isEqualTo(-1);
        assertThat(length(SKIP, 0, 0, CAPACITY, 0)).isEqualTo(-1);
    }
}
