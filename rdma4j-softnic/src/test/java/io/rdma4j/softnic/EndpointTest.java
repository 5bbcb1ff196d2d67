// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.cm.AddressInfo;
import io.rdma4j.cm.AddressInfo.Flag;
import io.rdma4j.cm.AddressInfo.Hints;
import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmEventType;
import io.rdma4j.cm.CmId;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.testkit.Wait;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ScatterGatherElement;
import io.rdma4j.verbs.SendBatch;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;
import io.rdma4j.verbs.SharedReceiveQueueType;
import io.rdma4j.verbs.WorkCompletion;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/** Endpoints: an id with addresses and queue pair in one call, as the short programs use them. */
class EndpointTest extends CmStage {
    private static final String DEVICE = "rdma4j.device";

    /** The one way to choose the device of an endpoint. */
    private static void choose(String device) {
        System.setProperty(DEVICE, device);
    }

    @AfterEach
    void chooseNone() {
        System.clearProperty(DEVICE);
    }

    static List<Arguments> devicesAndAddresses() {
        return ownAddresses().stream().flatMap(
                address -> Stream.of(arguments("roce", address), arguments("iwarp", address)))
                .toList();
    }

    private CmId passive(PortSpace space, QueuePairType type, String address) throws Exception {
        AddressInfo info = AddressInfo.resolve(address, null,
                new Hints().set(Flag.PASSIVE).portSpace(space).queuePairType(type)).getFirst();
        CmId listener = closedAtEnd(CmId.createEndpoint(info, reliable().type(type)));
        listener.listen(4);
        return listener;
    }

    private CmId active(CmId listener) throws Exception {
        AddressInfo info = AddressInfo
                .resolve(listener.localAddress().getAddress().getHostAddress(),
                        String.valueOf(listener.localPort()),
                        new Hints().set(Flag.NUMERIC_HOST)
                                .portSpace(listener.portSpace())
                                .queuePairType(listener.queuePairType()))
                .getFirst();
        return closedAtEnd(CmId.createEndpoint(info, reliable()));
    }

    /** Accepts the next request of a listener in another thread. */
    private static CompletableFuture<CmId> accepting(CmId listener, Preparation preparation) {
        return CompletableFuture.supplyAsync(() -> {
            try {
                CmId id = listener.awaitRequest();
                preparation.prepare(id);
                id.accept();
                return id;
            } catch (RdmaException e) {
                throw new IllegalStateException(e);
            }
        });
    }

    /** A WRITE that has completed is in the other side's memory, but over iWARP perhaps on its way. */
    private static void assertWritten(String device, MemorySegment memory, long at, String text) {
        if ("iwarp".equals(device)) {
            Wait.until("the WRITE has arrived", () -> memory.getString(at).equals(text));
        }
        assertThat(memory.getString(at)).isEqualTo(text);
    }

    /** A file that may only be read is sent, and read by the peer, from where it is mapped. */
    @ParameterizedTest
    @MethodSource("devicesAndAddresses")
    void aReadOnlyMappingIsSentAndRead(String device, String address, @TempDir Path directory)
            throws Exception {
        requirePresent(address);
        choose(device);
        Path file = Files.writeString(directory.resolve("file"), "of a file");
        CmId listener = passive(PortSpace.TCP, QueuePairType.RC, address);
        CmId client = active(listener);
        MemorySegment memory = Arena.ofAuto().allocate(64);
        try (FileChannel channel = FileChannel.open(file)) {
            MemorySegment mapped = channel.map(FileChannel.MapMode.READ_ONLY, 0, 9,
                    Arena.ofAuto());
            try (MemoryRegion messages = client.registerMessages(mapped);
                    MemoryRegion readable = client.registerRead(mapped);
                    MemoryRegion own = client.registerMessages(memory)) {
                CompletableFuture<CmId> accepted = accepting(listener,
                        id -> id.postReceive(1, own, 0, 20));
                client.connect(new ConnectionParameters());
                CmId server = closedAtEnd(accepted.get(20, TimeUnit.SECONDS));
                client.postSend(2, messages, 0, 9, SendFlag.SIGNALED);
                assertThat(server.awaitReceiveCompletion().byteLength()).isEqualTo(9);
                assertThat(client.awaitSendCompletion().isSuccess()).isTrue();
                server.postRead(3, own, 32, 9, readable.address(), readable.rkey(),
                        SendFlag.SIGNALED);
                assertThat(server.awaitSendCompletion().isSuccess()).isTrue();
                assertThat(memory.getString(0)).isEqualTo("of a file");
                assertThat(memory.getString(32)).isEqualTo("of a file");
                assertRefused(() -> client.registerWrite(mapped), Errno.EINVAL, "read-only");
            }
        }
    }

    private interface Preparation {
        void prepare(CmId id) throws RdmaException;
    }

    @ParameterizedTest
    @MethodSource("devicesAndAddresses")
    void activeAndPassiveEndpointTalkInTwentyLines(String device, String address)
            throws Exception {
        requirePresent(address);
        choose(device);
        CmId listener = passive(PortSpace.TCP, QueuePairType.RC, address);
        CmId client = active(listener);
        assertThat(client.context().device().name()).startsWith(device);
        MemorySegment memory = Arena.ofAuto().allocate(128);
        try (MemoryRegion region = client.registerWrite(memory)) {
            CompletableFuture<CmId> accepted = accepting(listener,
                    id -> id.postReceive(7,
                            List.of(ScatterGatherElement.of(region, 64, 2),
                                    ScatterGatherElement.of(region, 80, 16))));
            client.connect(new ConnectionParameters());
            CmId server = closedAtEnd(accepted.get(20, TimeUnit.SECONDS));
            memory.setString(0, "ab");
            memory.setString(8, "cd");
            client.postSend(1, List.of(ScatterGatherElement.of(region, 0, 2),
                    ScatterGatherElement.of(region, 8, 2)), SendFlag.SIGNALED);
            assertThat(server.awaitReceiveCompletion().byteLength()).isEqualTo(4);
            assertThat(client.awaitSendCompletion().isSuccess()).isTrue();
            assertThat(memory.getString(64)).isEqualTo("ab");
            assertThat(memory.getString(80)).isEqualTo("cd");

            client.postWrite(2, List.of(ScatterGatherElement.of(region, 0, 2)),
                    region.address() + 100, region.rkey(), SendFlag.SIGNALED);
            assertThat(client.awaitSendCompletion().isSuccess()).isTrue();
            assertWritten(device, memory, 100, "ab");

            MemorySegment anyMemory = MemorySegment.ofArray(bytes("inline"));
            client.postWrite(3, anyMemory, region.address() + 104, region.rkey(),
                    SendFlag.SIGNALED);
            assertThat(client.awaitSendCompletion().isSuccess()).isTrue();
            assertWritten(device, memory, 104, "inline");
            server.postReceive(4, region, 64, 16);
            client.postSend(5, anyMemory, SendFlag.SIGNALED);
            assertThat(server.awaitReceiveCompletion().byteLength()).isEqualTo(6);
            assertThat(client.awaitSendCompletion().isSuccess()).isTrue();
        }
        try (MemoryRegion region = client.registerRead(memory)) {
            CmId server = client; // The other side's memory is ours: one process.
            server.postRead(3, List.of(ScatterGatherElement.of(region, 110, 2)),
                    region.address() + 8, region.rkey(), SendFlag.SIGNALED);
            assertThat(client.awaitSendCompletion().isSuccess()).isTrue();
            assertThat(memory.getString(110)).isEqualTo("cd");
        }
        client.disconnect();
    }

    @ParameterizedTest
    @EnumSource(value = QueuePairType.class, names = {"RC", "UC", "UD"})
    void portSpaceIbTakesEachTypeOfQueuePair(QueuePairType type) throws Exception {
        CmId listener = passive(PortSpace.IB, type, OWN);
        CmId client = active(listener);
        CompletableFuture<CmId> accepted = accepting(listener, id -> {});
        client.connect(new ConnectionParameters());
        CmId server = closedAtEnd(accepted.get(20, TimeUnit.SECONDS));
        assertThat(server.queuePair().type()).isEqualTo(type);
        assertThat(client.queuePair().state()).isEqualTo(QueuePairState.RTS);
        assertThat(server.queuePair().state()).isEqualTo(QueuePairState.RTS);
    }

    @Test
    void listenerOfAnotherTypeRejects() throws Exception {
        CmId listener = passive(PortSpace.IB, QueuePairType.UC, OWN);
        CmId client = id(PortSpace.IB);
        resolve(client, listener.localAddress());
        client.createQueuePair(reliable());
        client.connect(new ConnectionParameters());
        try (CmEvent event = expect(CmEventType.REJECTED)) {
            assertThat(event.status()).isEqualTo(9);
            assertThat(event.description()).contains("transport");
        }
    }

    @Test
    void portSpacesThatDoNotFitTheTypeAreRefused() {
        assertRefused(() -> AddressInfo.resolve("127.0.0.1", "1",
                new Hints().portSpace(PortSpace.TCP).queuePairType(QueuePairType.UD)),
                Errno.EINVAL, "TCP", "RC", "UD");
    }

    @ParameterizedTest
    @ValueSource(strings = {"roce", "iwarp"})
    void endpointBecomesAsynchronousByMigration(String device) throws Exception {
        choose(device);
        CmId listener = passive(PortSpace.TCP, QueuePairType.RC, OWN);
        CmId client = active(listener);
        client.migrate(events);
        assertThat(client.channel()).isSameAs(events);
        CompletableFuture<CmId> accepted = accepting(listener, id -> {});
        client.connect(new ConnectionParameters());
        expect(CmEventType.ESTABLISHED).close();
        closedAtEnd(accepted.get(20, TimeUnit.SECONDS));
        client.migrate(null);
        client.disconnect();
        CmEvent last = client.event();
        assertThat(last).isNotNull();
        assertThat(last.type()).isEqualTo(CmEventType.DISCONNECTED);
        assertRefused(() -> client.migrate(null), Errno.EINVAL, "synchronous already");
    }

    @Test
    void queuePairThatCannotBeMadeRejectsTheRequest() throws Exception {
        AddressInfo info = AddressInfo
                .resolve(OWN, null, new Hints().set(Flag.PASSIVE)).getFirst();
        CmId listener = closedAtEnd(CmId.createEndpoint(info, reliable().capabilities(
                QueuePairCapabilities.ofDepth(1 << 30, 1))));
        listener.listen(1);
        CmId client = id(PortSpace.TCP);
        resolve(client, listener.localAddress());
        client.connect(new ConnectionParameters().queuePairNumber(5));
        assertRefused(listener::awaitRequest, Errno.EINVAL);
        expect(CmEventType.REJECTED).close();
    }

    @Test
    void endpointThatCannotBeMadeLeavesNothingBehind() throws Exception {
        AddressInfo nobody = AddressInfo.resolve("198.51.100.7", "1", new Hints()
                .set(Flag.NUMERIC_HOST)
                .source(new InetSocketAddress(
                        InetAddress.ofLiteral("198.51.100.8"), 0)))
                .getFirst();
        assertRefused(() -> CmId.createEndpoint(nobody), Errno.EADDRNOTAVAIL,
                "198.51.100.8");
    }

    @Test
    void queuePairsOfIdsCanBeExtended() throws Exception {
        CmId id = id(PortSpace.TCP);
        id.bindAddress(anyPort(OWN));
        id.createQueuePair(reliable().sendOperations(SendOpcode.SEND).userContext("ours"));
        assertThat(id.queuePair().userContext()).isEqualTo("ours");
        try (SendBatch batch = id.queuePair().startBatch()) {
            assertThat(batch.queuePair()).isSameAs(id.queuePair());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"roce", "iwarp"})
    void receivesComeFromTheSharedQueueOfTheId(String device) throws Exception {
        choose(device);
        CmId listener = listener(PortSpace.TCP, OWN);
        CmId client = id(PortSpace.TCP);
        resolve(client, listener.localAddress());
        client.createQueuePair(reliable());
        client.connect(new ConnectionParameters());
        CmId server = request();
        SharedReceiveQueue shared = server
                .createSharedReceiveQueue(new SharedReceiveQueueInitAttributes().maxRequests(4));
        assertThat(server.sharedReceiveQueue()).isSameAs(shared);
        assertThat(shared.userContext()).isSameAs(server);
        assertRefused(
                () -> server.createSharedReceiveQueue(
                        new SharedReceiveQueueInitAttributes().maxRequests(4)),
                Errno.EINVAL, "one already");
        server.createQueuePair(reliable());
        assertThat(server.queuePair().sharedReceiveQueue()).isSameAs(shared);
        assertThat(server.queuePair().userContext()).isSameAs(server);
        MemorySegment memory = Arena.ofAuto().allocate(64);
        try (MemoryRegion region = client.registerMessages(memory)) {
            server.postReceive(1, region, 32, 32);
            server.accept();
            expect(CmEventType.ESTABLISHED).close();
            expect(CmEventType.ESTABLISHED).close();
            memory.setString(0, "shared");
            client.postSend(2, region, 0, 7);
            WorkCompletion received = server.awaitReceiveCompletion();
            assertThat(received.id()).isEqualTo(1);
            assertThat(memory.getString(32)).isEqualTo("shared");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1 << 30})
    void completionsOfAllSharedReceivesFitWhateverSizeIsAskedFor(int receives) throws Exception {
        CmId id = id(PortSpace.TCP);
        id.bindAddress(anyPort(OWN));
        id.createSharedReceiveQueue(new SharedReceiveQueueInitAttributes().maxRequests(40));
        QueuePair made = id.createQueuePair(new QueuePairInitAttributes()
                .capabilities(QueuePairCapabilities.ofDepth(4, receives)));
        assertThat(made.capabilities().maxReceiveRequests()).isZero();
        assertThat(made.receiveCompletionQueue().capacity()).isGreaterThanOrEqualTo(40);
    }

    @Test
    void sharedReceiveQueueIsClosedBehindItsQueuePair() throws Exception {
        CmId id = id(PortSpace.TCP);
        id.userContext("mine");
        id.bindAddress(anyPort(OWN));
        SharedReceiveQueue shared = id
                .createSharedReceiveQueue(new SharedReceiveQueueInitAttributes()
                        .type(SharedReceiveQueueType.BASIC).maxRequests(4).userContext("ours"));
        assertThat(shared.userContext()).isEqualTo("ours");
        assertThat(id.userContext()).isEqualTo("mine");
        id.createQueuePair(reliable());
        assertRefused(id::closeSharedReceiveQueue, Errno.EBUSY);
        assertThat(id.sharedReceiveQueue()).isSameAs(shared);
        id.closeQueuePair();
        id.closeSharedReceiveQueue();
        assertThat(id.sharedReceiveQueue()).isNull();
        id.closeSharedReceiveQueue();
    }
}
