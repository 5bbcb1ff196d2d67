// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.iwarp;

import io.rdma4j.protocol.iwarp.MpaSettings;
import io.rdma4j.protocol.iwarp.wire.MpaFrame;
import io.rdma4j.softnic.device.SecureNumbers;
import io.rdma4j.softnic.device.SoftNic;
import io.rdma4j.softnic.verbs.SoftDeviceContext;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A connection that breaks, and a device that notices it by a write before it reads the end. There is no other thread and time
 * stands still, so the device sends when something is posted, and reads when nothing has completed.
 */
class RefusedWriteTest {
    private static final int LENGTH = 1000;

    /** A client, and a peer that the test plays. */
    private static final class Lonely extends IwarpStage implements AutoCloseable {
        private final SimulatedStreams network;
        private final SoftNic nic;

        Lonely(SimulatedStreams network, SoftNic nic) throws Exception {
            super(new SoftDeviceContext(nic), ADDRESS);
            this.network = network;
            this.nic = nic;
        }

        static Lonely open() throws Exception {
            SimulatedStreams network = new SimulatedStreams();
            IwarpSettings settings = new IwarpSettings(MpaSettings.USUAL, 0, IwarpPatience.USUAL);
            SoftNic nic = new SoftNic(device(IwarpFamily.IWARP),
                    host -> new IwarpTransport(network, settings, host), new SecureNumbers(),
                    network::nowNs, null);
            nic.start(ADDRESS);
            return new Lonely(network, nic);
        }

        /** {@return the stream of the client, whose peer has accepted} */
        SimulatedStreams.Simulated beEstablished() throws Exception {
            ask(1);
            SimulatedStreams.Simulated stream = network.open().getLast();
            stream.establish();
            nic.driver().poll();
            byte[] reply = new MpaFrame(true, MpaFrame.ENHANCED, MpaFrame.ENHANCED_REVISION,
                    4 | MpaFrame.PEER_TO_PEER, 4 | MpaFrame.WRITE_RTR, new byte[0]).bytes();
            stream.give(reply, 0, reply.length);
            nic.driver().poll();
            assertThat(client.heard).containsExactly("established");
            return stream;
        }

        void post(SendWorkRequest request, long id) throws RdmaException {
            client.queuePair.postSend(
                    request.id(id).add(client.region, 0, LENGTH).set(SendFlag.SIGNALED));
        }

        void assertNextCompletes(long id, WorkCompletionStatus status) throws RdmaException {
            assertThat(client.completions.poll(client.completion)).isTrue();
            assertThat(client.completion.id()).isEqualTo(id);
            assertThat(client.completion.status()).isEqualTo(status);
        }

        @Override
        public void close() throws RdmaException {
            super.close();
            nic.shutDown();
        }
    }

    @Test
    void whatIsPostedBehindARefusedWriteIsFlushed() throws Exception {
        try (Lonely stage = Lonely.open()) {
            SimulatedStreams.Simulated stream = stage.beEstablished();
            stage.post(new SendWorkRequest().send(), 1);
            stage.assertNextCompletes(1, WorkCompletionStatus.SUCCESS);
            stream.breakAsPeer();
            // It is complete before the stream refuses it.
            stage.post(new SendWorkRequest().send(), 2);
            stage.post(new SendWorkRequest().send(), 3);
            stage.post(new SendWorkRequest().write(0, 1), 4);
            stage.post(new SendWorkRequest().read(0, 1), 5);
            stage.client.receive(6, LENGTH);
            stage.assertNextCompletes(2, WorkCompletionStatus.SUCCESS);
            assertThat(stage.client.heard).as("the end is not read yet")
                    .containsExactly("established");
            for (int i = 3; i <= 6; i++) {
                stage.assertNextCompletes(i, WorkCompletionStatus.WORK_REQUEST_FLUSHED);
            }
            assertThat(stage.client.completions.poll(stage.client.completion)).isFalse();
            assertThat(stage.client.heard).containsExactly("established", "disconnected", "over");
            assertThat(stage.client.queuePair.query().state()).isEqualTo(QueuePairState.ERR);
        }
    }
}
