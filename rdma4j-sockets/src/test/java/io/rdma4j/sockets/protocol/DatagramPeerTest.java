// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.protocol;

import org.junit.jupiter.api.Test;

import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/** Which way a datagram takes. */
class DatagramPeerTest {
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    private final DatagramPeer peer = new DatagramPeer();

    private static Introduction introduction(int number) {
        return new Introduction(false, number);
    }

    @Test
    void unknownPeerIsIntroducedToEachTime() {
        for (int i = 0; i < 3; i++) {
            assertThat(peer.takesIntroduction(i)).isTrue();
        }
        assertThat(peer.isKnown()).isFalse();
    }

    @Test
    void knownPeerIsReachedOverRdma() {
        peer.onIntroduction(introduction(7), 5);
        assertThat(peer.queuePairNumber()).isEqualTo(7);
        assertThat(peer.takesIntroduction(5)).isFalse();
        assertThat(peer.takesIntroduction(4 + SECOND)).isFalse();
    }

    @Test
    void silentPeerIsAskedOnceInASecond() {
        peer.onIntroduction(introduction(7), 0);
        assertThat(peer.takesIntroduction(SECOND)).isTrue();
        assertThat(peer.takesIntroduction(SECOND + 1)).isFalse();
        assertThat(peer.takesIntroduction(2 * SECOND)).isTrue();
    }

    @Test
    void peerThatSendsIsNotAsked() {
        peer.onIntroduction(introduction(7), 0);
        peer.onDatagram(SECOND - 1);
        assertThat(peer.takesIntroduction(SECOND)).isFalse();
        assertThat(peer.takesIntroduction(2 * SECOND - 1)).isTrue();
    }

    @Test
    void anotherProgramAtThePortHasAnotherQueuePair() {
        peer.onIntroduction(introduction(7), 0);
        peer.onIntroduction(introduction(9), 1);
        assertThat(peer.queuePairNumber()).isEqualTo(9);
    }
}
