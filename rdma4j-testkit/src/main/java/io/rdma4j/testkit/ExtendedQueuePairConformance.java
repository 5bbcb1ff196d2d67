// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.testkit;

import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.FlushPlacement;
import io.rdma4j.verbs.FlushSelectivity;
import io.rdma4j.verbs.MemoryWindow;
import io.rdma4j.verbs.MemoryWindowBind;
import io.rdma4j.verbs.MemoryWindowType;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendBatch;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletionOpcode;

import java.lang.foreign.MemorySegment;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;

/** Requests posted piece by piece, of every kind; posting where it is not allowed. */
public abstract class ExtendedQueuePairConformance extends Conformance {
    /** Called by subclasses. */
    protected ExtendedQueuePairConformance() {}

    private static PlayerSettings datagrams() {
        return new PlayerSettings().type(QueuePairType.UD);
    }

    private static PlayerSettings connection() {
        return new PlayerSettings();
    }

    /** Players to post with: datagrams where the device has them, as the original does it. */
    private Players posting() throws RdmaException {
        return players((isIwarp() ? connection() : datagrams())
                .sendOperations(SendOpcode.SEND));
    }

    /** Both sides send messages of one kind, which must arrive. */
    private void exchange(SendOpcode opcode, PlayerSettings settings) throws RdmaException {
        players(settings.sendOperations(opcode)).exchange(opcode);
    }

    /** Both sides access the other's memory in one way. */
    private void access(SendOpcode opcode, PlayerSettings settings) throws RdmaException {
        players(settings.sendOperations(opcode)).access(opcode);
    }

    /** Accesses no bytes, which touches no memory and yet needs the peer. */
    private void accessNothing(SendOpcode opcode) throws RdmaException {
        Players players = players(connection().sendOperations(opcode).with(own -> {
            own.messageLength = 0;
            // 4 ms each: the last one is never answered.
            own.timeout = 10;
            own.retryCount = 2;
        }));
        players.access(opcode);
        players.assertNeedsThePeer(players.client.work(opcode, 0));
    }

    private void atomics(SendOpcode opcode) throws RdmaException {
        players(connection().sendOperations(opcode).regionAccess(AccessFlag.LOCAL_WRITE,
                AccessFlag.REMOTE_ATOMIC)).atomics(opcode, 1, 2);
    }

    // ---------------------------------------------------------------- messages

    @ConformanceCase(after = "test_qpex.qp_ex_ud_send")
    void datagramsTravel() throws RdmaException {
        exchange(SendOpcode.SEND, datagrams());
    }

    @ConformanceCase(after = "test_qpex.qp_ex_ud_zero_size")
    void emptyDatagramsTravel() throws RdmaException {
        exchange(SendOpcode.SEND, datagrams().with(own -> own.messageLength = 0));
    }

    @ConformanceCase(after = "test_qpex.qp_ex_ud_send_imm")
    void datagramsCarryImmediates() throws RdmaException {
        exchange(SendOpcode.SEND_WITH_IMMEDIATE, datagrams());
    }

    @ConformanceCase(after = "test_qpex.qp_ex_rc_send")
    void messagesTravel() throws RdmaException {
        exchange(SendOpcode.SEND, connection());
    }

    @ConformanceCase(after = "test_qpex.qp_ex_rc_send_imm")
    void messagesCarryImmediates() throws RdmaException {
        exchange(SendOpcode.SEND_WITH_IMMEDIATE, connection());
    }

    /** C: {@code ibv_wr_set_inline_data_list}. The bytes are those of the moment in which they are appended. */
    @ConformanceCase
    void inlineDataOfSeveralPiecesIsOneMessage() throws RdmaException {
        Players players = players(connection().sendOperations(SendOpcode.SEND)
                .with(own -> own.inlineData = 32));
        MemorySegment bytes = MemorySegment.ofArray(new byte[]{1, 2, 3, 4, 5, 6});
        long received = players.server.receive(6);
        long id = players.client.newId();
        try (SendBatch batch = players.client.queuePair.startBatch()) {
            batch.id(id).flags(SendFlag.SIGNALED).send().inline(bytes.asSlice(0, 1))
                    .inline(bytes.asSlice(1, 0)).inline(bytes.asSlice(1, 5));
            bytes.fill((byte) 0);
            batch.post();
        }
        players.client.awaitSuccess(id);
        assertThat(players.server.awaitSuccess(received).byteLength()).isEqualTo(6);
        assertThat(players.server.load(Player.RECEIVE_AT, 6)).containsExactly(1, 2, 3, 4, 5, 6);
    }

    // ---------------------------------------------------------------- access to the peer's memory

    @ConformanceCase(after = "test_qpex.qp_ex_rc_rdma_write")
    void writesArrive() throws RdmaException {
        access(SendOpcode.RDMA_WRITE, connection());
    }

    @ConformanceCase(after = "test_qpex.qp_ex_rc_rdma_write_imm")
    void writesCarryImmediates() throws RdmaException {
        exchange(SendOpcode.RDMA_WRITE_WITH_IMMEDIATE, connection());
    }

    @ConformanceCase(after = "test_qpex.qp_ex_rc_rdma_write_zero_size")
    void emptyWritesComplete() throws RdmaException {
        accessNothing(SendOpcode.RDMA_WRITE);
    }

    @ConformanceCase(after = "test_qpex.qp_ex_rc_rdma_read")
    void readsFetch() throws RdmaException {
        access(SendOpcode.RDMA_READ, connection());
    }

    @ConformanceCase(after = "test_qpex.qp_ex_rc_rdma_read_zero_size")
    void emptyReadsComplete() throws RdmaException {
        accessNothing(SendOpcode.RDMA_READ);
    }

    @ConformanceCase(after = "test_qpex.qp_ex_rc_atomic_write")
    void atomicWritesArrive() throws RdmaException {
        access(SendOpcode.ATOMIC_WRITE, connection().with(own -> own.messageLength = 8));
    }

    @ConformanceCase(after = "test_qpex.qp_ex_rc_atomic_cmp_swp")
    void comparesAndSwaps() throws RdmaException {
        atomics(SendOpcode.ATOMIC_COMPARE_AND_SWAP);
    }

    @ConformanceCase(after = "test_qpex.qp_ex_rc_atomic_fetch_add")
    void fetchesAndAdds() throws RdmaException {
        atomics(SendOpcode.ATOMIC_FETCH_AND_ADD);
    }

    // ---------------------------------------------------------------- flushes

    /** Players of which the client flushes, after it has written. */
    static Players flushing(Conformance test, PlayerSettings settings) throws RdmaException {
        return test.players(settings.sendOperations(SendOpcode.FLUSH, SendOpcode.RDMA_WRITE)
                .queuePairAccess(AccessFlag.REMOTE_WRITE, AccessFlag.FLUSH_GLOBAL,
                        AccessFlag.FLUSH_PERSISTENT));
    }

    private static PlayerSettings flushable() {
        return new PlayerSettings().regionAccess(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE,
                AccessFlag.FLUSH_GLOBAL);
    }

    /** Writes and flushes, a range and then the whole region, whose range does not matter. */
    static void writeAndFlush(Players players) throws RdmaException {
        Player client = players.client;
        for (FlushSelectivity selectivity : FlushSelectivity.values()) {
            for (int round = 0; round < Players.ROUNDS; round++) {
                players.access(client, SendOpcode.RDMA_WRITE, round);
                long length = selectivity == FlushSelectivity.RANGE ? 1000 : 1234L * round;
                Work flush = client.work(SendOpcode.FLUSH, length).flush(FlushPlacement.GLOBAL,
                        selectivity);
                assertThat(client.awaitSuccess(client.post(flush)).opcode())
                        .isEqualTo(WorkCompletionOpcode.FLUSH);
            }
        }
    }

    @ConformanceCase(after = "test_qpex.qp_ex_rc_flush")
    void writesCanBeFlushed() throws RdmaException {
        Players players = flushing(this, flushable());
        writeAndFlush(players);
        // The peer carries it out, and not this side.
        players.assertAccessRefused(
                players.client.work(SendOpcode.FLUSH, 1000).rkey(players.server.region.rkey() + 1));
    }

    @ConformanceCase(after = "test_qpex.qp_ex_rc_flush_type_violate")
    void flushToAPlacementTheRegionDoesNotAllowIsRefused() throws RdmaException {
        Players players = flushing(this, flushable());
        players.assertAccessRefused(players.client.work(SendOpcode.FLUSH, 1000)
                .flush(FlushPlacement.PERSISTENT, FlushSelectivity.RANGE));
    }

    // ---------------------------------------------------------------- windows

    @ConformanceCase(after = "test_qpex.qp_ex_rc_bind_mw")
    void windowWithoutTheRightToWriteIsNotWritten() throws RdmaException {
        Players players = players(
                connection().sendOperations(SendOpcode.RDMA_WRITE, SendOpcode.BIND_MEMORY_WINDOW)
                        .regionAccess(
                                AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE,
                                AccessFlag.MW_BIND));
        Player server = players.server;
        MemoryWindow window = keep(server.domain.allocateMemoryWindow(MemoryWindowType.TYPE_2));
        int rkey = MemoryWindow.nextRkey(window.rkey());
        long id = server.newId();
        try (SendBatch batch = server.queuePair.startBatch()) {
            batch.id(id).flags(SendFlag.SIGNALED).bind(window, rkey, new MemoryWindowBind(
                    server.region, server.region.address(), server.region.length(),
                    Set.of(AccessFlag.REMOTE_READ)));
            batch.post();
        }
        assertThat(server.awaitSuccess(id).opcode())
                .isEqualTo(WorkCompletionOpcode.BIND_MEMORY_WINDOW);
        players.assertAccessRefused(players.client.work(SendOpcode.RDMA_WRITE, 1000).rkey(rkey));
    }

    // ---------------------------------------------------------------- where posting is not allowed

    @ConformanceCase(after = "test_qpex.post_receive_qp_state_bad_flow")
    void receiveInResetIsRefused() throws RdmaException {
        assumeOffered(run().profile() != ConformanceProfile.NATIVE_IWARP,
                "an RNIC has no state RESET");
        Player server = posting().server;
        QueuePair fresh = server.newQueuePair();
        if (isIwarp()) {
            fresh.modify(new QueuePairAttributes().state(QueuePairState.RESET));
        }
        assertThat(fresh.state()).isEqualTo(QueuePairState.RESET);
        assertRefused(
                () -> fresh.postReceive(
                        new ReceiveWorkRequest().add(server.region, Player.RECEIVE_AT, 100)),
                Errno.EINVAL, "RESET");
    }

    @ConformanceCase(after = "test_qpex.post_send_qp_state_bad_flow")
    void sendInTheFirstStateIsRefused() throws RdmaException {
        Player client = posting().client;
        QueuePair fresh = client.newQueuePair();
        QueuePairState first = fresh.state();
        assertRefused(
                () -> fresh.postSend(
                        new SendWorkRequest().send().add(client.region, Player.SEND_AT, 100)),
                Errno.EINVAL, first.name());
        assertRefused(() -> {
            try (SendBatch batch = fresh.startBatch()) {
                batch.id(1).send().add(client.region, 0, 100);
                batch.post();
            }
        }, Errno.EINVAL, first.name());
    }

    @ConformanceCase(after = "test_qpex.full_rq_bad_flow")
    void receiveBeyondTheQueueIsRefused() throws RdmaException {
        Player server = posting().server;
        int capacity = server.queuePair.query().capabilities().maxReceiveRequests();
        for (int i = 0; i < capacity; i++) {
            server.receive(100);
        }
        assertRefused(() -> server.receive(100), Errno.ENOMEM);
    }

    @ConformanceCase(after = "test_qpex.rq_with_larger_sgl_bad_flow")
    void receiveOfMoreElementsThanAgreedIsRefused() throws RdmaException {
        Player server = posting().server;
        int elements = server.queuePair.query().capabilities().maxReceiveElements();
        ReceiveWorkRequest request = new ReceiveWorkRequest();
        for (int i = 0; i <= elements; i++) {
            request.add(server.region, Player.RECEIVE_AT + 64L * i, 64);
        }
        assertRefused(() -> server.queuePair.postReceive(request), Errno.EINVAL,
                Integer.toString(elements));
    }
}
