// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.testkit;

import io.rdma4j.testkit.FaultyWire.PacketKind;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AsyncEvent;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.ExtendWith;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

/**
 * Tests a reliable connection over a faulty wire, with the cases of roce-sim: faults that can be
 * repaired are, and the others end with the status of the standard.
 */
@ExtendWith(ConformanceRecorder.class)
public abstract class FaultConformance implements UnderTest {
    /** Five packets of the path MTU that players use. */
    private static final int LONG_MESSAGE = 4500;
    private static final int RETRIES = 3;

    private final Deque<AutoCloseable> kept = new ArrayDeque<>();

    /** Called by subclasses. */
    protected FaultConformance() {}

    /** {@return two devices with nothing on them and a wire without faults; closed by the test} */
    protected abstract FaultyWire wire() throws Exception;

    @AfterEach
    void everythingCanBeClosed() throws Exception {
        while (!kept.isEmpty()) {
            kept.pop().close();
        }
    }

    private <T extends AutoCloseable> T keep(T object) {
        kept.push(object);
        return object;
    }

    /** A client that asks and a server that answers, over a wire that can fail. */
    private final class Link {
        final FaultyWire wire;
        final Players players;
        final Player client;
        final Player server;

        Link(PlayerSettings settings) throws Exception {
            FaultyWire made = keep(wire());
            wire = made;
            players = new Players(FaultConformance.this::keep, made::step,
                    new HandConnector(made.requester(), made.responder()),
                    settings.regionAccess(AccessFlag.LOCAL_WRITE,
                            AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE,
                            AccessFlag.REMOTE_ATOMIC),
                    true);
            client = players.client;
            server = players.server;
        }

        /** {@return the PSN of a packet that the client will send, counted from 0} */
        int psn(int packet) {
            return (client.firstPsn + packet) & 0xffffff;
        }

        long post(SendOpcode opcode, int length) throws RdmaException {
            return client.post(client.work(opcode, length));
        }

        void assertFails(long id, WorkCompletionStatus status) throws RdmaException {
            WorkCompletion completion = client.await(id);
            assertThat(completion.status()).as(completion.toString()).isEqualTo(status);
            assertThat(client.queuePair.state()).isEqualTo(QueuePairState.ERR);
        }

        /** Lets time pass until the client has counted something. */
        void runUntilCounted(String counter) {
            long endNs = System.nanoTime() + LIMIT.toNanos();
            while (client.counted(counter) == 0) {
                if (System.nanoTime() - endNs > 0) {
                    fail("the requester never counted %s", counter);
                }
                wire.step();
            }
        }

        void assertServerSees(AsyncEventType type) throws RdmaException {
            try (AsyncEvent event = server.context.asyncEventChannel().pollEvent(LIMIT)) {
                assertThat(event).isNotNull();
                assertThat(event.type()).isEqualTo(type);
                assertThat(event.queuePair()).isSameAs(server.queuePair);
            }
        }
    }

    /** The client writes or reads the server's memory. */
    private static void access(Link link, SendOpcode opcode) throws RdmaException {
        link.players.access(link.client, opcode, 1);
    }

    private static void access(Link link, Work work) throws RdmaException {
        link.players.access(link.client, work, 1);
    }

    private Link link() throws Exception {
        return new Link(new PlayerSettings().with(own -> own.retryCount = RETRIES));
    }

    // ---------------------------------------------------------------- without faults

    @ConformanceCase(after = "roce-sim.atomic_cas_success")
    void compareAndSwapSucceeds() throws Exception {
        Players.atomic(link().client, SendOpcode.ATOMIC_COMPARE_AND_SWAP, 7, 7);
    }

    @ConformanceCase(after = "roce-sim.read_success")
    void readSucceeds() throws Exception {
        access(link(), SendOpcode.RDMA_READ);
    }

    @ConformanceCase(after = "roce-sim.send_success")
    void sendSucceeds() throws Exception {
        Players.message(link().client, SendOpcode.SEND, 1);
    }

    @ConformanceCase(after = "roce-sim.write_success")
    void writeSucceeds() throws Exception {
        access(link(), SendOpcode.RDMA_WRITE);
    }

    @ConformanceCase(after = "roce-sim.write_imm_success")
    void writeWithImmediateSucceeds() throws Exception {
        Players.message(link().client, SendOpcode.RDMA_WRITE_WITH_IMMEDIATE, 1);
    }

    // ---------------------------------------------------------------- answers that are wrong

    @ConformanceCase(after = "roce-sim.bad_response")
    void answerThatDoesNotFitItsReadFailsIt() throws Exception {
        Link link = link();
        link.wire.shortenReadResponse(60);
        link.assertFails(link.post(SendOpcode.RDMA_READ, 100),
                WorkCompletionStatus.BAD_RESPONSE_ERROR);
    }

    @ConformanceCase(after = "roce-sim.ghost_ack")
    void acknowledgementOfNothingOutstandingIsDropped() throws Exception {
        Link link = link();
        link.wire.forgeAcknowledgement(link.client.queuePair, link.server.queuePair, link.psn(5));
        access(link, SendOpcode.RDMA_WRITE);
        Players.message(link.client, SendOpcode.SEND, 2);
    }

    // ---------------------------------------------------------------- packets that are missing

    @ConformanceCase(after = "roce-sim.implied_nak_sequence_error_retry_limit_exceeded")
    void readWhoseAnswerNeverComesFailsThoughLaterWorkIsAcknowledged() throws Exception {
        Link link = link();
        link.wire.lose(PacketKind.READ_RESPONSE, FaultyWire.FOREVER);
        long read = link.post(SendOpcode.RDMA_READ, 100);
        long write = link.post(SendOpcode.RDMA_WRITE, 100);
        link.assertFails(read, WorkCompletionStatus.RETRY_EXCEEDED_ERROR);
        link.assertFails(write, WorkCompletionStatus.WORK_REQUEST_FLUSHED);
    }

    @ConformanceCase(after = "roce-sim.implied_nak_sequence_error_retry_limit_not_exceeded")
    void readWhoseAnswerIsMissedIsAskedForAgain() throws Exception {
        Link link = link();
        byte[] bytes = {1, 2, 3, 4};
        link.server.store(Player.SEND_AT, bytes);
        link.wire.lose(PacketKind.READ_RESPONSE, 1);
        long read = link.post(SendOpcode.RDMA_READ, 100);
        long write = link.post(SendOpcode.RDMA_WRITE, 100);
        link.client.awaitSuccess(read);
        link.client.awaitSuccess(write);
        assertThat(link.client.load(Player.RECEIVE_AT, bytes.length)).isEqualTo(bytes);
    }

    @ConformanceCase(after = "roce-sim.local_ack_timeout_retry_limit_exceeded")
    void silenceFailsTheRequestAfterItsRetries() throws Exception {
        Link link = link();
        link.wire.cut(true);
        link.assertFails(link.post(SendOpcode.RDMA_WRITE, 100),
                WorkCompletionStatus.RETRY_EXCEEDED_ERROR);
    }

    @ConformanceCase(after = "roce-sim.local_ack_timeout_retry_limit_not_exceeded")
    void requestSucceedsWhenAnAcknowledgementComesAfterAll() throws Exception {
        Link link = link();
        link.wire.lose(PacketKind.ACKNOWLEDGEMENT, 2);
        access(link, SendOpcode.RDMA_WRITE);
    }

    @ConformanceCase(after = "roce-sim.psn_retry_limit_exceeded")
    void packetThatNeverArrivesFailsItsRequest() throws Exception {
        Link link = link();
        link.wire.lose(PacketKind.WRITE, link.psn(1), FaultyWire.FOREVER);
        link.assertFails(link.post(SendOpcode.RDMA_WRITE, LONG_MESSAGE),
                WorkCompletionStatus.RETRY_EXCEEDED_ERROR);
    }

    @ConformanceCase(after = "roce-sim.psn_retry_limit_not_exceeded")
    void packetThatTheResponderMissesIsSentAgain() throws Exception {
        Link link = link();
        link.wire.lose(PacketKind.WRITE, link.psn(1), 2);
        write(link);
    }

    @ConformanceCase(after = "roce-sim.write_partial_retry")
    void writeGoesOnWhereItWasInterrupted() throws Exception {
        Link link = link();
        link.wire.lose(PacketKind.WRITE, link.psn(3), 1);
        write(link);
        // The packets before the lost one are not repeated.
        assertThat(link.client.counted("retransmitted_pkts"))
                .isLessThanOrEqualTo(2);
    }

    private static void write(Link link) throws RdmaException {
        access(link, link.client.work(SendOpcode.RDMA_WRITE, LONG_MESSAGE));
    }

    @ConformanceCase(after = "roce-sim.read_partial_retry")
    void readGoesOnWhereItWasInterrupted() throws Exception {
        Link link = link();
        link.wire.lose(PacketKind.READ_RESPONSE, link.psn(3), 1);
        access(link, link.client.work(SendOpcode.RDMA_READ, LONG_MESSAGE));
    }

    // ---------------------------------------------------------------- refusals

    @ConformanceCase(after = "roce-sim.rkey_violation")
    void wrongKeyIsARemoteAccessError() throws Exception {
        Link link = link();
        byte[] before = link.server.load(0, Player.MEMORY);
        Work work = link.client.work(SendOpcode.RDMA_WRITE, 100);
        link.assertFails(link.client.post(work.rkey(work.rkey() ^ 0x100)),
                WorkCompletionStatus.REMOTE_ACCESS_ERROR);
        assertThat(Arrays.equals(link.server.load(0, Player.MEMORY), before)).isTrue();
        link.assertServerSees(AsyncEventType.QP_ACCESS_ERROR);
    }

    @ConformanceCase(after = "roce-sim.remote_operation_err")
    void receiveIntoMemoryThatIsNotThereIsARemoteOperationError() throws Exception {
        Link link = link();
        Player server = link.server;
        long receive = server.newId();
        server.queuePair.postReceive(new ReceiveWorkRequest().id(receive).add(
                server.region.address(), 1000, server.region.lkey() ^ 0x100));
        link.assertFails(link.post(SendOpcode.SEND, 100),
                WorkCompletionStatus.REMOTE_OPERATION_ERROR);
        assertThat(server.await(receive).status())
                .isEqualTo(WorkCompletionStatus.LOCAL_PROTECTION_ERROR);
    }

    @ConformanceCase(after = "roce-sim.unexpected_opcode")
    void packetOutOfTurnIsARemoteInvalidRequest() throws Exception {
        Link link = link();
        link.wire.replaceByMiddleOfWrite(link.psn(0));
        link.assertFails(link.post(SendOpcode.RDMA_WRITE, 100),
                WorkCompletionStatus.REMOTE_INVALID_REQUEST_ERROR);
        link.assertServerSees(AsyncEventType.QP_REQUEST_ERROR);
    }

    @ConformanceCase(after = "roce-sim.rnr_nak_retry_limit_exceeded")
    void receiverThatIsNeverReadyFailsTheSend() throws Exception {
        Link link = new Link(new PlayerSettings().with(own -> own.rnrRetry = RETRIES));
        link.assertFails(link.post(SendOpcode.SEND, 100),
                WorkCompletionStatus.RNR_RETRY_EXCEEDED_ERROR);
    }

    @ConformanceCase(after = "roce-sim.rnr_nak_retry_limit_not_exceeded")
    void sendSucceedsWhenTheReceiverBecomesReady() throws Exception {
        Link link = link();
        long send = link.post(SendOpcode.SEND, 100);
        link.runUntilCounted("rcvd_rnr_err");
        long receive = link.server.receive(100);
        link.client.awaitSuccess(send);
        link.server.awaitSuccess(receive);
    }
}
