// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.protocol.count.Counter;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/** A network that accepts no packets, because a card or a virtual machine stands still: nothing waits for it for ever. */
class FullNetworkTest {
    private static final long MS = 1_000_000;
    private static final int LENGTH = 1000;
    private static final int QKEY = 0x1111_1111;

    private static void post(Pair pair, QueuePairType type, long id) throws RdmaException {
        if (type == QueuePairType.UD) {
            AddressHandle to = pair.a.node.domain.createAddressHandle(
                    AddressHandleAttributes.to(pair.b.node.nic.gids().get(1), 1));
            pair.a.queuePair.postSend(pair.a.request(id).send().add(pair.a.region, 0, LENGTH)
                    .to(to, pair.b.queuePair.number(), QKEY));
        } else {
            pair.a.send(id, LENGTH);
        }
    }

    private static long deadlineNs(Pair pair) {
        return pair.a.node.nic.engine().deadlineNs();
    }

    @ParameterizedTest
    @EnumSource(value = QueuePairType.class, names = {"UC", "UD"})
    void whatMayBeLostIsLostAfterASecond(QueuePairType type) throws Exception {
        Pair pair = Pair.of(type);
        pair.simulation.network.takesNothing = true;
        for (int id = 0; id < Pair.DEPTH; id++) {
            post(pair, type, id);
        }
        pair.run(900 * MS);
        assertThat(pair.a.completions).hasSizeLessThan(Pair.DEPTH);
        pair.run(200 * MS);
        assertThat(pair.a.completions).hasSize(Pair.DEPTH);
        assertThat(pair.a.queuePair.state()).isEqualTo(QueuePairState.RTS);
        assertThat(pair.a.node.nic.engine().counters().value(Counter.SEND_ERR)).isPositive();
        assertThat(deadlineNs(pair)).isEqualTo(Long.MAX_VALUE);
    }

    @ParameterizedTest
    @EnumSource(value = QueuePairType.class, names = {"UC", "UD"})
    void whatIsSentAfterwardsIsLostAtOnceUntilTheNetworkAcceptsPacketsAgain(QueuePairType type)
            throws Exception {
        Pair pair = Pair.of(type);
        pair.simulation.network.takesNothing = true;
        post(pair, type, 1);
        pair.run(1100 * MS);
        for (int id = 2; id < 10; id++) {
            post(pair, type, id);
        }
        pair.run(20 * MS);
        assertThat(pair.a.completions).hasSize(9);
        pair.simulation.network.takesNothing = false;
        pair.b.receive(7, 2 * LENGTH);
        post(pair, type, 10);
        pair.settle();
        assertThat(pair.b.completions).hasSize(1);
        // It has shown that it accepts packets, so it is waited for again.
        pair.simulation.network.takesNothing = true;
        post(pair, type, 11);
        pair.run(900 * MS);
        pair.simulation.network.takesNothing = false;
        pair.b.receive(8, 2 * LENGTH);
        pair.settle();
        assertThat(pair.b.completions).hasSize(2);
    }

    @Test
    void reliableConnectionEndsByItsTimeOuts() throws Exception {
        Pair.Settings settings = new Pair.Settings();
        Pair pair = new Pair(settings);
        long timeoutNs = 4096L << settings.timeout;
        pair.simulation.network.takesNothing = true;
        post(pair, QueuePairType.RC, 1);
        // Only one of four costs a retry.
        pair.run(31 * timeoutNs);
        assertThat(pair.a.completions).isEmpty();
        pair.run(2 * timeoutNs);
        pair.a.assertCompleted("1 RETRY_EXCEEDED_ERROR");
        pair.settle();
        assertThat(deadlineNs(pair)).isEqualTo(Long.MAX_VALUE);
    }

    /** Nothing of it has left, for another queue pair has filled the network. */
    @Test
    void reliableConnectionWhoseFirstPacketFindsNoRoomEndsByItsTimeOuts() throws Exception {
        Pair pair = new Pair();
        Pair.Side other = pair.new Side(pair.simulation.a);
        other.connect(pair.b, new Pair.Settings());
        pair.simulation.network.takesNothing = true;
        for (int id = 0; id < Pair.DEPTH; id++) {
            pair.a.write(id, Pair.MEMORY / 2);
        }
        pair.a.node.poll();
        other.queuePair.postSend(other.request(77).send().add(other.region, 0, 100));
        pair.run(10 * Pair.SECOND);
        other.takeCompletions();
        other.assertCompleted("77 RETRY_EXCEEDED_ERROR");
        assertThat(pair.a.completions).hasSize(Pair.DEPTH);
        assertThat(deadlineNs(pair)).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void reliableConnectionSurvivesANetworkThatAcceptsNothingForAWhile() throws Exception {
        Pair pair = new Pair();
        pair.simulation.network.takesNothing = true;
        pair.b.receive(7, LENGTH);
        post(pair, QueuePairType.RC, 1);
        pair.run(1500 * MS);
        pair.simulation.network.takesNothing = false;
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS");
        assertThat(pair.b.hasPeersBytes(LENGTH)).isTrue();
    }
}
