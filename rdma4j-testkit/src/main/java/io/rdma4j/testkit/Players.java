package io.rdma4j.testkit;

import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.WorkCompletionFlag;
import io.rdma4j.verbs.WorkCompletionOpcode;
import io.rdma4j.verbs.WorkCompletionStatus;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two players, connected by hand over their GIDs, and the traffic between them: a test makes them, lets
 * them exchange something, and what arrives has been checked.
 */
final class Players {
    /** Messages each way, unless a test says otherwise. */
    static final int ROUNDS = 20;
    static final int IMMEDIATE = 0xcafe_f00d;

    final Player client;
    final Player server;

    /** Closes objects in the end, the last first. */
    @FunctionalInterface
    interface Keeper {
        <T extends AutoCloseable> T keep(T object);
    }

    /** What happens between two looks at a completion queue. */
    @FunctionalInterface
    interface Pace {
        void step();
    }

    Players(Keeper keeper, RdmaDevice device, RdmaDevice peerDevice, PlayerSettings settings)
            throws RdmaException {
        this(keeper, Thread::onSpinWait, keeper.keep(device.open()),
                keeper.keep(peerDevice.open()), settings);
    }

    Players(Keeper keeper, Pace pace, DeviceContext ofClient, DeviceContext ofServer,
            PlayerSettings settings) throws RdmaException {
        // Both wrap around within a test.
        client = new Player(keeper, pace, ofClient, 0xfffff8, settings);
        server = new Player(keeper, pace, ofServer, 0xfffff0, settings);
        connect();
    }

    private void connect() throws RdmaException {
        client.connect(server);
        server.connect(client);
    }

    /** Makes the connection anew after a failure. */
    void reconnect() throws RdmaException {
        client.reset();
        server.reset();
        connect();
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
            assertThat(received.immediate()).isEqualTo(IMMEDIATE);
        }
        if (from.settings.type == QueuePairType.UD) {
            assertThat(header).isEqualTo(AddressHandle.GLOBAL_ROUTE_LENGTH);
            assertThat(received.has(WorkCompletionFlag.GRH)).isTrue();
            assertThat(received.sourceQueuePair()).isEqualTo(from.queuePair.number());
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
    static void access(Player from, SendOpcode opcode, int round) throws RdmaException {
        access(from, from.work(opcode, from.settings.messageLength), round);
    }

    static void access(Player from, Work work, int round) throws RdmaException {
        boolean isRead = work.opcode() == SendOpcode.RDMA_READ;
        Player source = isRead ? from.peer() : from;
        Player target = isRead ? from : from.peer();
        int length = (int) work.length();
        byte[] sent = pattern(source, round, length);
        source.store(Player.SEND_AT, sent);
        target.store(Player.RECEIVE_AT, new byte[length]);
        WorkCompletion done = from.awaitSuccess(from.post(work));
        assertThat(done.opcode()).isEqualTo(work.opcode().completionOpcode());
        assertThat(target.load(Player.RECEIVE_AT, length)).isEqualTo(sent);
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

    private static byte[] pattern(Player of, int round, int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) (of.firstPsn + 31 * round + 7 * i + 1);
        }
        return bytes;
    }
}
