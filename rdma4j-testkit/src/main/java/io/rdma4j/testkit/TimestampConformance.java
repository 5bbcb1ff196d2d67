// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.testkit;

import io.rdma4j.verbs.CompletionField;
import io.rdma4j.verbs.CompletionQueueInitAttributes;
import io.rdma4j.verbs.DeviceAttributes;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.WorkCompletion;

import java.time.Duration;
import java.time.Instant;

import static org.assertj.core.api.Assertions.assertThat;

/** When completions happened, by the device's clock and by the clock on the wall. */
public abstract class TimestampConformance extends Conformance {
    /** How far two clocks on the wall may be apart. */
    private static final long TOLERANCE_NS = Duration.ofSeconds(1).toNanos();

    /** Called by subclasses. */
    protected TimestampConformance() {}

    private Players stamped(CompletionField field) throws RdmaException {
        return players(new PlayerSettings().with(own -> own.queue = (context, domain) -> context
                .createCompletionQueue(new CompletionQueueInitAttributes().capacity(256)
                        .fields(CompletionField.BYTE_LENGTH, CompletionField.QUEUE_PAIR_NUMBER,
                                field))));
    }

    private static WorkCompletion[] sendAndReceive(Players players) throws RdmaException {
        long receive = players.server.receive(1000);
        long send = players.client.post(players.client.work(SendOpcode.SEND, 1000));
        return new WorkCompletion[]{players.client.awaitSuccess(send),
            players.server.awaitSuccess(receive)};
    }

    @ConformanceCase(after = "test_phc_timestamp.timestamp_free_running_rc_traffic")
    void completionsCarryTheDevicesClock() throws RdmaException {
        DeviceContext context = open();
        DeviceAttributes attributes = context.queryDevice();
        long mask = attributes.completionTimestampMask();
        assumeOffered(mask != 0, "completionTimestampMask is 0");
        assertThat(attributes.clockKhz()).isPositive();
        Players players = stamped(CompletionField.COMPLETION_TIMESTAMP);
        for (int round = 0; round < Players.ROUNDS; round++) {
            long clientBefore = players.client.context.queryClock();
            long serverBefore = players.server.context.queryClock();
            WorkCompletion[] done = sendAndReceive(players);
            assertBetween(clientBefore, done[0].completionTimestamp(),
                    players.client.context.queryClock(), mask);
            assertBetween(serverBefore, done[1].completionTimestamp(),
                    players.server.context.queryClock(), mask);
        }
    }

    /** Compares as a clock of that many bits does, which may wrap around. */
    private static void assertBetween(long before, long time, long after, long mask) {
        assertThat((time - before) & mask).as("%d from %d to %d", time, before, after)
                .isLessThanOrEqualTo((after - before) & mask);
    }

    @ConformanceCase(after = "test_phc_timestamp.timestamp_real_time_rc_traffic")
    void completionsCarryTheTimeOfDay() throws RdmaException {
        assumeOffered(open().queryDevice().completionTimestampMask() != 0,
                "completionTimestampMask is 0");
        Players players = stamped(CompletionField.COMPLETION_WALLCLOCK);
        for (int round = 0; round < Players.ROUNDS; round++) {
            long before = wallclockNs();
            WorkCompletion[] done = sendAndReceive(players);
            long after = wallclockNs();
            for (WorkCompletion each : done) {
                assertThat(each.completionWallclockNs()).isBetween(before - TOLERANCE_NS,
                        after + TOLERANCE_NS);
            }
        }
    }

    private static long wallclockNs() {
        Instant now = Instant.now();
        return now.getEpochSecond() * 1_000_000_000L + now.getNano();
    }
}
