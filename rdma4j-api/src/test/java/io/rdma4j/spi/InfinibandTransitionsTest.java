// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.spi;

import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.Test;

import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** What each type of queue pair needs on its way to RTS. */
class InfinibandTransitionsTest {
    private static QueuePairAttributes to(QueuePairState state) {
        return new QueuePairAttributes().state(state);
    }

    private static QueuePairAttributes connected() {
        return to(QueuePairState.RTR).addressVector(AddressHandleAttributes.to(Gid.ZERO, 0))
                .pathMtu(Mtu.MTU_1024).destinationQueuePairNumber(7).receivePsn(1);
    }

    private static void assertTaken(QueuePairType type, QueuePairState from,
            QueuePairAttributes attributes) throws RdmaException {
        assertThat(InfinibandTransitions.INSTANCE.check(type, from, attributes))
                .isEqualTo(attributes.state());
    }

    private static void assertRefused(QueuePairType type, QueuePairState from,
            QueuePairAttributes attributes, String... words) {
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> InfinibandTransitions.INSTANCE.check(type, from, attributes))
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EINVAL))
                .withMessageContainingAll(words);
    }

    @Test
    void senderOfAnExtendedConnectionIsARequester() throws RdmaException {
        QueuePairType type = QueuePairType.XRC_SEND;
        assertTaken(type, QueuePairState.RESET,
                to(QueuePairState.INIT).pkeyIndex(0).port(1).accessFlags(Set.of()));
        assertTaken(type, QueuePairState.INIT, connected());
        assertRefused(type, QueuePairState.INIT,
                connected().maxDestinationReadAtomic(1).minRnrTimerCode(1), "does not take",
                "max_dest_rd_atomic", "min_rnr_timer");
        QueuePairAttributes ready = to(QueuePairState.RTS).sendPsn(1).ackTimeoutExponent(14);
        assertRefused(type, QueuePairState.RTR, ready, "lacks", "retry_cnt", "rnr_retry",
                "max_rd_atomic");
        assertTaken(type, QueuePairState.RTR,
                ready.retryCount(7).rnrRetry(7).maxReadAtomic(1));
        assertRefused(type, QueuePairState.RTS, to(QueuePairState.RTS).minRnrTimerCode(1),
                "min_rnr_timer");
    }

    @Test
    void receiverOfAnExtendedConnectionIsAResponder() throws RdmaException {
        QueuePairType type = QueuePairType.XRC_RECEIVE;
        assertTaken(type, QueuePairState.RESET,
                to(QueuePairState.INIT).pkeyIndex(0).port(1).accessFlags(Set.of()));
        assertRefused(type, QueuePairState.INIT, connected(), "lacks", "max_dest_rd_atomic",
                "min_rnr_timer");
        assertTaken(type, QueuePairState.INIT,
                connected().maxDestinationReadAtomic(1).minRnrTimerCode(1));
        QueuePairAttributes ready = to(QueuePairState.RTS).sendPsn(1).ackTimeoutExponent(14);
        assertTaken(type, QueuePairState.RTR, ready);
        assertRefused(type, QueuePairState.RTR, ready.retryCount(7), "does not take",
                "retry_cnt");
        assertTaken(type, QueuePairState.RTS, to(QueuePairState.RTS).minRnrTimerCode(1));
    }

    @Test
    void extendedConnectionNeverComesToSqe() {
        for (QueuePairType type : new QueuePairType[]{QueuePairType.XRC_SEND,
            QueuePairType.XRC_RECEIVE}) {
            assertRefused(type, QueuePairState.SQE, to(QueuePairState.RTS), "no transition");
        }
    }

    @Test
    void rawPacketsNeedAPortAndNothingElse() throws RdmaException {
        QueuePairType type = QueuePairType.RAW_PACKET;
        assertRefused(type, QueuePairState.RESET, to(QueuePairState.INIT), "lacks", "port_num");
        assertTaken(type, QueuePairState.RESET, to(QueuePairState.INIT).port(1));
        assertTaken(type, QueuePairState.INIT, to(QueuePairState.RTR));
        assertRefused(type, QueuePairState.RTR, to(QueuePairState.RTS).sendPsn(1),
                "does not take", "sq_psn");
        assertTaken(type, QueuePairState.RTR, to(QueuePairState.RTS).rateLimitKbps(1000));
        assertTaken(type, QueuePairState.RTS, to(QueuePairState.RTS).rateLimitKbps(0));
        assertTaken(type, QueuePairState.SQE, to(QueuePairState.RTS));
        assertTaken(type, QueuePairState.RTS, to(QueuePairState.ERR));
    }
}
