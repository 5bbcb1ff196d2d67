// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.ibcm;

import io.rdma4j.connection.RejectReason;
import io.rdma4j.protocol.ibcm.CmMessage.AlternatePathResponse;
import io.rdma4j.protocol.ibcm.CmMessage.DisconnectReply;
import io.rdma4j.protocol.ibcm.CmMessage.DisconnectRequest;
import io.rdma4j.protocol.ibcm.CmMessage.LoadAlternatePath;
import io.rdma4j.protocol.ibcm.CmMessage.MessageReceipt;
import io.rdma4j.protocol.ibcm.CmMessage.ReadyToUse;
import io.rdma4j.protocol.ibcm.CmMessage.Reject;
import io.rdma4j.protocol.ibcm.CmMessage.Reply;
import io.rdma4j.protocol.ibcm.CmMessage.Request;
import io.rdma4j.protocol.ibcm.CmMessage.ServiceReply;
import io.rdma4j.protocol.ibcm.CmMessage.ServiceRequest;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.Mtu;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/** Where each field of a message stands, and how much of it: the tables of IBTA 12.6 and 12.11. */
class MessageFieldsTest {
    private static final Gid ADDRESS = new Gid(0x2001_0db8_0000_0001L, 0x1234_5678_9abc_def0L);

    // ---------------------------------------------------------------- as much as a field can hold

    /** {@return each message with all bits of its fields set, or none} */
    private static List<CmMessage> extremes(boolean isFull) {
        int bits = isFull ? -1 : 0;
        int bits24 = bits & 0xffffff;
        int bits16 = bits & 0xffff;
        int bits8 = bits & 0xff;
        Gid address = isFull ? new Gid(-1, -1) : Gid.ZERO;
        PathRecord path = new PathRecord(bits16, bits16, address, address, bits & 0xfffff,
                bits & 0xfff, bits8, bits8, bits8, bits8);
        return List.of(
                new Request(bits, bits, bits, bits, bits24, bits8, bits8, bits & 31, bits & 3,
                        isFull, bits24, bits & 31, bits & 7, bits16, bits & 15, bits & 7,
                        bits & 15, isFull, path, path, data(92, isFull)),
                new Reply(bits, bits, bits, bits24, bits24, bits8, bits8, bits & 31, bits & 3,
                        isFull, bits & 7, isFull, bits, data(196, isFull)),
                new ReadyToUse(bits, bits, data(224, isFull)),
                new Reject(bits, bits, bits & 3, bits16, data(72, isFull), bits & 127,
                        data(148, isFull)),
                new MessageReceipt(bits, bits, bits & 3, bits & 31, data(222, isFull)),
                new DisconnectRequest(bits, bits, bits24, data(220, isFull)),
                new DisconnectReply(bits, bits, data(224, isFull)),
                new LoadAlternatePath(bits, bits),
                new AlternatePathResponse(bits, bits, bits8),
                new ServiceRequest(bits, bits16, bits, data(216, isFull)),
                new ServiceReply(bits, bits8, data(72, isFull), bits8, bits24, bits, bits,
                        data(136, isFull)));
    }

    private static PrivateData data(int length, boolean isFull) {
        byte[] bytes = new byte[length];
        Arrays.fill(bytes, (byte) (isFull ? -1 : 0));
        return PrivateData.of(bytes);
    }

    private static Stream<CmMessage> extremes() {
        return Stream.of(true, false).flatMap(isFull -> extremes(isFull).stream());
    }

    @ParameterizedTest
    @MethodSource("extremes")
    void whatFitsIntoTheFieldsIsReadAsItWasWritten(CmMessage message) {
        ByteBuffer mad = ByteBuffer.allocate(IbConnectionManager.MESSAGE_LENGTH);
        CmMessage.encode(-1, message, mad);
        assertThat(CmMessage.decode(mad.flip())).isEqualTo(new CmMessage.Received(-1, message));
    }

    /** The host may have used the buffer before. */
    @ParameterizedTest
    @MethodSource("extremes")
    void everyByteOfADatagramIsWritten(CmMessage message) {
        byte[] fresh = new byte[IbConnectionManager.MESSAGE_LENGTH];
        byte[] used = new byte[IbConnectionManager.MESSAGE_LENGTH];
        Arrays.fill(used, (byte) 0x5a);
        for (byte[] bytes : List.of(fresh, used)) {
            ByteBuffer mad = ByteBuffer.wrap(bytes);
            CmMessage.encode(1, message, mad);
            assertThat(mad.remaining()).isZero();
        }
        assertThat(used).isEqualTo(fresh);
    }

    // ---------------------------------------------------------------- fields that share a byte

    /** {@return the byte of a message at an offset of its table} */
    private static int at(int offset, CmMessage message) {
        ByteBuffer mad = ByteBuffer.allocate(IbConnectionManager.MESSAGE_LENGTH);
        CmMessage.encode(1, message, mad);
        return mad.get(Mad.HEADER_LENGTH + offset) & 0xff;
    }

    /** {@return what a message is with another byte at an offset of its table} */
    private static CmMessage with(int offset, int value, CmMessage message) {
        ByteBuffer mad = ByteBuffer.allocate(IbConnectionManager.MESSAGE_LENGTH);
        CmMessage.encode(1, message, mad);
        mad.put(Mad.HEADER_LENGTH + offset, (byte) value);
        return Objects.requireNonNull(CmMessage.decode(mad.flip())).message();
    }

    private static Request request(int remoteResponseTimeout, int transportType,
            boolean flowControl, int pathMtu, int rnrRetryCount, int maxRetries,
            boolean sharedReceiveQueue) {
        return new Request(1, 2, 3, 4, 5, 6, 7, remoteResponseTimeout, transportType, flowControl,
                8, 9, 1, 0xffff, pathMtu, rnrRetryCount, maxRetries, sharedReceiveQueue,
                PathRecord.NONE, PathRecord.NONE, PrivateData.NONE);
    }

    @ParameterizedTest
    @CsvSource({"31, 0, false, 0xf8", "0, 3, false, 0x06", "0, 0, true, 0x01",
        "18, 1, true, 0x93"})
    void responseTimeoutTransportAndFlowControlOfARequestShareAByte(int timeout, int transport,
            boolean flowControl, int expected) {
        assertThat(at(43, request(timeout, transport, flowControl, 5, 0, 0, false)))
                .isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({"5, 7, 0, false, 0x57, 0x00", "1, 0, 15, false, 0x10, 0xf0",
        "3, 6, 0, true, 0x36, 0x08"})
    void retriesOfARequestShareBytesWithPathMtuAndReceiveQueue(int mtu, int rnrRetries, int retries,
            boolean sharedReceiveQueue, int byte50, int byte51) {
        Request request = request(0, 0, false, mtu, rnrRetries, retries, sharedReceiveQueue);
        assertThat(at(50, request)).isEqualTo(byte50);
        assertThat(at(51, request)).isEqualTo(byte51);
    }

    @Test
    void flagsOfARequestAreOneBitEach() {
        Request none = request(0, 0, false, 5, 0, 0, false);
        assertThat(((Request) with(43, 0xfe, none)).flowControl()).isFalse();
        assertThat(((Request) with(43, 0x01, none)).flowControl()).isTrue();
        assertThat(((Request) with(51, 0xf7, none)).sharedReceiveQueue()).isFalse();
        assertThat(((Request) with(51, 0x08, none)).sharedReceiveQueue()).isTrue();
    }

    @Test
    void partitionOfARequestIsSixteenBits() {
        Request usual = request(0, 0, false, 5, 0, 0, false);
        assertThat(((Request) with(48, 0x7f, usual)).pkey()).isEqualTo(0x7fff);
        assertThat(((Request) with(49, 0x01, usual)).pkey()).isEqualTo(0xff01);
    }

    private static Reply reply(int targetAckDelay, int failoverAccepted, boolean flowControl,
            int rnrRetryCount, boolean sharedReceiveQueue) {
        return new Reply(1, 2, 3, 4, 5, 6, 7, targetAckDelay, failoverAccepted, flowControl,
                rnrRetryCount, sharedReceiveQueue, 8, PrivateData.NONE);
    }

    @ParameterizedTest
    @CsvSource({"31, 0, false, 0, false, 0xf8, 0x00", "0, 3, false, 7, false, 0x06, 0xe0",
        "0, 0, true, 0, true, 0x01, 0x10", "15, 1, true, 5, true, 0x7b, 0xb0"})
    void delayFailoverFlagsAndRetriesOfAReplyShareTwoBytes(int delay, int failover,
            boolean flowControl, int rnrRetries, boolean sharedReceiveQueue, int byte26,
            int byte27) {
        Reply reply = reply(delay, failover, flowControl, rnrRetries, sharedReceiveQueue);
        assertThat(at(26, reply)).isEqualTo(byte26);
        assertThat(at(27, reply)).isEqualTo(byte27);
    }

    @Test
    void flagsOfAReplyAreOneBitEach() {
        Reply none = reply(0, 0, false, 0, false);
        assertThat(((Reply) with(26, 0xfe, none)).flowControl()).isFalse();
        assertThat(((Reply) with(26, 0x01, none)).flowControl()).isTrue();
        assertThat(((Reply) with(27, 0xef, none)).sharedReceiveQueue()).isFalse();
        assertThat(((Reply) with(27, 0x10, none)).sharedReceiveQueue()).isTrue();
    }

    /** In front of it is the length of information that follows. */
    @Test
    void statusOfAnAnswerToAPathIsOneByte() {
        AlternatePathResponse response = new AlternatePathResponse(1, 2, 3);
        assertThat(at(8, response)).isZero();
        assertThat(at(9, response)).isEqualTo(3);
        assertThat(with(8, 0xff, response)).isEqualTo(response);
    }

    @ParameterizedTest
    @CsvSource({"0, 0, 0x00, 0x00", "1, 72, 0x40, 0x90", "2, 1, 0x80, 0x02", "3, 127, 0xc0, 0xfe"})
    void whatIsRejectedAndTheLengthOfTheInformationAreInTheUpperBits(int rejected, int length,
            int byte8, int byte9) {
        Reject reject = new Reject(1, 2, rejected, 28, PrivateData.NONE, length, PrivateData.NONE);
        assertThat(at(8, reject)).isEqualTo(byte8);
        assertThat(at(9, reject)).isEqualTo(byte9);
    }

    // ---------------------------------------------------------------- path MTUs

    private static @Nullable Mtu acceptable(RejectReason reason, int length, int first) {
        return new Reject(1, 2, Reject.OF_REQUEST, reason.code(),
                PrivateData.of(new byte[]{(byte) first}), length, PrivateData.NONE).acceptableMtu();
    }

    @ParameterizedTest
    @EnumSource(Mtu.class)
    void rejectionNamesThePathMtuThatWouldDo(Mtu mtu) {
        for (int reserved : new int[]{0, 0xf}) {
            assertThat(acceptable(RejectReason.INVALID_MTU, 1, mtu.code() << 4 | reserved))
                    .isEqualTo(mtu);
        }
    }

    @ParameterizedTest
    @CsvSource({"0x05", "0x00", "0x60", "0x70", "0x80", "0xf0"})
    void pathMtuThatDoesNotExistIsNone(int first) {
        assertThat(acceptable(RejectReason.INVALID_MTU, 1, first)).isNull();
    }

    /** The field of the information is there also if none of it counts. */
    @Test
    void rejectionWithoutInformationNamesNoPathMtu() {
        assertThat(acceptable(RejectReason.INVALID_MTU, 0, 0x30)).isNull();
    }

    @ParameterizedTest
    @EnumSource(value = RejectReason.class, mode = EnumSource.Mode.EXCLUDE, names = "INVALID_MTU")
    void informationOfOtherReasonsIsNoPathMtu(RejectReason reason) {
        assertThat(acceptable(reason, 1, 0x30)).isNull();
    }

    // ---------------------------------------------------------------- paths

    @Test
    void pathOfARequestStandsFieldByField() {
        ByteBuffer out = ByteBuffer.allocate(44);
        new PathRecord(0x1122, 0x3344, ADDRESS, Gid.ZERO, 0xabcde, 0x03, 0x60, 64, 0x88, 19 << 3)
                .encode(out);
        assertThat(out.flip()).isEqualTo(ByteBuffer.allocate(44).putInt(0x1122_3344)
                .putLong(ADDRESS.high()).putLong(ADDRESS.low()).putLong(0).putLong(0)
                .putInt(0xabcd_e003).putInt(0x6040_8898).flip());
    }
}
