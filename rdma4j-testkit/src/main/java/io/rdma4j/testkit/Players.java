// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.testkit;

import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.WorkCompletionFlag;
import io.rdma4j.verbs.WorkCompletionOpcode;
import io.rdma4j.verbs.WorkCompletionStatus;

import java.util.Arrays;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two players, connected by the connector of the test, and the traffic between them, whose contents are checked on arrival.
 */
final class Players {
    /** Messages each way, unless a test says otherwise. */
    static final int ROUNDS = 20;

    final Player client;
    final Player server;
    private final Connector connector;
    private final boolean isAcknowledged;

    /**
     * @param isAcknowledged whether what has completed has been taken by the peer, as with InfiniBand; otherwise it has been
     *        handed over to be sent, and what the peer refuses ends the connection
     */
    Players(Cleanup cleanup, Pace pace, Connector connector, PlayerSettings settings,
            boolean isAcknowledged) throws RdmaException {
        this.connector = connector;
        this.isAcknowledged = isAcknowledged;
        // Both wrap around within a test.
        client = new Player(cleanup, pace, connector.clientContext(), 0xfffff8, settings,
                connector::createForClient);
        server = new Player(cleanup, pace, connector.serverContext(), 0xfffff0, settings,
                connector::createForServer);
        connector.connect(client, client.queuePair, server, server.queuePair);
        client.meet(server);
        server.meet(client);
    }

    /** The queue pairs of a connection. */
    record Ends(QueuePair ofClient, QueuePair ofServer) {}

    /** Makes another connection between the two, beside the first. */
    Ends connectAnother() throws RdmaException {
        QueuePair ofClient = connector.createForClient(client, client.queuePairAttributes());
        QueuePair ofServer = connector.createForServer(server, server.queuePairAttributes());
        connector.connect(client, ofClient, server, ofServer);
        return new Ends(ofClient, ofServer);
    }

    /** Makes the connection anew after a failure. */
    void reconnect() throws RdmaException {
        connector.reconnect(client, server);
        client.forget();
        server.forget();
    }

    // ---------------------------------------------------------------- messages

    /** Sends messages to and fro, each into a receive of the other. */
    void exchange(SendOpcode opcode) throws RdmaException {
        for (int round = 0; round < ROUNDS; round++) {
            message(client, opcode, round);
            message(server, opcode, round);
        }
    }

    /** Sends one message, which must arrive as it was. */
    static void message(Player from, SendOpcode opcode, int round) throws RdmaException {
        Player to = from.peer();
        int length = from.settings.messageLength;
        int header = to.headerLength();
        byte[] sent = pattern(from, round, length);
        from.store(Player.SEND_AT, sent);
        to.store(Player.RECEIVE_AT, new byte[header + length]);
        long receive = to.receive(length);
        long send = from.post(from.work(opcode, length));

        assertThat(from.awaitSuccess(send).opcode()).isEqualTo(opcode.completionOpcode());
        WorkCompletion received = to.awaitSuccess(receive);
        boolean isWrite = opcode == SendOpcode.RDMA_WRITE_WITH_IMMEDIATE;
        assertThat(received.opcode()).isEqualTo(isWrite
                ? WorkCompletionOpcode.RECEIVE_RDMA_WITH_IMMEDIATE
                : WorkCompletionOpcode.RECEIVE);
        assertThat(received.byteLength()).isEqualTo(header + length);
        boolean hasImmediate = isWrite || opcode == SendOpcode.SEND_WITH_IMMEDIATE;
        assertThat(received.has(WorkCompletionFlag.WITH_IMMEDIATE)).isEqualTo(hasImmediate);
        if (hasImmediate) {
            assertThat(received.immediate()).isEqualTo(Player.IMMEDIATE);
        }
        if (from.settings.type == QueuePairType.UD) {
            assertThat(header).isEqualTo(AddressHandle.GLOBAL_ROUTE_LENGTH);
            assertThat(received.has(WorkCompletionFlag.GRH)).isTrue();
            assertThat(received.sourceQueuePairNumber()).isEqualTo(from.queuePair.number());
        }
        assertThat(to.load(Player.RECEIVE_AT + header, length)).isEqualTo(sent);
    }

    // ---------------------------------------------------------------- access to the peer's memory

    /** Writes or reads the other's memory, to and fro. */
    void access(SendOpcode opcode) throws RdmaException {
        for (int round = 0; round < ROUNDS; round++) {
            access(client, opcode, round);
            access(server, opcode, round);
        }
    }

    /** Writes or reads the peer's memory once; the bytes must arrive as they were. */
    void access(Player from, SendOpcode opcode, int round) throws RdmaException {
        access(from, from.work(opcode, from.settings.messageLength), round);
    }

    void access(Player from, Work work, int round) throws RdmaException {
        boolean isRead = work.opcode() == SendOpcode.RDMA_READ;
        Player source = isRead ? from.peer() : from;
        Player target = isRead ? from : from.peer();
        int length = (int) work.length();
        if (length == 0) {
            accessNothing(from, work);
            return;
        }
        byte[] sent = pattern(source, round, length);
        source.store(Player.SEND_AT, sent);
        target.store(Player.RECEIVE_AT, new byte[length]);
        WorkCompletion done = from.awaitSuccess(from.post(work));
        assertThat(done.opcode()).isEqualTo(work.opcode().completionOpcode());
        if (!isRead && !isAcknowledged) {
            Wait.until("the bytes are in the peer's memory",
                    () -> Arrays.equals(target.load(Player.RECEIVE_AT, length), sent));
        }
        assertThat(target.load(Player.RECEIVE_AT, length)).isEqualTo(sent);
    }

    /** Does work without payload, which must leave all memory as it was. */
    private static void accessNothing(Player from, Work work) throws RdmaException {
        byte[] own = from.load(0, Player.MEMORY);
        byte[] others = from.peer().load(0, Player.MEMORY);
        WorkCompletion done = from.awaitSuccess(from.post(work));
        assertThat(done.opcode()).isEqualTo(work.opcode().completionOpcode());
        assertUnchanged(from, own);
        assertUnchanged(from.peer(), others);
    }

    private static void assertUnchanged(Player player, byte[] before) throws RdmaException {
        assertThat(Arrays.mismatch(player.load(0, Player.MEMORY), before))
                .as("the first byte that has changed in memory").isEqualTo(-1);
    }

    /** Runs atomics on the other's memory, to and fro. */
    void atomics(SendOpcode opcode, long receiverValue, long senderValue) throws RdmaException {
        for (int round = 0; round < ROUNDS; round++) {
            atomic(client, opcode, receiverValue, senderValue);
            atomic(server, opcode, receiverValue, senderValue);
        }
    }

    /** Runs one atomic, which must give back the old value and leave the new one. */
    static void atomic(Player from, SendOpcode opcode, long receiverValue, long senderValue)
            throws RdmaException {
        long swap = 0x0123_4567_89ab_cdefL;
        Player to = from.peer();
        from.storeLong(Player.RESULT_AT, -1);
        to.storeLong(Player.RECEIVE_AT, receiverValue);
        WorkCompletion done = from.awaitSuccess(
                from.post(from.work(opcode, 8).atomic(senderValue, swap)));
        assertThat(done.opcode()).isEqualTo(opcode.completionOpcode());
        assertThat(from.loadLong(Player.RESULT_AT)).isEqualTo(receiverValue);
        long expected;
        if (opcode == SendOpcode.ATOMIC_FETCH_AND_ADD) {
            expected = receiverValue + senderValue;
        } else {
            expected = receiverValue == senderValue ? swap : receiverValue;
        }
        assertThat(to.loadLong(Player.RECEIVE_AT)).isEqualTo(expected);
    }

    // ---------------------------------------------------------------- failures

    /** Asserts how the client's work ends. */
    void assertEnds(Work work, WorkCompletionStatus status) throws RdmaException {
        WorkCompletion completion = client.await(client.post(work));
        assertThat(completion.status()).as(completion.toString()).isEqualTo(status);
    }

    /** Asserts that the client's work ends as it does when the server cannot take it. */
    void assertRefusedByPeer(Work work, WorkCompletionStatus... statuses) throws RdmaException {
        WorkCompletion completion = client.await(client.post(work));
        if (isAcknowledged) {
            assertThat(completion.status()).as(completion.toString()).isIn((Object[]) statuses);
            return;
        }
        // A write or a message had been handed over before; what is waited for is not answered.
        assertThat(completion.status()).as(completion.toString()).isIn(
                work.opcode() == SendOpcode.RDMA_READ
                        ? WorkCompletionStatus.REMOTE_ACCESS_ERROR
                        : WorkCompletionStatus.SUCCESS,
                WorkCompletionStatus.WORK_REQUEST_FLUSHED);
        awaitEnd();
    }

    /** The connection is over on both sides. */
    private void awaitEnd() throws RdmaException {
        for (Player each : List.of(client, server)) {
            Wait.until("the connection is over",
                    () -> each.queuePair.state() == QueuePairState.ERR);
        }
    }

    /** Asserts that the server refuses the client's access, and that its memory stays as it was. */
    void assertAccessRefused(Work work) throws RdmaException {
        assertFailsWithoutTrace(work, WorkCompletionStatus.REMOTE_ACCESS_ERROR);
    }

    /** Asserts that the client's work ends in one of some errors, and the server's memory stays as it was. */
    void assertFailsWithoutTrace(Work work, WorkCompletionStatus... statuses)
            throws RdmaException {
        // What would arrive, if it did, is not what is there.
        client.store(Player.SEND_AT, pattern(client, 1, Player.RESULT_AT));
        server.store(Player.RECEIVE_AT, new byte[Player.MEMORY - Player.RECEIVE_AT]);
        byte[] before = server.load(0, Player.MEMORY);
        assertRefusedByPeer(work, statuses);
        assertUnchanged(server, before);
    }

    /** Asserts that the client's work needs the server: it fails once the server's queue pair is in error. */
    void assertNeedsThePeer(Work work) throws RdmaException {
        server.queuePair.modify(new QueuePairAttributes().state(QueuePairState.ERR));
        if (!isAcknowledged) {
            awaitEnd();
        }
        WorkCompletion completion = client.await(client.post(work));
        assertThat(completion.isSuccess()).as(completion.toString()).isFalse();
    }

    private static byte[] pattern(Player of, int round, int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) (of.firstPsn + 31 * round + 7 * i + 1);
        }
        return bytes;
    }
}
