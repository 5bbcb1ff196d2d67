// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.protocol;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.nio.ByteOrder;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** What a stream says of itself, and what it leaves undone, step by step. */
class RsocketStreamTest {
    private static final StreamSettings SETTINGS = new StreamSettings(16, 16, 64, 8192, 8192, 2,
            true);
    private static final int LARGE = 1 << 20;
    /** Longer than what is sent inline. */
    private static final int COPIED = 100;

    private final SimulatedPair pair = new SimulatedPair(SETTINGS, SETTINGS);
    private final RsocketStream first = pair.first.stream;
    private final RsocketStream second = pair.second.stream;
    private final Transmission out = new Transmission();

    @Test
    void receiveBufferOfAnotherSizeIsRefused() {
        ConnectionData peer = RsocketStream.connectionData(SETTINGS, new RemoteRange(0, 1, 0),
                new RemoteRange(0, 1, 8192));
        assertThatThrownBy(() -> new RsocketStream(SETTINGS, new RemoteRange(0, 1, 8190), peer))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("a receive buffer of 8190 bytes was to have 8192");
    }

    // ---------------------------------------------------------------- how much leaves

    /** Without immediate data messages that need no credit take receives as well, so four of sixteen credits are left for them. */
    @ParameterizedTest
    @CsvSource({"true, 16, 16", "false, 16, 12", "true, 8, 8", "false, 8, 8"})
    void creditsAreKeptForMessagesThatNeedNone(boolean hasImmediates, int credits, int sent) {
        StreamSettings own = new StreamSettings(128, 64, 64, LARGE, 8192, 0, hasImmediates);
        assertThat(messagesUntilFull(own, credits)).isEqualTo(sent);
    }

    /** Four requests are left for messages that need no credit. */
    @ParameterizedTest
    @CsvSource({"true, 12", "false, 4"})
    void noMoreMessagesLeaveThanTheSendQueueHasRoomFor(boolean hasImmediates, int sent) {
        StreamSettings own = new StreamSettings(16, 64, 64, LARGE, 8192, 0, hasImmediates);
        assertThat(messagesUntilFull(own, 64)).isEqualTo(sent);
    }

    private int messagesUntilFull(StreamSettings own, int credits) {
        RsocketStream stream = new RsocketStream(own, new RemoteRange(1 << 20, 5, 8192),
                new ConnectionData(ByteOrder.LITTLE_ENDIAN, credits, 0, new RemoteRange(0, 1, 2),
                        new RemoteRange(8 << 20, 2, LARGE)));
        int count = 0;
        while (true) {
            stream.startWrite();
            int bytes = stream.writable(16 << 10);
            if (bytes == 0) {
                return count;
            }
            assertThat(stream.write(bytes, false, out)).isTrue();
            count++;
        }
    }

    @Test
    void bytesAreInlineWhileTheyAreFewAndNothingIsBeforeThem() {
        assertThat(first.isInline(64)).isTrue();
        assertThat(first.isInline(65)).isFalse();
        pair.first.write(1);
        assertThat(first.isInline(64)).isTrue();
        pair.first.write(1);
        // From now on they are gathered.
        assertThat(first.isInline(1)).isFalse();
    }

    @Test
    void figuresCountWhatLeavesAndWhatComes() throws RsocketException {
        pair.first.write(COPIED);
        assertThat(first.unacknowledged()).isEqualTo(COPIED);
        assertThat(first.figures().sentBytes()).isEqualTo(COPIED);
        assertThat(first.figures().sendCredits()).isEqualTo(15);
        assertThat(first.figures().sendRoom()).isEqualTo(4096 - COPIED);
        pair.settle(false);
        assertThat(first.unacknowledged()).isZero();
        StreamFigures received = second.figures();
        assertThat(received.readable()).isEqualTo(COPIED);
        assertThat(received.receivedBytes()).isEqualTo(COPIED);
        assertThat(received.receiveCredits()).isEqualTo(15);
        // The second half was given at once.
        assertThat(received.receiveRoom()).isEqualTo(8192 - COPIED);
        assertThat(received.receiveBuffer()).isEqualTo(8192);
        assertThat(received.sendBuffer()).isEqualTo(8192);
        pair.second.enlargeInput(16_384);
        pair.second.enlargeOutput(32_768);
        assertThat(second.figures().receiveBuffer()).isEqualTo(16_384);
        assertThat(second.figures().sendBuffer()).isEqualTo(32_768);
        assertThat(second.isWritingLarger()).isTrue();
    }

    // ---------------------------------------------------------------- the end

    @Test
    void whatHasComeIsDroppedWithTheInput() throws RsocketException {
        pair.second.write(COPIED);
        pair.settle(false);
        assertThat(first.readable()).isEqualTo(COPIED);
        first.shutdownInput();
        assertThat(first.readable()).isZero();
        assertThat(first.isInputEnded()).isTrue();
        assertThat(first.isOutputEnded()).isFalse();
    }

    @Test
    void streamIsNotDrainedWhileAnEndIsDueOrOnItsWay() throws RsocketException {
        assertThat(first.isDrained()).isTrue();
        first.shutdownOutput();
        assertThat(first.isDrained()).isFalse();
        pair.first.transmit();
        assertThat(first.isDrained()).isFalse();
        pair.settle(false);
        assertThat(first.isDrained()).isTrue();
        second.disconnect();
        assertThat(second.isDrained()).isFalse();
    }

    @Test
    void streamIsNotDrainedWhileBytesAreOnTheirWay() throws RsocketException {
        pair.first.write(COPIED);
        assertThat(first.isDrained()).isFalse();
        pair.settle(true);
        assertThat(first.isDrained()).isTrue();
    }

    @Test
    void oneEndOfTheOutputIsNoEndOfTheConnection() throws RsocketException {
        first.shutdownOutput();
        pair.first.transmit();
        pair.settle(true);
        assertThat(first.isEndAcknowledged()).isFalse();
        assertThat(first.isDisconnected()).isFalse();
        assertThat(second.isDisconnected()).isFalse();
        assertThat(second.hasPeerDisconnected()).isFalse();
        // Said once.
        first.shutdownOutput();
        assertThat(first.pollTransmit(out)).isFalse();
    }

    @Test
    void disconnectIsSaidThoughThePeersShutdownCameBefore() throws RsocketException {
        first.disconnect();
        second.shutdownOutput();
        pair.second.transmit();
        while (pair.second.deliver()) {
            pair.first.process();
        }
        assertThat(first.isDisconnected()).isFalse();
        pair.settle(true);
        assertThat(second.hasPeerDisconnected()).isTrue();
    }

    @Test
    void disconnectThatIsOnItsWayIsWaitedFor() throws RsocketException {
        first.disconnect();
        pair.first.transmit();
        second.shutdownOutput();
        pair.second.transmit();
        while (pair.second.deliver()) {
            pair.first.process();
        }
        assertThat(first.isDisconnected()).isFalse();
        assertThat(first.isEndAcknowledged()).isFalse();
        pair.settle(true);
        assertThat(first.isDisconnected()).isTrue();
        assertThat(first.isEndAcknowledged()).isTrue();
    }

    @Test
    void nothingFollowsADisconnect() {
        first.disconnect();
        pair.first.transmit();
        first.probe();
        assertThat(first.pollTransmit(out)).isFalse();
    }

    @Test
    void connectionThatEndsWhileADisconnectIsOnItsWayWasNotReset() {
        first.disconnect();
        pair.first.transmit();
        first.onConnectionEnded();
        assertThat(first.wasReset()).isFalse();
    }

    @Test
    void textSaysWhichDirectionsHaveEnded() {
        assertThat(first).hasToString("stream of " + SETTINGS);
        first.shutdownOutput();
        assertThat(first).hasToString("stream of " + SETTINGS + ", output ended");
        second.shutdownInput();
        assertThat(second).hasToString("stream of " + SETTINGS + ", input ended");
        first.onConnectionEnded();
        assertThat(first).hasToString(
                "stream of " + SETTINGS + ", disconnected, output ended, input ended");
    }

    // ---------------------------------------------------------------- mappings

    private static Mapping mapping(long offset) {
        return new Mapping(offset, new RemoteRange(1, 7, 4096));
    }

    @Test
    void mappingsTakePlacesOfThePeersTable() {
        assertThat(first.mappingsOfPeer()).isEqualTo(2);
        assertThat(first.map(mapping(0))).isZero();
        assertThat(first.map(mapping(4096))).isOne();
        assertThat(first.map(mapping(8192))).isEqualTo(-1);
    }

    @Test
    void mappingThatIsGoneBeforeItWasSentIsNotSent() throws RsocketException {
        first.map(mapping(0));
        first.map(mapping(4096));
        first.unmap(0);
        pair.first.transmit();
        pair.settle(true);
        assertThat(second.mapping(0)).isNull();
        assertThat(second.mapping(4096)).isNotNull();
    }

    /** So that the peer knows the mapping before the bytes that follow it. */
    @Test
    void nothingIsWrittenBeforeAMappingIsSent() {
        first.map(mapping(0));
        assertThat(first.writable(1)).isZero();
        assertThat(first.isRoomy()).isFalse();
        pair.first.transmit();
        assertThat(first.writable(1)).isOne();
        assertThat(first.isRoomy()).isTrue();
    }

    @Test
    void mappedMemoryTakesBytesWhileNoneAreGatheredAndTheOutputIsOpen() throws RsocketException {
        pair.second.map(0);
        pair.settle(true);
        Mapping to = first.mapping(0);
        assertThat(to).isNotNull();
        assertThat(first.hasMappedRoom()).isTrue();
        assertThat(first.mappedWritable(to, 4000, 200)).isEqualTo(96);
        assertThat(first.mappedWritable(to, 0, 200)).isEqualTo(200);
        pair.first.writeMapped(0, new byte[COPIED]);
        assertThat(first.figures().mappedBytes()).isEqualTo(COPIED);
        assertThat(first.figures().sentBytes()).isZero();
        pair.first.write(COPIED);
        pair.first.write(COPIED);
        assertThat(first.isGathering()).isTrue();
        assertThat(first.hasMappedRoom()).isFalse();
        pair.settle(true);
        assertThat(first.hasMappedRoom()).isTrue();
        first.shutdownOutput();
        assertThat(first.hasMappedRoom()).isFalse();
        assertThat(first.mappedWritable(to, 0, 1)).isZero();
    }

    /** Each takes a request of the queue, and part of the buffer. */
    @Test
    void mappedMemoryTakesNoMoreThanTheSendQueueAndItsBufferHaveRoomFor() throws RsocketException {
        pair.second.map(0);
        pair.settle(true);
        for (int i = 0; i < 12; i++) {
            assertThat(pair.first.writeMapped(0, new byte[COPIED])).isTrue();
        }
        assertThat(first.hasMappedRoom()).isFalse();
        pair.settle(true);
        assertThat(pair.first.writeMapped(0, new byte[4096])).isTrue();
        assertThat(pair.first.writeMapped(0, new byte[2048])).isTrue();
        assertThat(first.hasMappedRoom()).isTrue();
        assertThat(pair.first.writeMapped(0, new byte[1])).isTrue();
        // What is left of the send buffer is too little to be worth a message.
        assertThat(first.hasMappedRoom()).isFalse();
    }
}
