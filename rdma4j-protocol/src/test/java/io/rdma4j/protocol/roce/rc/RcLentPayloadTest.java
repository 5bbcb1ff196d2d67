// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.rc;

import io.rdma4j.protocol.count.Counter;
import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.PacketView;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** Two processes, of which each lends the other the memory that its packets are to be copied from, and may withdraw it. */
class RcLentPayloadTest {
    private static final int MTU = 1024;
    private static final int KEY = 3;

    private final RcPair pair = new RcPair(settings());
    private final RcEnd a = pair.a;
    private final RcEnd b = pair.b;
    private final OutgoingPacket packet = new OutgoingPacket();
    private final PacketView view = new PacketView();
    private final MemorySegment room = MemorySegment.ofArray(new byte[1 << 16]);
    private final MemorySegment word = MemorySegment.ofArray(new long[1]);
    private final List<String> sent = new ArrayList<>();
    /** Those that are withdrawn, by opcode, as often as they are here. */
    private final List<Opcode> withdrawn = new ArrayList<>();
    private Runnable whenWithdrawn = () -> {};

    RcLentPayloadTest() {
        for (RcEnd each : List.of(a, b)) {
            each.packetsAsOne = 4;
            each.isLossless = true;
        }
    }

    private static RcPair.Settings settings() {
        RcPair.Settings settings = new RcPair.Settings();
        settings.firstPsn = 100;
        return settings;
    }

    private void settle() {
        boolean hasSent = true;
        while (hasSent) {
            hasSent = carry(a, b);
            hasSent |= carry(b, a);
        }
    }

    private boolean carry(RcEnd from, RcEnd to) {
        boolean hasSent = false;
        while (from.queuePair.pollTransmit(packet, 0)) {
            hasSent = true;
            assertThat(view.wrap(packet, room)).isTrue();
            sent.add(view.opcode().name().substring("RC_".length()) + " " + from.index(view));
            if (view.payloadLength() > 0) {
                view.lent(word, 0);
            }
            boolean isWithdrawn = withdrawn.remove(view.opcode());
            word.set(ValueLayout.JAVA_LONG, 0, isWithdrawn ? 1 : 0);
            if (isWithdrawn) {
                whenWithdrawn.run();
            }
            to.queuePair.onPacket(view, 0);
        }
        return hasSent;
    }

    /** Registers memory at address 0 of an end. */
    private void registerBrief(RcEnd end) {
        end.regions.register(KEY, 0, Arena.ofAuto().allocate(8 * MTU, 8),
                EnumSet.allOf(AccessFlag.class));
    }

    // ---------------------------------------------------------------- what is lent

    @Test
    void lentPayloadsAreAsGoodAsOthers() {
        b.receive(7, 6000);
        a.send(1, 6000);
        a.write(2, 10_000);
        a.read(3, 10_000);
        settle();
        b.assertCompleted("7 SUCCESS");
        a.assertCompleted("1 SUCCESS", "2 SUCCESS", "3 SUCCESS");
        assertThat(a.hasPeersBytes(10_000)).isTrue();
        assertThat(a.counted(Counter.RETRANSMITTED_PKTS)).isZero();
    }

    // ---------------------------------------------------------------- what is withdrawn

    @ParameterizedTest
    @EnumSource(value = Opcode.class,
            names = {"RC_WRITE_FIRST", "RC_WRITE_MIDDLE", "RC_WRITE_LAST"})
    void withdrawnPartOfAWriteIsAskedForAtOnceAndSentAgain(Opcode opcode) {
        withdrawn.add(opcode);
        withdrawn.add(opcode);
        a.write(1, 12_000);
        settle();
        a.assertCompleted("1 SUCCESS");
        assertThat(b.hasPeersBytes(12_000)).isTrue();
        assertThat(a.counted(Counter.RCVD_SEQ_ERR)).isEqualTo(2);
        assertThat(b.counted(Counter.OUT_OF_SEQ_REQUEST)).isEqualTo(2);
        assertThat(b.expectedPsn()).isEqualTo(112);
    }

    @ParameterizedTest
    @EnumSource(value = Opcode.class, names = {"RC_SEND_FIRST", "RC_SEND_MIDDLE", "RC_SEND_LAST"})
    void withdrawnPartOfASendLosesNoReceive(Opcode opcode) {
        b.receive(7, 12_000);
        b.receive(8, 12_000);
        withdrawn.add(opcode);
        a.send(1, 12_000);
        a.send(2, 11_000);
        settle();
        a.assertCompleted("1 SUCCESS", "2 SUCCESS");
        b.assertCompleted("7 SUCCESS", "8 SUCCESS");
        assertThat(b.hasPeersBytes(11_000)).isTrue();
    }

    @Test
    void withdrawnWriteWithImmediateLosesNoReceive() {
        b.receive(7, 0);
        withdrawn.add(Opcode.RC_WRITE_ONLY_IMMEDIATE);
        a.post(a.request(1).writeWithImmediate(b.address + RcEnd.UPPER, b.key, 5).add(a.address,
                3000, a.key));
        settle();
        a.assertCompleted("1 SUCCESS");
        b.assertCompleted("7 SUCCESS");
        assertThat(b.hasPeersBytes(3000)).isTrue();
    }

    @ParameterizedTest
    @EnumSource(value = Opcode.class,
            names = {"RC_READ_RESPONSE_FIRST", "RC_READ_RESPONSE_MIDDLE", "RC_READ_RESPONSE_LAST"})
    void withdrawnPartOfAReadIsAskedForAgain(Opcode opcode) {
        withdrawn.add(opcode);
        a.read(1, 12_000);
        a.write(2, 100);
        settle();
        a.assertCompleted("1 SUCCESS", "2 SUCCESS");
        assertThat(a.hasPeersBytes(12_000)).isTrue();
        assertThat(sent.stream().filter(each -> each.startsWith("READ_REQUEST"))).hasSize(2);
    }

    /** As if it had been gone before the packet was built. */
    @Test
    void regionThatIsGoneWhenItIsSentAgainIsTheSendersError() {
        registerBrief(a);
        a.write(1, 100);
        a.post(a.request(2).write(b.address + RcEnd.UPPER, b.key).add(0, 6 * MTU, KEY));
        withdrawn.add(Opcode.RC_WRITE_FIRST);
        whenWithdrawn = () -> a.regions.close(KEY);
        settle();
        a.assertCompleted("1 SUCCESS", "2 LOCAL_PROTECTION_ERROR");
        assertThat(b.queuePair.state()).isEqualTo(QueuePairState.RTS);
    }

    @Test
    void regionThatIsGoneWhenItIsReadAgainIsRefused() {
        registerBrief(b);
        a.post(a.request(1).read(0, KEY).add(a.address + RcEnd.UPPER, 4 * MTU, a.key));
        withdrawn.add(Opcode.RC_READ_RESPONSE_ONLY);
        whenWithdrawn = () -> b.regions.close(KEY);
        settle();
        a.assertCompleted("1 REMOTE_ACCESS_ERROR");
    }

    @Test
    void readWhoseRegionGoesInTheMiddleIsRefused() {
        registerBrief(b);
        a.post(a.request(1).read(0, KEY).add(a.address + RcEnd.UPPER, 8 * MTU, a.key));
        withdrawn.add(Opcode.RC_READ_RESPONSE_FIRST);
        whenWithdrawn = () -> b.regions.close(KEY);
        settle();
        a.assertCompleted("1 REMOTE_ACCESS_ERROR");
    }

    // ---------------------------------------------------------------- when they are withdrawn

    @ParameterizedTest
    @ValueSource(strings = {"ERR", "RESET"})
    void payloadsAreWithdrawnBeforeRequestsAreFlushed(QueuePairState state) {
        a.write(1, 100);
        assertThat(a.queuePair.pollTransmit(packet, 0)).isTrue();
        a.withdrawals.clear();
        a.modify(new QueuePairAttributes().state(state));
        assertThat(a.withdrawals).containsExactly(0);
    }

    @Test
    void payloadsAreWithdrawnBeforeARequestFails() {
        a.withdrawals.clear();
        a.write(1, 100);
        a.post(a.request(2).write(b.address, b.key + 1).add(a.address, 100, a.key));
        a.write(3, 100);
        settle();
        a.assertCompleted("1 SUCCESS", "2 REMOTE_ACCESS_ERROR", "3 WORK_REQUEST_FLUSHED");
        assertThat(a.withdrawals).containsExactly(1);
    }

    @Test
    void payloadsAreWithdrawnBeforeTheResponderFlushesItsOwn() {
        b.withdrawals.clear();
        a.post(a.request(2).write(b.address, b.key + 1).add(a.address, 100, a.key));
        b.write(9, 100);
        settle();
        assertThat(b.withdrawals).containsExactly(0);
        b.assertCompleted("9 WORK_REQUEST_FLUSHED");
    }

    @Test
    void nothingIsWithdrawnWhileRequestsSucceed() {
        a.withdrawals.clear();
        a.write(1, 10_000);
        a.read(2, 10_000);
        settle();
        assertThat(a.withdrawals).isEmpty();
    }
}
