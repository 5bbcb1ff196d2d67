// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.unreliable;

import io.rdma4j.protocol.roce.unreliable.UcSequence.Place;
import io.rdma4j.protocol.roce.wire.Psn;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Random;

import static org.assertj.core.api.Assertions.assertThat;

/** Which packets of an unreliable connection are taken, whatever numbers come. */
class UcSequenceTest {
    private static final int ROUND = Psn.MASK + 1;

    private final UcSequence sequence = new UcSequence();

    UcSequenceTest() {
        sequence.start(1000);
    }

    /** {@return whether a packet is taken} */
    private boolean takes(long psn) {
        Place place = sequence.place(Psn.wrap(psn));
        return place == Place.NEXT || place == Place.AHEAD;
    }

    @Test
    void packetsInOrderAreTakenAllTheWayRound() {
        for (long psn = 1000; psn < 1000 + ROUND + 10L; psn++) {
            assertThat(sequence.place(Psn.wrap(psn))).isEqualTo(Place.NEXT);
        }
    }

    // [IBTA 9.8.2-2]
    @Test
    void packetBehindAGapIsTakenAndThoseBeforeItAreLate() {
        assertThat(sequence.place(1003)).isEqualTo(Place.AHEAD);
        for (int late : new int[]{1000, 1001, 1002, 1003}) {
            assertThat(sequence.place(late)).isEqualTo(Place.OLD);
        }
        assertThat(sequence.place(1004)).isEqualTo(Place.NEXT);
    }

    @ParameterizedTest
    @ValueSource(ints = {UcSequence.NEAR + 1, 100_000, 1 << 22, (1 << 23) - 1, 1 << 23,
        ROUND - UcSequence.RECENT - 1})
    void onePacketFarOffIsDroppedAndTheNextIsExpectedAsBefore(int distance) {
        assertThat(sequence.place(Psn.wrap(1000L + distance))).isEqualTo(Place.STRAY);
        assertThat(sequence.expected()).isEqualTo(1000);
        assertThat(sequence.place(1000)).isEqualTo(Place.NEXT);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, UcSequence.NEAR})
    void onePacketNearAheadCostsNoMoreThanIsBetween(int distance) {
        assertThat(takes(1000 + distance)).isTrue();
        long psn = 1000;
        while (!takes(psn)) {
            psn++;
        }
        assertThat(psn).isEqualTo(1001 + distance);
    }

    @ParameterizedTest
    @ValueSource(ints = {UcSequence.NEAR + 1, 1 << 22, 1 << 23, ROUND - UcSequence.RECENT - 100})
    void senderThatHasGoneOnFarOffIsHeardAfterFourPackets(int distance) {
        for (int i = 0; i < UcSequence.NEEDED - 1; i++) {
            assertThat(takes(1000L + distance + i)).isFalse();
        }
        assertThat(takes(1000L + distance + UcSequence.NEEDED - 1)).isTrue();
        assertThat(takes(1000L + distance + UcSequence.NEEDED)).isTrue();
    }

    @Test
    void lossAndCopiesThereDoNotKeepASenderFarOffFromBeingHeard() {
        long far = 1000 + 500_000;
        for (long psn : new long[]{far, far, far + 7, far + 3, far + 7, far + 900}) {
            assertThat(takes(psn)).isFalse();
        }
        assertThat(takes(far + 901)).isTrue();
    }

    @Test
    void copiesOfOnePacketFarOffConfirmNothing() {
        for (int i = 0; i < 100; i++) {
            assertThat(takes(500_000)).isFalse();
        }
        assertThat(takes(1000)).isTrue();
    }

    @Test
    void packetsFarOffAmongThoseThatAreExpectedConfirmNothing() {
        for (int i = 0; i < 100; i++) {
            assertThat(takes(500_000 + i)).isFalse();
            assertThat(takes(1000 + i)).isTrue();
        }
    }

    @Test
    void packetsFarOffEachElsewhereConfirmNothing() {
        Random random = new Random(1);
        for (int i = 0; i < 100; i++) {
            assertThat(takes(1000 + 100_000L * (1 + i % 2) + random.nextInt(1000) * 10_000L))
                    .isFalse();
        }
    }

    @Test
    void copiesOfEverythingRecentInAnyOrderAreNotTakenAgain() {
        for (int psn = 1000; psn < 6000; psn++) {
            assertThat(takes(psn)).isTrue();
        }
        List<Integer> copies = new ArrayList<>();
        for (int psn = 1000; psn < 6000; psn++) {
            copies.add(psn);
        }
        for (int psn : copies) {
            assertThat(sequence.place(psn)).isEqualTo(Place.OLD);
        }
        Collections.shuffle(copies, new Random(2));
        for (int psn : copies) {
            assertThat(sequence.place(psn)).isEqualTo(Place.OLD);
        }
        assertThat(sequence.place(6000)).isEqualTo(Place.NEXT);
    }

    @Test
    void oldestCopyIsStillKnown() {
        sequence.start(UcSequence.RECENT + 10L);
        for (int psn = 10; psn < 20; psn++) {
            assertThat(sequence.place(psn)).isEqualTo(Place.OLD);
        }
    }

    /** Loss, copies and overtaking within what a network holds back. */
    @Test
    void nothingIsTakenTwiceOrOutOfOrderWhateverANetworkDoes() {
        for (int seed = 0; seed < 200; seed++) {
            Random random = new Random(seed);
            UcSequence fresh = new UcSequence();
            long first = random.nextInt(ROUND);
            fresh.start(first);
            List<Arrival> arrivals = new ArrayList<>();
            for (int i = 0; i < 3000; i++) {
                for (int copies = random.nextInt(4); copies > 0; copies--) {
                    arrivals.add(new Arrival(first + i, i + random.nextInt(500)));
                }
            }
            arrivals.sort(Comparator.comparingInt(Arrival::time));
            long last = first - 1;
            for (Arrival arrival : arrivals) {
                Place place = fresh.place(Psn.wrap(arrival.psn));
                if (place == Place.NEXT || place == Place.AHEAD) {
                    assertThat(arrival.psn).as("seed %d", seed).isGreaterThan(last);
                    last = arrival.psn;
                }
            }
            assertThat(last).isGreaterThan(first + 2900);
        }
    }

    private record Arrival(long psn, int time) {}
}
