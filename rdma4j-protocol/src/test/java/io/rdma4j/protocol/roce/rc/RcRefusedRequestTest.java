// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.rc;

import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.FlushPlacement;
import io.rdma4j.verbs.FlushSelectivity;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

/**
 * Requests that a responder may not carry out: the queue pair or the memory does not allow them, or they are not what the
 * standard lets a requester send. IBTA 9.7.4.1, annex A19.
 */
class RcRefusedRequestTest {
    private static final int MTU = 1024;
    private static final int KEY = 3;
    private static final String INVALID = "NAK_INVALID_REQUEST 0, !REQUEST_ERROR, >ERR";
    private static final String ACCESS = "NAK_REMOTE_ACCESS 0, !ACCESS_ERROR, >ERR";
    private static final String ANSWERED = "READ_RESPONSE_ONLY 0";

    private final RcPair.Settings settings = new RcPair.Settings();
    private final MemorySegment other = Arena.ofAuto().allocate(64, 64);

    private RcPair pair() {
        settings.firstPsn = 100;
        RcPair pair = new RcPair(settings);
        pair.a.isStopped = true;
        return pair;
    }

    private static String effects(RcPair pair, OutgoingPacket packet) {
        return Effects.of(pair.b, () -> pair.wire.deliver(pair.b, packet));
    }

    // ---------------------------------------------------------------- rights

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "RC_WRITE_FIRST   | REMOTE_WRITE  | writes, ACK 0",
        "RC_WRITE_ONLY    | REMOTE_WRITE  | writes, ACK 0",
        "RC_READ_REQUEST  | REMOTE_READ   | READ_RESPONSE_ONLY 0",
        "RC_COMPARE_SWAP  | REMOTE_ATOMIC | ATOMIC_ACKNOWLEDGE 0",
        "RC_FETCH_ADD     | REMOTE_ATOMIC | writes, ATOMIC_ACKNOWLEDGE 0",
        "RC_ATOMIC_WRITE  | REMOTE_WRITE  | writes, READ_RESPONSE_ONLY 0"})
    void bothTheQueuePairAndTheMemoryHaveToAllowIt(Opcode opcode, AccessFlag needed,
            String allowed) {
        Set<AccessFlag> all = settings.access;
        settings.access = EnumSet.of(needed);
        RcPair pair = pair();
        assertThat(effects(pair, request(pair, opcode, pair.b.key, pair.b.address)))
                .isEqualTo(allowed);

        pair = pair();
        pair.b.regions.register(KEY, 0, other, EnumSet.complementOf(EnumSet.of(needed)));
        assertThat(effects(pair, request(pair, opcode, KEY, 0))).isEqualTo(ACCESS);

        settings.access = EnumSet.copyOf(all);
        settings.access.remove(needed);
        pair = pair();
        assertThat(effects(pair, request(pair, opcode, pair.b.key, pair.b.address)))
                .isEqualTo(ACCESS);
    }

    private static OutgoingPacket request(RcPair pair, Opcode opcode, int key, long address) {
        OutgoingPacket packet = pair.a.forge(opcode, 0);
        return switch (opcode.kind()) {
            case WRITE -> {
                int length = opcode.isEnd() ? 40 : MTU;
                packet.rdma(address + (key == KEY ? 0 : RcEnd.UPPER), key,
                        opcode.isEnd() ? length : length + 1).addPayload(pair.a.memory, 0, length);
                yield packet;
            }
            case READ_REQUEST -> packet.rdma(address, key, 40);
            case COMPARE_SWAP, FETCH_ADD -> packet.atomic(address, key, 1, 0);
            case ATOMIC_WRITE -> {
                packet.rdma(address, key, Long.BYTES).addPayload(pair.a.memory, 0, Long.BYTES);
                yield packet;
            }
            case SEND, FLUSH, READ_RESPONSE, ACKNOWLEDGE, ATOMIC_ACKNOWLEDGE,
                    CONGESTION_NOTIFICATION ->
                throw new IllegalArgumentException(opcode.name());
        };
    }

    // [IBTA 9.7.4-4]
    @Test
    void requestsWithoutBytesNeedTheRightOfTheQueuePairAlone() {
        assertThat(effects(pair(), pair().a.forge(Opcode.RC_READ_REQUEST, 0).rdma(0, 0, 0)))
                .isEqualTo(ANSWERED);
        settings.access = EnumSet.noneOf(AccessFlag.class);
        assertThat(effects(pair(), pair().a.forge(Opcode.RC_READ_REQUEST, 0).rdma(0, 0, 0)))
                .isEqualTo(ACCESS);
    }

    // ---------------------------------------------------------------- FLUSH

    /** Each placement that is asked for needs its own right, of the queue pair as well as of the memory. */
    @TestFactory
    Stream<DynamicTest> flushNeedsTheRightOfEachPlacement() {
        List<DynamicTest> tests = new ArrayList<>();
        for (FlushSelectivity selectivity : FlushSelectivity.values()) {
            for (Set<FlushPlacement> asked : placements()) {
                for (Set<FlushPlacement> ofPair : placements()) {
                    for (Set<FlushPlacement> ofMemory : placements()) {
                        boolean isAllowed = ofPair.containsAll(asked)
                                && ofMemory.containsAll(asked);
                        tests.add(dynamicTest(
                                selectivity + " to " + asked + ", the queue pair allows " + ofPair
                                        + ", the memory " + ofMemory,
                                () -> assertThat(flush(selectivity.code(),
                                        FlushPlacement.bits(asked), ofPair, ofMemory))
                                        .isEqualTo(isAllowed ? ANSWERED : ACCESS)));
                    }
                }
            }
        }
        return tests.stream();
    }

    private static List<Set<FlushPlacement>> placements() {
        return List.of(EnumSet.of(FlushPlacement.GLOBAL), EnumSet.of(FlushPlacement.PERSISTENT),
                EnumSet.allOf(FlushPlacement.class));
    }

    private String flush(int selectivity, int placement, Set<FlushPlacement> ofPair,
            Set<FlushPlacement> ofMemory) {
        settings.access = rights(ofPair);
        RcPair pair = pair();
        pair.b.regions.register(KEY, 0, other, rights(ofMemory));
        return effects(pair, pair.a.forge(Opcode.RC_FLUSH, 0)
                .flush(placement | selectivity << OutgoingPacket.FLUSH_SELECTIVITY_SHIFT)
                .rdma(0, KEY, 64));
    }

    private static Set<AccessFlag> rights(Set<FlushPlacement> placements) {
        Set<AccessFlag> rights = EnumSet.noneOf(AccessFlag.class);
        for (FlushPlacement placement : placements) {
            rights.add(placement == FlushPlacement.GLOBAL
                    ? AccessFlag.FLUSH_GLOBAL
                    : AccessFlag.FLUSH_PERSISTENT);
        }
        return rights;
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3})
    void flushOfSomethingReservedIsInvalid(int selectivity) {
        Set<FlushPlacement> all = EnumSet.allOf(FlushPlacement.class);
        assertThat(flush(selectivity, FlushPlacement.bits(all), all, all)).isEqualTo(INVALID);
    }

    @ParameterizedTest
    @EnumSource(FlushSelectivity.class)
    void flushToNowhereIsInvalid(FlushSelectivity selectivity) {
        Set<FlushPlacement> all = EnumSet.allOf(FlushPlacement.class);
        assertThat(flush(selectivity.code(), 0, all, all)).isEqualTo(INVALID);
    }

    @Test
    void flushOfAWholeRegionLooksAtNoRange() {
        settings.access = EnumSet.allOf(AccessFlag.class);
        RcPair pair = pair();
        OutgoingPacket packet = pair.a.forge(Opcode.RC_FLUSH, 0).flush(
                FlushPlacement.GLOBAL.bit() | FlushSelectivity.MEMORY_REGION
                        .code() << OutgoingPacket.FLUSH_SELECTIVITY_SHIFT)
                .rdma(-1, pair.b.key, RcEnd.MEMORY + 1);
        assertThat(effects(pair, packet)).isEqualTo(ANSWERED);
    }

    // ---------------------------------------------------------------- lengths and addresses

    // [IBTA 9.4.3-3]
    @Test
    void writeLongerThanAMessageMayBeIsInvalidWhateverItsMemory() {
        RcPair pair = pair();
        assertThat(effects(pair, pair.a.forge(Opcode.RC_WRITE_FIRST, 0, MTU).rdma(pair.b.address,
                pair.b.key, RcResponder.MAX_MESSAGE + 1))).isEqualTo(INVALID);
        // The longest message there can be is refused for its memory alone.
        pair = pair();
        assertThat(effects(pair, pair.a.forge(Opcode.RC_WRITE_FIRST, 0, MTU).rdma(pair.b.address,
                pair.b.key, RcResponder.MAX_MESSAGE))).isEqualTo(ACCESS);
    }

    // [IBTA 9.4.3-3]
    @Test
    void readLongerThanAMessageMayBeIsInvalidWhateverItsMemory() {
        RcPair pair = pair();
        assertThat(effects(pair, pair.a.forge(Opcode.RC_READ_REQUEST, 0).rdma(pair.b.address,
                pair.b.key, RcResponder.MAX_MESSAGE + 1))).isEqualTo(INVALID);
        pair = pair();
        assertThat(effects(pair, pair.a.forge(Opcode.RC_READ_REQUEST, 0).rdma(pair.b.address,
                pair.b.key, RcResponder.MAX_MESSAGE))).isEqualTo(ACCESS);
    }

    /** Then nothing would be left for the last packet, which has at least one byte. */
    // [IBTA 9.4.3-2]
    @Test
    void middlePacketMayNotUseUpWhatTheWriteAnnounced() {
        RcPair pair = pair();
        assertThat(effects(pair, pair.a.forge(Opcode.RC_WRITE_FIRST, 0, MTU)
                .rdma(pair.b.address + RcEnd.UPPER, pair.b.key, 2 * MTU)))
                .isEqualTo("writes, ACK 0");
        assertThat(effects(pair, pair.a.forge(Opcode.RC_WRITE_MIDDLE, 1, MTU)))
                .isEqualTo("NAK_INVALID_REQUEST 1, !REQUEST_ERROR, >ERR");
    }

    // [IBTA 9.4.3-2]
    @Test
    void firstPacketMayNotUseUpWhatTheWriteAnnounced() {
        RcPair pair = pair();
        assertThat(effects(pair, pair.a.forge(Opcode.RC_WRITE_FIRST, 0, MTU)
                .rdma(pair.b.address + RcEnd.UPPER, pair.b.key, MTU))).isEqualTo(INVALID);
    }

    @ParameterizedTest
    @CsvSource({"7, 8", "9, 8", "16, 8", "8, 4", "8, 12", "8, 0"})
    void atomicWriteHasEightBytesAndSaysSo(int said, int payload) {
        RcPair pair = pair();
        assertThat(effects(pair, pair.a.forge(Opcode.RC_ATOMIC_WRITE, 0, payload)
                .rdma(pair.b.address, pair.b.key, said))).isEqualTo(INVALID);
    }

    /** The owner chooses the address of a region's first byte, so both may lie askew of each other. */
    // [IBTA 9.4.5-1]
    @ParameterizedTest
    @EnumSource(value = Opcode.class, names = {"RC_COMPARE_SWAP", "RC_FETCH_ADD",
        "RC_ATOMIC_WRITE"})
    void wordHasToBeAlignedByItsAddressAndInMemory(Opcode opcode) {
        RcPair pair = pair();
        pair.b.regions.register(KEY, 4, other, EnumSet.allOf(AccessFlag.class));
        assertThat(effects(pair, request(pair, opcode, KEY, 4))).isEqualTo(INVALID);
        pair = pair();
        pair.b.regions.register(KEY, 4, other, EnumSet.allOf(AccessFlag.class));
        assertThat(effects(pair, request(pair, opcode, KEY, 8))).isEqualTo(INVALID);
    }

    // ---------------------------------------------------------------- how many at once

    // [IBTA 9.7.4-5]
    @ParameterizedTest
    @CsvSource({"0, 0", "1, 1", "2, 2", "3, 4", "4, 4", "5, 8"})
    void asManyReadsAreServedAsAgreedRoundedUpToAPowerOfTwo(int agreed, int served) {
        settings.readsServed = agreed;
        RcPair pair = pair();
        pair.b.isHeldUp = true;
        for (int i = 0; i < served; i++) {
            pair.wire.deliver(pair.b, pair.a.forge(Opcode.RC_READ_REQUEST, i)
                    .rdma(pair.b.address, pair.b.key, 8));
            assertThat(pair.b.events).isEmpty();
        }
        pair.wire.deliver(pair.b, pair.a.forge(Opcode.RC_READ_REQUEST, served)
                .rdma(pair.b.address, pair.b.key, 8));
        assertThat(pair.b.events).hasSize(1);
    }
}
