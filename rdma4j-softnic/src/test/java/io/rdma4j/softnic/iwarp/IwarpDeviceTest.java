// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.iwarp;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.protocol.iwarp.wire.MpaFrame;
import io.rdma4j.testkit.Wait;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.OnDemandCapability;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Queue pairs of an iWARP device on real TCP connections of this machine. */
class IwarpDeviceTest extends IwarpStage {
    /** As long as Linux's siw was seen to take for a reply on a busy machine. */
    private static final long TAKEN_IN_NS = 265_000_000;

    IwarpDeviceTest() throws Exception {}

    @Test
    void aConnectionCarriesPrivateDataBothWays() throws Exception {
        connect();
        assertThat(server.privateData).asString().isEqualTo("hello");
        assertThat(client.privateData).asString().isEqualTo("welcome");
        assertThat(client.queuePair.query().state()).isEqualTo(QueuePairState.RTS);
        assertThat(server.queuePair.query().state()).isEqualTo(QueuePairState.RTS);
    }

    @Test
    void messagesArriveInOrder() throws Exception {
        connect();
        for (int i = 0; i < DEPTH; i++) {
            server.receive(i, SIZE);
        }
        for (int i = 0; i < DEPTH; i++) {
            client.memory.set(ValueLayout.JAVA_INT, 0, i);
            client.queuePair.postSend(new SendWorkRequest().id(i).send()
                    .add(client.region, 0, 1 + 7000L * i).set(SendFlag.SIGNALED));
            client.awaitSuccess(i);
            assertThat(server.awaitSuccess(i).byteLength()).isEqualTo(1 + 7000 * i);
            if (i > 0) {
                assertThat(server.memory.get(ValueLayout.JAVA_INT, 0)).isEqualTo(i);
            }
        }
    }

    @Test
    void writesAndReadsOfMegabytesArriveWhole() throws Exception {
        connect();
        for (long i = 0; i < SIZE; i += Long.BYTES) {
            client.memory.set(ValueLayout.JAVA_LONG, i, i * 31);
        }
        client.queuePair.postSend(new SendWorkRequest().id(1)
                .write(server.region.address(), server.region.rkey()).add(client.region, 0, SIZE)
                .set(SendFlag.SIGNALED));
        client.awaitSuccess(1);
        MemorySegment copy = client.memory.asSlice(0, SIZE / 2);
        byte[] wanted = copy.toArray(ValueLayout.JAVA_BYTE);
        copy.fill((byte) 0);
        client.queuePair.postSend(new SendWorkRequest().id(2)
                .read(server.region.address(), server.region.rkey())
                .add(client.region, 0, SIZE / 2).set(SendFlag.SIGNALED));
        client.awaitSuccess(2);
        assertThat(copy.toArray(ValueLayout.JAVA_BYTE)).isEqualTo(wanted);
    }

    /** Each side answers the other while it asks itself, and neither reads before it has sent. */
    @Test
    void bothSidesReadFromEachOtherAtOnce() throws Exception {
        connect();
        int half = SIZE / 2;
        client.memory.asSlice(0, half).fill((byte) 1);
        server.memory.asSlice(0, half).fill((byte) 2);
        for (int i = 0; i < 4; i++) {
            for (Side side : List.of(client, server)) {
                MemoryRegion other = side.equals(client) ? server.region : client.region;
                side.queuePair.postSend(new SendWorkRequest().id(i)
                        .read(other.address(), other.rkey()).add(side.region, half, half)
                        .set(SendFlag.SIGNALED));
            }
        }
        for (int i = 0; i < 4; i++) {
            client.awaitSuccess(i);
            server.awaitSuccess(i);
        }
        assertThat(client.memory.get(ValueLayout.JAVA_BYTE, SIZE - 1)).isEqualTo((byte) 2);
        assertThat(server.memory.get(ValueLayout.JAVA_BYTE, SIZE - 1)).isEqualTo((byte) 1);
    }

    /** What was posted before it leaves first. */
    @Test
    void aMessageIsNotCutOffByTheEnd() throws Exception {
        connect();
        server.receive(1, SIZE);
        client.queuePair.postSend(new SendWorkRequest().id(1).send().add(client.region, 0, SIZE));
        client.connected().disconnect();
        assertThat(server.awaitSuccess(1).byteLength()).isEqualTo(SIZE);
        server.awaitWord("over");
    }

    @Test
    void aMessageWithoutAReceiveEndsTheConnection() throws Exception {
        connect();
        client.receive(5, 10);
        client.queuePair.postSend(
                new SendWorkRequest().id(1).send().add(client.region, 0, 8).set(SendFlag.SIGNALED));
        client.awaitSuccess(1);
        client.awaitWord("over");
        server.awaitWord("over");
        assertThat(client.await().status()).isEqualTo(WorkCompletionStatus.WORK_REQUEST_FLUSHED);
    }

    /** The queue pair allows READs, as the first one shows. */
    @Test
    void aReadOfMemoryThatMayOnlyBeWrittenIsRefusedAndBringsNothing() throws Exception {
        connect();
        server.memory.fill((byte) 7);
        try (MemoryRegion writable = domain.register(server.memory, AccessFlag.LOCAL_WRITE,
                AccessFlag.REMOTE_WRITE)) {
            read(1, server.region, 0);
            client.awaitSuccess(1);
            read(2, writable, 100);
            assertThat(client.await().status()).isEqualTo(WorkCompletionStatus.REMOTE_ACCESS_ERROR);
            client.awaitWord("over");
            server.awaitWord("over");
        }
        assertThat(client.memory.get(ValueLayout.JAVA_BYTE, 99)).isEqualTo((byte) 7);
        assertThat(client.memory.asSlice(100, 100).toArray(ValueLayout.JAVA_BYTE))
                .containsOnly(0);
    }

    private void read(long id, MemoryRegion from, long to) throws RdmaException {
        client.queuePair.postSend(new SendWorkRequest().id(id).read(from.address(), from.rkey())
                .add(client.region, to, 100).set(SendFlag.SIGNALED));
    }

    @Test
    void aConnectionThatEndsTellsBothSides() throws Exception {
        connect();
        server.receive(9, 100);
        client.connected().disconnect();
        client.awaitWord("over");
        server.awaitWord("over");
        assertThat(client.heard).containsExactly("established", "disconnected", "over");
        assertThat(server.heard).containsExactly("request", "established", "disconnected", "over");
        assertThat(server.await().status()).isEqualTo(WorkCompletionStatus.WORK_REQUEST_FLUSHED);
        assertThat(server.queuePair.query().state()).isEqualTo(QueuePairState.ERR);
    }

    @Test
    void aQueuePairThatIsClosedEndsItsConnection() throws Exception {
        connect();
        client.queuePair.close();
        server.awaitWord("over");
    }

    @Test
    void aRefusalCarriesPrivateData() throws Exception {
        ask(listen());
        server.awaitWord("request");
        server.connected().reject("no".getBytes(StandardCharsets.US_ASCII));
        client.awaitWord("refused -104");
        assertThat(client.privateData).asString().isEqualTo("no");
    }

    @Test
    void whereNobodyListensNobodyAnswers() throws Exception {
        ask(freePort());
        client.awaitWord("refused -111");
    }

    @Test
    void aPeerThatSpeaksSomethingElseIsRefused() throws Exception {
        try (ServerSocket stranger = new ServerSocket(0, 1, ADDRESS)) {
            ask(stranger.getLocalPort());
            try (var accepted = stranger.accept()) {
                accepted.getOutputStream()
                        .write("220 ready\r\n".getBytes(StandardCharsets.US_ASCII));
                client.awaitWord("refused -104");
            }
        }
    }

    /** It is established at once; the event comes after accept has returned. What is posted is sent a little later. */
    @Test
    void anInitiatorThatPromisesNothingIsSpokenToAfterAWhile() throws Exception {
        try (Socket initiator = askAsInitiatorOfRevisionOne(listen())) {
            long acceptedNs = System.nanoTime();
            server.connected().accept(new ConnectionParameters(), server.queuePair.number());
            server.awaitWord("established");
            server.queuePair.postSend(new SendWorkRequest().id(1).send().add(server.region, 0, 8)
                    .set(SendFlag.SIGNALED));
            byte[] reply = initiator.getInputStream().readNBytes(MpaFrame.HEADER_LENGTH);
            assertThat(reply).startsWith("MPA ID Rep Frame".getBytes(StandardCharsets.US_ASCII));
            assertThat(initiator.getInputStream().readNBytes(4)).containsExactly(0, 26, 0x41, 0x43);
            assertThat(System.nanoTime() - acceptedNs).isGreaterThan(TAKEN_IN_NS);
            server.awaitSuccess(1);
        }
        server.awaitWord("over");
    }

    @Test
    void aRequestThatIsWithdrawnCannotBeAccepted() throws Exception {
        askAsInitiatorOfRevisionOne(listen()).close();
        server.awaitWord("unreachable ECONNRESET");
        assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> server.connected()
                .accept(new ConnectionParameters(), server.queuePair.number()))
                .matches(e -> e.errno() == Errno.ECONNRESET);
    }

    @Test
    void requestsBeyondTheBacklogAreRejected() throws Exception {
        int port = listen();
        List<Socket> waiting = new ArrayList<>();
        try {
            for (int i = 0; i < BACKLOG; i++) {
                waiting.add(askAsInitiatorOfRevisionOne(port));
            }
            Wait.until("all requests", () -> server.heard.size() == BACKLOG);
            ask(port);
            client.awaitWord("refused -104");
        } finally {
            for (Socket each : waiting) {
                each.close();
            }
        }
    }

    private static void assertUnsupported(String what, ThrowingCallable attempt) {
        assertThatExceptionOfType(RdmaException.class).isThrownBy(attempt)
                .matches(e -> e.errno() == Errno.EOPNOTSUPP)
                .satisfies(e -> assertThat(e).message().hasLineCount(1).contains(what));
    }

    @ParameterizedTest
    @EnumSource(value = QueuePairType.class, mode = EnumSource.Mode.EXCLUDE, names = "RC")
    void queuePairsThatTheTransportLacksAreRefused(QueuePairType type) {
        assertUnsupported(type.name(), () -> domain.createQueuePair(
                new QueuePairInitAttributes().type(type).completionQueue(client.completions)));
    }

    @ParameterizedTest
    @EnumSource(value = SendOpcode.class, mode = EnumSource.Mode.EXCLUDE, names = {"SEND",
        "SEND_WITH_INVALIDATE", "RDMA_WRITE", "RDMA_READ", "LOCAL_INVALIDATE",
        "BIND_MEMORY_WINDOW"})
    void operationsThatTheTransportLacksAreRefused(SendOpcode opcode) throws Exception {
        connect();
        assertUnsupported(opcode.name(), () -> client.queuePair
                .postSend(new SendWorkRequest().opcode(opcode).add(client.region, 0, 8)));
        assertThat(client.queuePair.state()).isEqualTo(QueuePairState.RTS);
    }

    /** iWARP has no "receiver not ready". Programs may name such retries, as C's perftest does over siw. */
    @Test
    void retriesForAReceiverThatIsNotReadyHaveNoEffect() throws Exception {
        client.queuePair.modify(new QueuePairAttributes().rnrRetry(7).minRnrTimerCode(12));
        server.queuePair.modify(new QueuePairAttributes().minRnrTimerCode(12));
        connect();
        client.queuePair.postSend(
                new SendWorkRequest().id(1).send().add(client.region, 0, 8).set(SendFlag.SIGNALED));
        client.awaitSuccess(1);
        client.awaitWord("over");
    }

    @Test
    void datagramsThatTheTransportLacksAreRefused() throws Exception {
        assertUnsupported("address handle", () -> domain.createAddressHandle(
                AddressHandleAttributes.to(context.queryGid(1, 0), 1)));
        assertThat(context.datagramServices()).isNull();
    }

    @Test
    void onDemandPagingIsForTheOperationsThatThereAre() throws Exception {
        assertThat(context.queryDevice().onDemandPaging()).isEqualTo(Map.of(
                QueuePairType.RC,
                Set.of(OnDemandCapability.SEND, OnDemandCapability.RECEIVE,
                        OnDemandCapability.WRITE, OnDemandCapability.READ,
                        OnDemandCapability.SHARED_RECEIVE)));
    }
}
