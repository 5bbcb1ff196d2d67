// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaClosedException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.net.InetAddress;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** What a queue pair says of packets that its host's system refuses. */
class SendRefusalTest {
    private static final int QKEY = 0x1111_1111;

    private static Gid there(Pair pair) {
        return pair.b.node.nic.gids().get(1);
    }

    private static void send(Pair pair, QueuePairType type) throws Exception {
        if (type == QueuePairType.UD) {
            AddressHandle to = pair.a.node.domain
                    .createAddressHandle(AddressHandleAttributes.to(there(pair), 1));
            pair.a.queuePair.postSend(pair.a.request(1).send().add(pair.a.region, 0, 8).to(to,
                    pair.b.queuePair.number(), QKEY));
        } else {
            pair.a.queuePair.postSend(pair.a.request(1).send().add(pair.a.region, 0, 8));
        }
        pair.a.node.poll();
    }

    @ParameterizedTest
    @EnumSource(value = QueuePairType.class, names = {"RC", "UC", "UD"})
    void whatTheSystemSaysOfThePeerIsNamedInWords(QueuePairType type) throws Exception {
        Pair pair = Pair.of(type);
        send(pair, type);
        assertThat(pair.a.queuePair.sendRefusal()).isNull();
        pair.simulation.network.reports.put(there(pair), Errno.EPERM);
        assertThat(pair.a.queuePair.sendRefusal())
                .isEqualTo("this host's system says of packets to "
                        + there(pair).address().getHostAddress()
                        + ": Operation not permitted (EPERM)");
    }

    @ParameterizedTest
    @EnumSource(value = QueuePairType.class, names = {"RC", "UC", "UD"})
    void whatTheSystemSaysOfOthersIsNotNamed(QueuePairType type) throws Exception {
        Pair pair = Pair.of(type);
        send(pair, type);
        pair.simulation.network.reports.put(Gid.of(InetAddress.ofLiteral("192.0.2.77")),
                Errno.EPERM);
        assertThat(pair.a.queuePair.sendRefusal()).isNull();
    }

    @Test
    void datagramsThatNeverLeftAreOfNoDestination() throws Exception {
        Pair pair = Pair.of(QueuePairType.UD);
        pair.simulation.network.reports.put(there(pair), Errno.EPERM);
        assertThat(pair.a.queuePair.sendRefusal()).isNull();
    }

    @Test
    void closedQueuePairIsNotAsked() throws Exception {
        Pair pair = Pair.of(QueuePairType.UD);
        pair.a.queuePair.close();
        assertThatExceptionOfType(RdmaClosedException.class)
                .isThrownBy(pair.a.queuePair::sendRefusal);
    }
}
