// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.rc;

import io.rdma4j.protocol.count.Counter;
import io.rdma4j.protocol.roce.wire.PacketView;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/** A host may ask for no packet, because it has no room for one: the time-outs run from the moment when a request is due. */
class RcNoRoomTest {
    private static final long MS = 1_000_000;
    private static final int SHORT = 100;
    /** 67 ms each: eight of them before it gives up. */
    private static final int TIMEOUT = 14;

    enum Work {
        SEND, WRITE, READ, ATOMIC, LONG_WRITE, LONG_READ
    }

    private static RcPair pair() {
        RcPair.Settings settings = new RcPair.Settings();
        settings.timeout = TIMEOUT;
        return new RcPair(settings);
    }

    private static void post(RcPair pair, int id, Work work) {
        switch (work) {
            case SEND -> {
                pair.b.receive(100 + id, SHORT);
                pair.a.send(id, SHORT);
            }
            case WRITE -> pair.a.write(id, SHORT);
            case READ -> pair.a.read(id, SHORT);
            case ATOMIC -> pair.a.add(id, 1);
            case LONG_WRITE -> pair.a.write(id, RcEnd.UPPER);
            case LONG_READ -> pair.a.read(id, RcEnd.UPPER);
        }
    }

    /** Eight time-outs, after which a request ends that nobody answers. */
    private static long patienceNs(RcPair pair) {
        return 8 * pair.settings.timeoutNs();
    }

    @ParameterizedTest
    @EnumSource(Work.class)
    void requestThatFindsNoRoomEndsByItsTimeOuts(Work work) {
        RcPair pair = pair();
        pair.a.hasNoRoom = true;
        post(pair, 1, work);
        post(pair, 2, work);
        pair.run(patienceNs(pair) - MS);
        assertThat(pair.a.completions).isEmpty();
        pair.run(2 * MS);
        pair.a.assertCompleted("1 RETRY_EXCEEDED_ERROR", "2 WORK_REQUEST_FLUSHED");
        assertThat(pair.a.queuePair.state()).isEqualTo(QueuePairState.ERR);
        assertThat(pair.a.counted(Counter.RETRANSMITTED_PKTS)).isZero();
    }

    @ParameterizedTest
    @EnumSource(Work.class)
    void requestThatTheNetworkNeverTakesEndsAfterFourTimesAsLong(Work work) {
        RcPair pair = pair();
        pair.a.isHeldUp = true;
        post(pair, 1, work);
        pair.run(4 * patienceNs(pair) - MS);
        assertThat(pair.a.completions).isEmpty();
        pair.run(2 * MS);
        pair.a.assertCompleted("1 RETRY_EXCEEDED_ERROR");
    }

    /** It is due as soon as the one before is answered, at the latest. */
    @ParameterizedTest
    @EnumSource(value = Work.class, names = {"SEND", "WRITE", "READ", "ATOMIC"})
    void requestThatFindsNoRoomBehindOneThatIsAnsweredEndsByItsTimeOuts(Work work) {
        RcPair pair = pair();
        post(pair, 1, work);
        pair.a.work();
        pair.a.hasNoRoom = true;
        post(pair, 2, work);
        pair.run(MS);
        pair.a.assertCompleted("1 SUCCESS");
        pair.run(patienceNs(pair) - 2 * MS);
        assertThat(pair.a.completions).isEmpty();
        pair.run(2 * MS);
        pair.a.assertCompleted("2 RETRY_EXCEEDED_ERROR");
    }

    @Test
    void messageThatFindsNoRoomInItsMiddleEndsByItsTimeOuts() {
        RcPair pair = pair();
        pair.wire.watch(new Wire.Watcher() {
            @Override
            public void onSent(RcEnd from, PacketView packet) {
                pair.a.hasNoRoom = true;
            }
        });
        post(pair, 1, Work.LONG_WRITE);
        pair.run(patienceNs(pair) - MS);
        assertThat(pair.a.completions).isEmpty();
        pair.run(5 * MS);
        pair.a.assertCompleted("1 RETRY_EXCEEDED_ERROR");
    }

    @ParameterizedTest
    @EnumSource(Work.class)
    void requestThatFindsRoomInTimeSucceeds(Work work) {
        RcPair pair = pair();
        pair.a.hasNoRoom = true;
        post(pair, 1, work);
        pair.run(patienceNs(pair) - MS);
        pair.a.hasNoRoom = false;
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS");
        assertThat(pair.a.counted(Counter.RETRANSMITTED_PKTS)).isZero();
        assertThat(pair.a.counted(Counter.COMPLETER_RETRY_ERR)).isZero();
    }

    /** Otherwise the waiting would count for a peer that has not been asked. */
    @Test
    void whatLeavesLateHasAWholeTimeOutToBeAnswered() {
        RcPair pair = pair();
        pair.a.hasNoRoom = true;
        pair.wire.latencyNs = 60 * MS / 2;
        post(pair, 1, Work.WRITE);
        pair.run(patienceNs(pair) - MS);
        pair.a.hasNoRoom = false;
        pair.run(pair.wire.latencyNs * 2 + MS);
        pair.a.assertCompleted("1 SUCCESS");
    }

    @Test
    void requestIsNotDueWhileTheSendQueueIsDrained() {
        RcPair pair = pair();
        pair.a.hasNoRoom = true;
        post(pair, 1, Work.WRITE);
        pair.a.modify(new QueuePairAttributes().state(QueuePairState.SQD));
        post(pair, 2, Work.WRITE);
        assertThat(pair.a.queuePair.deadlineNs()).isEqualTo(Long.MAX_VALUE);
        pair.run(2 * patienceNs(pair));
        assertThat(pair.a.completions).isEmpty();
        pair.a.modify(new QueuePairAttributes().state(QueuePairState.RTS));
        pair.run(patienceNs(pair) + MS);
        pair.a.assertCompleted("1 RETRY_EXCEEDED_ERROR", "2 WORK_REQUEST_FLUSHED");
    }

    @Test
    void queuePairWithoutWorkHasNoDeadline() {
        RcPair pair = pair();
        assertThat(pair.a.queuePair.deadlineNs()).isEqualTo(Long.MAX_VALUE);
        for (Work work : Work.values()) {
            post(pair, 1, work);
            pair.settle();
            assertThat(pair.a.queuePair.deadlineNs()).as(work.name()).isEqualTo(Long.MAX_VALUE);
        }
    }

    @Test
    void requestThatNeedsNoPacketLeavesNoDeadline() {
        RcPair pair = pair();
        pair.a.post(pair.a.request(1).localInvalidate(pair.a.key));
        pair.settle();
        assertThat(pair.a.completions).hasSize(1);
        assertThat(pair.a.queuePair.deadlineNs()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void withoutATimeOutItWaitsForEver() {
        RcPair.Settings settings = new RcPair.Settings();
        settings.timeout = 0;
        RcPair pair = new RcPair(settings);
        pair.a.hasNoRoom = true;
        post(pair, 1, Work.WRITE);
        pair.run(100_000 * MS);
        assertThat(pair.a.completions).isEmpty();
    }

    @Test
    void receiverThatIsNotReadyIsWaitedForAsLongAsItSays() {
        RcPair pair = pair();
        pair.a.send(1, SHORT);
        pair.a.work();
        pair.run(MS / 2);
        pair.a.hasNoRoom = true;
        long dueNs = pair.a.queuePair.deadlineNs();
        pair.a.write(2, SHORT);
        assertThat(pair.a.queuePair.deadlineNs()).isEqualTo(dueNs);
    }
}
