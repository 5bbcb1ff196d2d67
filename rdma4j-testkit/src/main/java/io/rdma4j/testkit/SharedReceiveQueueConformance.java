// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.testkit;

import io.rdma4j.verbs.AsyncEvent;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.DeviceAttributes;
import io.rdma4j.verbs.DeviceCapability;
import io.rdma4j.verbs.DeviceLimit;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.WorkCompletion;

import java.util.Objects;

import static org.assertj.core.api.Assertions.assertThat;

/** Receive queues that several queue pairs draw from. */
public abstract class SharedReceiveQueueConformance extends Conformance {
    /** Called by subclasses. */
    protected SharedReceiveQueueConformance() {}

    private Players sharing() throws RdmaException {
        return players(new PlayerSettings().with(own -> own.usesSharedReceiveQueue = true));
    }

    private static SharedReceiveQueue receives(Player player) {
        return Objects.requireNonNull(player.sharedReceives);
    }

    @ConformanceCase(after = "test_srq.rc_srq_traffic")
    void queuePairsDrawFromOneQueue() throws RdmaException {
        Players players = sharing();
        Player client = players.client;
        Player server = players.server;
        Players.Ends second = players.connectAnother();

        players.exchange(SendOpcode.SEND);
        for (int round = 0; round < Players.ROUNDS; round++) {
            byte[] sent = {(byte) round, 2, 3, 4};
            client.store(Player.SEND_AT, sent);
            long receive = server.receive(100);
            long send = client.newId();
            second.ofClient().postSend(new SendWorkRequest().id(send).send()
                    .add(client.region, Player.SEND_AT, sent.length).set(SendFlag.SIGNALED));
            WorkCompletion received = server.await(receive);
            assertThat(received.isSuccess()).as(received.toString()).isTrue();
            assertThat(received.queuePairNumber()).isEqualTo(second.ofServer().number());
            assertThat(client.await(send).isSuccess()).isTrue();
            assertThat(server.load(Player.RECEIVE_AT, sent.length)).isEqualTo(sent);
        }
    }

    @ConformanceCase(after = "test_srq.resize_srq")
    void queueGrowsAndKeepsWhatWasPosted() throws RdmaException {
        Players players = sharing();
        Player server = players.server;
        DeviceAttributes attributes = server.context.queryDevice();
        assumeOffered(attributes.capabilities().contains(DeviceCapability.SRQ_RESIZE),
                "the capabilities have no SRQ_RESIZE");
        long receive = server.receive(100);
        SharedReceiveQueue queue = receives(server);
        int larger = (int) Math.min(attributes.limit(DeviceLimit.MAX_SRQ_WR),
                2L * queue.query().maxRequests());
        queue.resize(larger);
        assertThat(queue.query().maxRequests()).isGreaterThanOrEqualTo(larger);
        Player client = players.client;
        client.awaitSuccess(client.post(client.work(SendOpcode.SEND, 100)));
        server.awaitSuccess(receive);
        for (int i = 0; i < larger; i++) {
            server.receive(100);
        }
    }

    @ConformanceCase(after = "test_srq.modify_srq_limit")
    void queueWarnsWhenItFallsBelowItsLimit() throws RdmaException {
        Players players = sharing();
        Player client = players.client;
        Player server = players.server;
        long[] receives = new long[10];
        for (int i = 0; i < receives.length; i++) {
            receives[i] = server.receive(100);
        }
        SharedReceiveQueue queue = receives(server);
        queue.arm(7);
        assertThat(queue.query().limit()).isEqualTo(7);
        for (int i = 0; i < 4; i++) {
            client.awaitSuccess(client.post(client.work(SendOpcode.SEND, 100)));
            server.awaitSuccess(receives[i]);
        }
        try (AsyncEvent event = server.context.asyncEventChannel().pollEvent(LIMIT)) {
            assertThat(event).isNotNull();
            assertThat(event.type()).isEqualTo(AsyncEventType.SRQ_LIMIT_REACHED);
            assertThat(event.sharedReceiveQueue()).isSameAs(queue);
        }
        // It warns once.
        assertThat(queue.query().limit()).isZero();
    }
}
