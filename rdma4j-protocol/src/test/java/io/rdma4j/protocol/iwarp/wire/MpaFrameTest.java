// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.iwarp.wire;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

import static org.assertj.core.api.Assertions.assertThat;

/** Frames that set a connection up, from bytes and to bytes. RFC 5044 7.1, RFC 6581 5. */
class MpaFrameTest {
    private static final byte[] HELLO = {1, 2, 3};
    private static final int OFFSET = 5;

    private static MemorySegment at5(byte[] bytes) {
        byte[] moved = new byte[OFFSET + bytes.length];
        System.arraycopy(bytes, 0, moved, OFFSET, bytes.length);
        return MemorySegment.ofArray(moved);
    }

    private static int lengthOf(byte[] bytes, int available, boolean isReply) {
        return MpaFrame.lengthOf(at5(bytes), OFFSET, available, isReply);
    }

    // [RFC 6581 6-1]
    @ParameterizedTest
    @CsvSource({
        // flags, revision, whether it has numbers of READs
        "0x10, 2, true", "0x50, 2, true", "0x40, 2, false", "0x10, 1, false", "0, 1, false"})
    void frameIsReadAsItWasWritten(String flags, int revision, boolean isEnhanced) {
        MpaFrame frame = new MpaFrame(false, Integer.decode(flags), revision,
                MpaFrame.PEER_TO_PEER | 7, MpaFrame.READ_RTR | 9, HELLO);
        byte[] bytes = frame.bytes();
        assertThat(bytes).hasSize(MpaFrame.HEADER_LENGTH + HELLO.length
                + (isEnhanced ? MpaFrame.READS_LENGTH : 0));
        assertThat(lengthOf(bytes, bytes.length, false)).isEqualTo(bytes.length);
        MpaFrame read = MpaFrame.of(at5(bytes), OFFSET, false);
        assertThat(read).isEqualTo(frame).hasSameHashCodeAs(frame);
        assertThat(read.isEnhanced()).isEqualTo(isEnhanced);
        assertThat(read.privateData()).isEqualTo(HELLO);
        assertThat(read.inboundReadCount()).isEqualTo(isEnhanced ? 7 : MpaFrame.UNLIMITED);
        assertThat(read.outboundReadCount()).isEqualTo(isEnhanced ? 9 : MpaFrame.UNLIMITED);
        assertThat(read.isPeerToPeer()).isEqualTo(isEnhanced);
    }

    @Test
    void framesAreEqualIfTheirBytesAre() {
        MpaFrame frame = new MpaFrame(false, MpaFrame.ENHANCED, 2, 1, 2, HELLO);
        assertThat(frame).isEqualTo(new MpaFrame(false, MpaFrame.ENHANCED, 2, 1, 2, HELLO.clone()))
                .isNotEqualTo(new MpaFrame(true, MpaFrame.ENHANCED, 2, 1, 2, HELLO))
                .isNotEqualTo(new MpaFrame(false, MpaFrame.ENHANCED, 2, 1, 3, HELLO))
                .isNotEqualTo(new MpaFrame(false, MpaFrame.ENHANCED, 2, 1, 2, new byte[3]))
                .isNotEqualTo("a frame");
        assertThat(frame.hashCode())
                .isNotEqualTo(new MpaFrame(true, MpaFrame.ENHANCED, 2, 1, 2, HELLO).hashCode());
    }

    @Test
    void peerToPeerIsAFlagOfEnhancedFramesAlone() {
        assertThat(new MpaFrame(false, MpaFrame.ENHANCED, 2, 1, 1, HELLO).isPeerToPeer()).isFalse();
        assertThat(new MpaFrame(false, MpaFrame.ENHANCED, 1, MpaFrame.PEER_TO_PEER, 1, HELLO)
                .isPeerToPeer()).isFalse();
        assertThat(new MpaFrame(false, 0, 2, MpaFrame.PEER_TO_PEER, 1, HELLO).isPeerToPeer())
                .isFalse();
    }

    // [RFC 5044 7.1.1-1] [RFC 5044 7.1.2-4]
    @Test
    void frameIsToldFromOtherBytesAsSoonAsTheyDiffer() {
        byte[] request = new MpaFrame(false, 0, 1, 0, 0, HELLO).bytes();
        for (int available = 0; available < MpaFrame.HEADER_LENGTH; available++) {
            assertThat(lengthOf(request, available, false)).as("%d bytes", available).isZero();
        }
        assertThat(lengthOf(request, MpaFrame.HEADER_LENGTH, false)).isEqualTo(request.length);
        assertThat(lengthOf(request, 10, true)).isEqualTo(MpaFrame.NOT_A_FRAME);
        byte[] wrong = request.clone();
        wrong[15]++;
        assertThat(lengthOf(wrong, 15, false)).isZero();
        assertThat(lengthOf(wrong, 16, false)).isEqualTo(MpaFrame.NOT_A_FRAME);
    }

    // [RFC 5044 7.1.1-5]
    @ParameterizedTest
    @CsvSource({
        // flags, revision, length of what follows, the frame's length
        "0, 1, 512, 532", "0, 1, 513, -1", "0, 1, 0, 20", "0, 1, 65535, -1",
        // Numbers of READs have to be there where they are announced.
        "0x10, 2, 4, 24", "0x10, 2, 3, -1", "0x10, 2, 0, -1", "0x10, 1, 3, 23", "0, 2, 3, 23"})
    void lengthHasToBePossible(String flags, int revision, int length, int expected) {
        byte[] bytes = Arrays.copyOf(new MpaFrame(false, 0, 0, 0, 0, new byte[0]).bytes(), 600);
        bytes[16] = (byte) (int) Integer.decode(flags);
        bytes[17] = (byte) revision;
        bytes[18] = (byte) (length >> 8);
        bytes[19] = (byte) length;
        assertThat(lengthOf(bytes, 600, false)).isEqualTo(expected);
    }

    @ParameterizedTest
    @ValueSource(ints = {MpaFrame.MARKERS, MpaFrame.CRC, MpaFrame.REJECT, MpaFrame.ENHANCED})
    void flagIsThereOrNot(int flag) {
        assertThat(new MpaFrame(true, flag, 1, 0, 0, HELLO).has(flag)).isTrue();
        assertThat(new MpaFrame(true, 0xff & ~flag, 1, 0, 0, HELLO).has(flag)).isFalse();
    }

    // [RFC 5044 7.1.1-3]
    @Test
    void bitsWithoutAMeaningAreSentAsZeroAndNotLookedAt() {
        int known = MpaFrame.MARKERS | MpaFrame.CRC | MpaFrame.REJECT | MpaFrame.ENHANCED;
        byte[] bytes = new MpaFrame(false, known, 2, 1, 2, HELLO).bytes();
        assertThat(bytes[16] & 0xff & ~known).isZero();
        bytes[16] |= 0x0f;
        assertThat(lengthOf(bytes, bytes.length, false)).isEqualTo(bytes.length);
        MpaFrame read = MpaFrame.of(at5(bytes), OFFSET, false);
        assertThat(read.isEnhanced()).isTrue();
        assertThat(read.inboundReadCount()).isEqualTo(1);
        assertThat(read.outboundReadCount()).isEqualTo(2);
        assertThat(read.privateData()).isEqualTo(HELLO);
    }
}
