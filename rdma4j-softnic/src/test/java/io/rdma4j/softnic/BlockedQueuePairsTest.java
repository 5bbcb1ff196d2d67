// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Queue pairs that have something to send through memory to a device that does not read. */
class BlockedQueuePairsTest {
    private static final long MS = 1_000_000;
    private static final int LENGTH = Pair.MEMORY / 2;

    private final Pair pair;

    BlockedQueuePairsTest() throws Exception {
        pair = new Pair();
        pair.simulation.network.memory.meet(1, 0, 0);
    }

    /** More than a ring takes. */
    private void writeMuch() throws Exception {
        for (int i = 0; i < Pair.DEPTH; i++) {
            pair.a.write(i, LENGTH);
        }
        pair.a.node.poll();
    }

    private long deadlineNs() {
        return pair.a.node.nic.engine().deadlineNs();
    }

    @Test
    void whatIsBlockedGoesOnWhenTheReaderDoes() throws Exception {
        writeMuch();
        assertThat(deadlineNs()).isNotEqualTo(Long.MAX_VALUE);
        pair.settle();
        assertThat(pair.a.completions).hasSize(Pair.DEPTH);
        assertThat(pair.b.hasPeersBytes(LENGTH)).isTrue();
        assertThat(deadlineNs()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void aQueuePairThatIsClosedIsLookedAfterNoLonger() throws Exception {
        writeMuch();
        assertThat(deadlineNs()).isNotEqualTo(Long.MAX_VALUE);
        pair.a.queuePair.close();
        assertThat(deadlineNs()).isEqualTo(Long.MAX_VALUE);
    }

    // ---------------------------------------------------------------- a reader that does not read again

    /** Lets the first side work alone: the process of the other one is stopped. */
    private void runAlone(long durationNs) throws Exception {
        long limitNs = pair.simulation.network.nowNs() + durationNs;
        while (pair.simulation.network.nowNs() < limitNs) {
            pair.a.node.poll();
            long nowNs = pair.simulation.network.nowNs();
            pair.simulation.network
                    .advanceTo(Math.max(nowNs + 1, Math.min(limitNs, deadlineNs())));
        }
        pair.a.node.poll();
        pair.a.takeCompletions();
    }

    /** So many times as long as others a process is waited for that is known to live (ADR 82). */
    private static final int PATIENCE = 4;

    enum Work {
        SEND, WRITE, READ, ATOMIC
    }

    private void post(Pair.Side side, Work work) throws Exception {
        long theirs = pair.b.region.address();
        int key = pair.b.region.rkey();
        SendWorkRequest request = side.request(77);
        side.queuePair.postSend(switch (work) {
            case SEND -> request.send().add(side.region, 0, 64);
            case WRITE -> request.write(theirs, key).add(side.region, 0, 64);
            case READ -> request.read(theirs, key).add(side.region, 0, 64);
            case ATOMIC -> request.fetchAndAdd(theirs, key, 1).add(side.region, 0, 8);
        });
    }

    /** Another queue pair has filled the ring. */
    @ParameterizedTest
    @EnumSource(Work.class)
    void aRequestThatNeverEntersTheRingEndsByItsTimeOuts(Work work) throws Exception {
        Pair.Side other = pair.new Side(pair.simulation.a);
        Pair.Settings settings = new Pair.Settings();
        other.connect(pair.b, settings);
        long patienceNs = (4096L << settings.timeout) * PATIENCE * (settings.retryCount + 1);
        writeMuch();
        post(other, work);
        runAlone(patienceNs - MS);
        other.takeCompletions();
        assertThat(other.completions).isEmpty();
        runAlone(2 * MS);
        other.takeCompletions();
        other.assertCompleted("77 RETRY_EXCEEDED_ERROR");
        // The ring is still full.
        pair.a.completions.clear();
        Pair.Side later = pair.new Side(pair.simulation.a);
        later.connect(pair.b, settings);
        post(later, work);
        runAlone(patienceNs + MS);
        later.takeCompletions();
        later.assertCompleted("77 RETRY_EXCEEDED_ERROR");
    }

    @ParameterizedTest
    @EnumSource(value = QueuePairType.class, names = {"UC", "UD"})
    void whatMayBeLostWaitsNoLongerThanATenthOfASecond(QueuePairType type) throws Exception {
        Pair.Settings settings = new Pair.Settings();
        settings.type = type;
        Pair lossy = new Pair(settings);
        lossy.simulation.network.memory.meet(1, 0, 0);
        SendWorkRequest request = lossy.a.request(1).send();
        if (type == QueuePairType.UD) {
            request.to(lossy.a.node.domain.createAddressHandle(AddressHandleAttributes.to(
                    lossy.b.node.nic.gids().get(1), 1)), lossy.b.queuePair.number(), 0x1111_1111);
        }
        request.add(lossy.a.region, 0, 1000);
        int posted = 0;
        // More than a ring takes, and so many again once it is known that it is not read.
        for (int i = 0; i < 80; i++) {
            for (int j = 0; j < Pair.DEPTH; j++) {
                lossy.a.queuePair.postSend(request);
                posted++;
            }
            for (int ms = 0; ms < 200 && lossy.a.completions.size() < posted; ms++) {
                lossy.a.node.poll();
                lossy.a.takeCompletions();
                lossy.simulation.network.advanceTo(lossy.simulation.network.nowNs() + MS);
            }
            assertThat(lossy.a.completions).hasSize(posted);
        }
        assertThat(lossy.simulation.network.nowNs()).isLessThan(300 * MS);
        assertThat(lossy.a.queuePair.state()).isEqualTo(QueuePairState.RTS);
        assertThat(lossy.a.node.nic.engine().deadlineNs()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void aDeviceWhoseQueuePairsHaveFailedIsQuietThoughTheRingIsFull() throws Exception {
        writeMuch();
        runAlone(PATIENCE * 2 * Pair.SECOND);
        assertThat(pair.a.completions).hasSize(Pair.DEPTH)
                .allMatch(each -> each.status() != WorkCompletionStatus.SUCCESS);
        runAlone(MS);
        assertThat(deadlineNs()).isEqualTo(Long.MAX_VALUE);
    }

    /** The path is known to stand still after a while; nothing of a queue pair that is reset waits for it. */
    @Test
    void aQueuePairThatIsResetIsLookedAfterNoLonger() throws Exception {
        writeMuch();
        pair.a.queuePair.modify(new QueuePairAttributes().state(QueuePairState.RESET));
        runAlone(300 * MS);
        assertThat(deadlineNs()).isEqualTo(Long.MAX_VALUE);
    }
}
