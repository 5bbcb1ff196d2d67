// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.protocol;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** How streams end, and mappings. */
class StreamEndTest {
    private static final StreamSettings SETTINGS = new StreamSettings(16, 16, 64, 8192, 8192, 2,
            true);
    private final SimulatedPair pair = new SimulatedPair(SETTINGS, SETTINGS);
    private final RsocketStream first = pair.first.stream;
    private final RsocketStream second = pair.second.stream;

    @Test
    void halfClosedStreamGoesOnInTheOtherDirection() throws RsocketException {
        pair.first.write(100);
        first.shutdownOutput();
        pair.first.transmit();
        pair.settle(false);
        assertThat(second.isInputEnded()).isTrue();
        assertThat(second.readable()).isEqualTo(100);
        assertThat(second.isOutputEnded()).isFalse();
        assertThat(first.writable(1)).isZero();
        pair.second.write(50_000);
        pair.settle(true);
        assertThat(pair.second.bytesWritten).isPositive();
        assertThat(pair.first.bytesRead).isEqualTo(pair.second.bytesWritten);
        second.shutdownOutput();
        pair.second.transmit();
        pair.settle(true);
        assertThat(first.isDisconnected()).isTrue();
        assertThat(second.isDisconnected()).isTrue();
    }

    @Test
    void bothMayEndTheirOutputAtOnce() throws RsocketException {
        first.shutdownOutput();
        second.shutdownOutput();
        pair.first.transmit();
        pair.second.transmit();
        assertThat(first.isEndAcknowledged()).isFalse();
        pair.settle(true);
        assertThat(first.isDisconnected()).isTrue();
        assertThat(second.isDisconnected()).isTrue();
        assertThat(first.isDrained()).isTrue();
        // Neither waits for a DISCONNECT, which nobody sends.
        assertThat(first.isEndAcknowledged()).isTrue();
        assertThat(second.isEndAcknowledged()).isTrue();
    }

    @Test
    void endIsToldOnceTheShutdownThatCrossedThePeersIsAcknowledged() throws RsocketException {
        first.shutdownOutput();
        second.shutdownOutput();
        pair.first.transmit();
        pair.second.transmit();
        while (pair.second.deliver()) {
            pair.first.process();
        }
        assertThat(first.isDisconnected()).isTrue();
        assertThat(first.isEndAcknowledged()).isFalse();
        pair.settle(true);
        assertThat(first.isEndAcknowledged()).isTrue();
    }

    @Test
    void endThatFoundNoRoomIsSaidEvenIfThePeerEndsMeanwhile() throws RsocketException {
        // The probes and the credits of the beginning take all the room of messages without credit.
        for (int i = 0; i < StreamSettings.CONTROLS; i++) {
            first.probe();
            pair.first.transmit();
        }
        first.shutdownOutput();
        assertThat(first.pollTransmit(new Transmission())).isFalse();
        second.shutdownOutput();
        pair.second.transmit();
        pair.second.process();
        while (pair.second.deliver()) {
            pair.first.process();
        }
        assertThat(first.isInputEnded()).isTrue();
        assertThat(first.isDrained()).isFalse();
        pair.settle(true);
        assertThat(second.isInputEnded()).isTrue();
        assertThat(second.isDisconnected()).isTrue();
        assertThat(first.isDisconnected()).isTrue();
    }

    @Test
    void bytesThatNobodyReadsDoNotStallThePeer() throws RsocketException {
        first.shutdownInput();
        pair.settle(false);
        for (int i = 0; i < 100; i++) {
            assertThat(pair.second.write(1000)).isPositive();
            pair.settle(false);
        }
        assertThat(first.readable()).isZero();
        assertThat(pair.second.stream.isOutputEnded()).isFalse();
    }

    @Test
    void connectionThatEndsWithoutAWordWasReset() {
        first.onConnectionEnded();
        assertThat(first.wasReset()).isTrue();
        assertThat(first.isInputEnded()).isTrue();
        assertThat(first.isOutputEnded()).isTrue();
        assertThat(first.pollTransmit(new Transmission())).isFalse();
    }

    @Test
    void connectionThatEndsAfterAWordWasNotReset() throws RsocketException {
        second.disconnect();
        pair.second.transmit();
        pair.settle(true);
        first.onConnectionEnded();
        second.onConnectionEnded();
        assertThat(first.wasReset()).isFalse();
        assertThat(second.wasReset()).isFalse();
    }

    /** A send may fail because the peer has closed, before its last messages are looked at. */
    @Test
    void whatThePeerSentBeforeItLeftCounts() throws RsocketException {
        pair.second.write(10);
        second.disconnect();
        pair.second.transmit();
        first.onConnectionEnded();
        assertThat(first.wasReset()).isTrue();
        while (pair.second.deliver()) {
            pair.first.process();
        }
        assertThat(first.wasReset()).isFalse();
        assertThat(first.hasPeerDisconnected()).isTrue();
        assertThat(pair.first.read(100)).isEqualTo(10);
        assertThat(first.isInputEnded()).isTrue();
    }

    @Test
    void mappedMemoryIsWrittenWithoutAMessage() throws RsocketException {
        assertThat(pair.second.map(1 << 20)).isTrue();
        assertThat(first.mapping(1 << 20)).isNull();
        pair.settle(true);
        int least = pair.second.leastReceives;
        assertThat(pair.first.writeMapped((1 << 20) + 4000, new byte[]{1, 2, 3})).isTrue();
        pair.settle(true);
        assertThat(pair.second.exposed[4001]).isEqualTo((byte) 2);
        assertThat(pair.second.leastReceives).isEqualTo(least);
        assertThat(first.mapping((1 << 20) + 4096)).isNull();
        assertThat(first.mapping((1 << 20) - 1)).isNull();
        Mapping to = first.mapping(1 << 20);
        assertThat(to).isNotNull();
        assertThat(first.mappedWritable(to, (1 << 20) + 4090, 100)).isEqualTo(6);
    }

    @Test
    void moreMappingsThanThePeerKeepsAreRefused() {
        assertThat(pair.second.map(0)).isTrue();
        assertThat(pair.second.map(4096)).isTrue();
        assertThat(pair.second.map(8192)).isFalse();
        second.unmap(0);
        assertThat(pair.second.map(8192)).isTrue();
    }
}
