// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.protocol.count.Counter;
import io.rdma4j.softnic.device.OwnLoopback;
import io.rdma4j.softnic.options.DeviceOptions;
import io.rdma4j.softnic.options.Loopback;
import io.rdma4j.softnic.options.NetworkBackend;
import io.rdma4j.softnic.roce.RoceFamily;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.GidEntry;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;

import static io.rdma4j.softnic.Counted.counted;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Which side gets which status when the memory of a request is gone: the table of docs/reference/observability.md, on every path that
 * packets take.
 */
@ParameterizedClass
@MethodSource("ways")
class MemoryGoneTest {
    private static final int LENGTH = 100_000;
    /** In what is left of a file that is cut short nothing is tried. */
    private static final int LEFT = 4096;
    private static final int OFFSET = 500_000;
    private static final int DATAGRAM = 1000;
    private static final int SIZE = 1 << 20;
    private static final int QKEY = 0x1111;
    private static final long PATIENCE_NS = 30_000_000_000L;

    private static final Set<AccessFlag> ALL = Set.of(AccessFlag.LOCAL_WRITE,
            AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_ATOMIC);

    /** What becomes of the memory. */
    enum Fault {
        REGION_CLOSED, ARENA_CLOSED, FILE_CUT_SHORT
    }

    /** An operation, and the status of each side if the memory of the requester, or of the responder, is gone. */
    enum Operation {
        SEND(Outcome.REQUESTER_FAILS, Outcome.RECEIVE_FAILS),
        WRITE(Outcome.REQUESTER_FAILS,
                Outcome.ACCESS_IS_REFUSED),
        WRITE_OF_SEVERAL_PIECES(Outcome.REQUESTER_FAILS,
                Outcome.ACCESS_IS_REFUSED),
        READ(Outcome.REQUESTER_FAILS,
                Outcome.ACCESS_IS_REFUSED),
        FETCH_AND_ADD(Outcome.REQUESTER_FAILS,
                Outcome.ACCESS_IS_REFUSED),
        COMPARE_AND_SWAP(
                Outcome.REQUESTER_FAILS,
                Outcome.ACCESS_IS_REFUSED),
        ATOMIC_WRITE(
                Outcome.REQUESTER_FAILS,
                Outcome.ACCESS_IS_REFUSED);

        final Outcome ofRequestersMemory;
        final Outcome ofRespondersMemory;

        Operation(Outcome ofRequestersMemory, Outcome ofRespondersMemory) {
            this.ofRequestersMemory = ofRequestersMemory;
            this.ofRespondersMemory = ofRespondersMemory;
        }
    }

    /** The status of each side. */
    enum Outcome {
        REQUESTER_FAILS(WorkCompletionStatus.LOCAL_PROTECTION_ERROR, null,
                QueuePairState.RTS),
        ACCESS_IS_REFUSED(WorkCompletionStatus.REMOTE_ACCESS_ERROR,
                WorkCompletionStatus.WORK_REQUEST_FLUSHED,
                QueuePairState.ERR),
        RECEIVE_FAILS(
                WorkCompletionStatus.REMOTE_OPERATION_ERROR,
                WorkCompletionStatus.LOCAL_PROTECTION_ERROR, QueuePairState.ERR);

        final WorkCompletionStatus atRequester;
        final @Nullable WorkCompletionStatus ofReceive;
        final QueuePairState ofResponder;

        Outcome(WorkCompletionStatus atRequester, @Nullable WorkCompletionStatus ofReceive,
                QueuePairState ofResponder) {
            this.atRequester = atRequester;
            this.ofReceive = ofReceive;
            this.ofResponder = ofResponder;
        }
    }

    static Stream<Arguments> ways() {
        return Stream.of(NetworkBackend.LINUX, NetworkBackend.PORTABLE)
                .filter(MemoryGoneTest::works)
                .flatMap(network -> Stream.of(Loopback.DIRECT, Loopback.NETWORK)
                        .map(way -> Arguments.of(network, way)));
    }

    private static boolean works(NetworkBackend network) {
        try {
            return RoceFamily.choice(network).kind() == network;
        } catch (RdmaException notHere) {
            return false;
        }
    }

    static Stream<Arguments> faults() {
        return Stream.of(Operation.values()).flatMap(
                operation -> Stream.of(Fault.values()).map(f -> Arguments.of(operation, f)));
    }

    private final NetworkBackend network;
    private final Loopback loopback;
    private final ContainedDefects defects = ContainedDefects.listen();
    private final Arena arena = Arena.ofShared();
    /** What may be closed by a test. */
    private final Arena brief = Arena.ofShared();
    private @TempDir Path folder;
    private DeviceContext context;
    private Side requester;
    private Side responder;

    MemoryGoneTest(NetworkBackend network, Loopback loopback) {
        this.network = network;
        this.loopback = loopback;
    }

    @BeforeEach
    void open() throws Exception {
        context = OwnLoopback.open(CmStage.OWN,
                DeviceOptions.DEFAULT.withBackend(network).withLoopback(loopback));
        requester = new Side(QueuePairType.RC);
        responder = new Side(QueuePairType.RC);
        connect();
    }

    private void connect() throws RdmaException {
        requester.connect(responder);
        responder.connect(requester);
    }

    private void connectUnreliably(QueuePairType type) throws RdmaException {
        requester.close();
        responder.close();
        requester = new Side(type);
        responder = new Side(type);
        connect();
    }

    @AfterEach
    void close() throws Exception {
        requester.close();
        responder.close();
        context.close();
        arena.close();
        if (brief.scope().isAlive()) {
            brief.close();
        }
        defects.close();
        defects.assertNone();
    }

    /** One end. */
    private final class Side {
        final ProtectionDomain domain = context.allocateProtectionDomain();
        final CompletionQueue sends = context.createCompletionQueue(16);
        final CompletionQueue receives = context.createCompletionQueue(16);
        final MemoryRegion region = domain.register(arena.allocate(SIZE, 8), ALL);
        final QueuePair queuePair;
        final List<MemoryRegion> regions = new ArrayList<>(List.of(region));

        Side(QueuePairType type) throws RdmaException {
            queuePair = domain.createQueuePair(new QueuePairInitAttributes().type(type)
                    .sendCompletionQueue(sends).receiveCompletionQueue(receives)
                    .capabilities(QueuePairCapabilities.ofDepth(4, 4).withElements(3, 3)
                            .withInlineData(64)));
        }

        void connect(Side peer) throws RdmaException {
            QueuePairAttributes init = new QueuePairAttributes().state(QueuePairState.INIT)
                    .port(1).pkeyIndex(0);
            QueuePairAttributes ready = new QueuePairAttributes().state(QueuePairState.RTR);
            QueuePairAttributes go = new QueuePairAttributes().state(QueuePairState.RTS)
                    .sendPsn(7);
            if (queuePair.type() == QueuePairType.RC) {
                ready.maxDestinationReadAtomic(4).minRnrTimerCode(1);
                go.ackTimeoutExponent(14).retryCount(7).rnrRetry(7).maxReadAtomic(4);
            }
            if (queuePair.type() == QueuePairType.UD) {
                init.qkey(QKEY);
            } else {
                init.accessFlags(AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ,
                        AccessFlag.REMOTE_ATOMIC);
                ready.addressVector(there()).pathMtu(Mtu.MTU_4096)
                        .destinationQueuePairNumber(peer.queuePair.number()).receivePsn(7);
            }
            queuePair.modify(init);
            queuePair.modify(ready);
            queuePair.modify(go);
        }

        /** {@return a region that is about to go} */
        MemoryRegion fragile(Fault fault) throws Exception {
            MemoryRegion fragile = domain.register(
                    fault == Fault.FILE_CUT_SHORT ? map() : brief.allocate(SIZE, 8), ALL);
            regions.add(fragile);
            return fragile;
        }

        void close() throws RdmaException {
            queuePair.close();
            for (MemoryRegion each : regions) {
                each.close();
            }
            sends.close();
            receives.close();
            domain.close();
        }
    }

    private AddressHandleAttributes there() throws RdmaException {
        for (GidEntry entry : context.queryGidTable()) {
            if (entry.gid().isIpv4()) {
                Gid gid = entry.gid();
                return AddressHandleAttributes.to(gid, entry.index());
            }
        }
        throw new AssertionError("the device has no IPv4 address");
    }

    private Path file() {
        return folder.resolve("mapped");
    }

    private MemorySegment map() throws Exception {
        try (FileChannel channel = FileChannel.open(file(), StandardOpenOption.CREATE,
                StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            return channel.map(FileChannel.MapMode.READ_WRITE, 0, SIZE, brief);
        }
    }

    private void happen(Fault fault, MemoryRegion region) throws Exception {
        switch (fault) {
            case REGION_CLOSED -> region.close();
            case ARENA_CLOSED -> brief.close();
            case FILE_CUT_SHORT -> cutShort(LEFT);
        }
    }

    private void cutShort(long length) throws Exception {
        try (FileChannel channel = FileChannel.open(file(), StandardOpenOption.WRITE)) {
            channel.truncate(length);
        }
    }

    private static SendWorkRequest request(Operation operation, MemoryRegion local,
            MemoryRegion remote) {
        SendWorkRequest request = new SendWorkRequest().set(SendFlag.SIGNALED);
        long address = remote.address() + OFFSET;
        int rkey = remote.rkey();
        return switch (operation) {
            case SEND -> request.send().add(local, OFFSET, LENGTH);
            case WRITE -> request.write(address, rkey).add(local, OFFSET, LENGTH);
            case WRITE_OF_SEVERAL_PIECES -> request.write(address, rkey)
                    .add(local, OFFSET, 1000).add(local, OFFSET + 8192, 1000);
            case READ -> request.read(address, rkey).add(local, OFFSET, LENGTH);
            case FETCH_AND_ADD -> request.fetchAndAdd(address, rkey, 1).add(local, OFFSET, 8);
            case COMPARE_AND_SWAP -> request.compareAndSwap(address, rkey, 0, 1)
                    .add(local, OFFSET, 8);
            case ATOMIC_WRITE -> request.atomicWrite(address, rkey).add(local, OFFSET, 8);
        };
    }

    private static WorkCompletion requireCompletion(CompletionQueue queue) throws RdmaException {
        return Objects.requireNonNull(poll(queue, true), "no completion came");
    }

    private static @Nullable WorkCompletion poll(CompletionQueue queue, boolean isExpected)
            throws RdmaException {
        WorkCompletion completion = new WorkCompletion();
        long endNs = System.nanoTime() + (isExpected ? PATIENCE_NS : 0);
        do {
            if (queue.poll(completion)) {
                return completion;
            }
        } while (System.nanoTime() < endNs);
        return null;
    }

    private void assertTold(Outcome outcome) throws RdmaException {
        assertThat(requireCompletion(requester.sends).status()).isEqualTo(outcome.atRequester);
        assertThat(requester.queuePair.state()).isEqualTo(QueuePairState.ERR);
        WorkCompletion received = poll(responder.receives, outcome.ofReceive != null);
        assertThat(received == null ? null : received.status()).isEqualTo(outcome.ofReceive);
        assertThat(responder.queuePair.state()).isEqualTo(outcome.ofResponder);
    }

    /** What becomes of memory between the request and its posting. */
    @FunctionalInterface
    private interface Change {
        void happen() throws Exception;
    }

    private void exchange(Operation operation, MemoryRegion local, MemoryRegion remote,
            Change change) throws Exception {
        responder.queuePair.postReceive(new ReceiveWorkRequest().add(remote, OFFSET, LENGTH));
        SendWorkRequest request = request(operation, local, remote);
        change.happen();
        requester.queuePair.postSend(request);
    }

    @ParameterizedTest
    @MethodSource("faults")
    void requesterIsToldOfItsOwnMemoryAndThePeerOfNothing(Operation operation, Fault fault)
            throws Exception {
        MemoryRegion gone = requester.fragile(fault);
        exchange(operation, gone, responder.region, () -> happen(fault, gone));
        assertTold(operation.ofRequestersMemory);
    }

    @ParameterizedTest
    @MethodSource("faults")
    void respondersMemoryIsNamedAsThePeers(Operation operation, Fault fault) throws Exception {
        MemoryRegion gone = responder.fragile(fault);
        exchange(operation, requester.region, gone, () -> happen(fault, gone));
        assertTold(operation.ofRespondersMemory);
    }

    /** So that it is found in the middle of a message, and the peer has the half. */
    @ParameterizedTest
    @EnumSource(value = Operation.class, names = {"SEND", "WRITE", "READ"})
    void fileMayEndInTheMiddleOfAMessage(Operation operation) throws Exception {
        exchange(operation, requester.fragile(Fault.FILE_CUT_SHORT), responder.region,
                () -> cutShort(OFFSET + LENGTH / 2));
        assertTold(Outcome.REQUESTER_FAILS);
    }

    @ParameterizedTest
    @EnumSource(value = Operation.class, names = {"SEND", "WRITE", "READ"})
    void respondersFileMayEndInTheMiddleOfAMessage(Operation operation) throws Exception {
        exchange(operation, requester.region, responder.fragile(Fault.FILE_CUT_SHORT),
                () -> cutShort(OFFSET + LENGTH / 2));
        assertTold(operation.ofRespondersMemory);
    }

    static Stream<Arguments> unreliableFaults() {
        return Stream.of(QueuePairType.UC, QueuePairType.UD).flatMap(
                type -> Stream.of(Fault.values()).map(fault -> Arguments.of(type, fault)));
    }

    /** Sends from a region of the requester, as a datagram where that is the service. */
    private void sendUnreliably(MemoryRegion local) throws Exception {
        SendWorkRequest request = new SendWorkRequest().set(SendFlag.SIGNALED).send();
        if (requester.queuePair.type() == QueuePairType.UC) {
            requester.queuePair.postSend(request.add(local, OFFSET, LENGTH));
            return;
        }
        try (AddressHandle handle = requester.domain.createAddressHandle(there())) {
            requester.queuePair.postSend(request.add(local, OFFSET, DATAGRAM)
                    .to(handle, responder.queuePair.number(), QKEY));
        }
    }

    @ParameterizedTest
    @MethodSource("unreliableFaults")
    void unreliableSenderIsToldOfItsOwnMemoryAndThePeerOfNothing(QueuePairType type, Fault fault)
            throws Exception {
        connectUnreliably(type);
        MemoryRegion gone = requester.fragile(fault);
        responder.queuePair
                .postReceive(new ReceiveWorkRequest().add(responder.region, 0, LENGTH));
        happen(fault, gone);
        sendUnreliably(gone);
        assertThat(requireCompletion(requester.sends).status())
                .isEqualTo(WorkCompletionStatus.LOCAL_PROTECTION_ERROR);
        assertThat(requester.queuePair.state()).isEqualTo(QueuePairState.SQE);
        assertThat(poll(responder.receives, false)).isNull();
        assertThat(responder.queuePair.state()).isEqualTo(QueuePairState.RTS);
        requester.queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTS));
        sendUnreliably(requester.region);
        assertThat(requireCompletion(requester.sends).isSuccess()).isTrue();
        assertThat(requireCompletion(responder.receives).isSuccess()).isTrue();
    }

    @ParameterizedTest
    @MethodSource("unreliableFaults")
    void unreliableReceiverIsToldOfItsOwnMemoryAndTheSenderOfNothing(QueuePairType type,
            Fault fault) throws Exception {
        connectUnreliably(type);
        MemoryRegion gone = responder.fragile(fault);
        responder.queuePair.postReceive(new ReceiveWorkRequest().add(gone, OFFSET, LENGTH));
        happen(fault, gone);
        sendUnreliably(requester.region);
        assertThat(requireCompletion(requester.sends).isSuccess()).isTrue();
        assertThat(requireCompletion(responder.receives).status())
                .isEqualTo(WorkCompletionStatus.LOCAL_PROTECTION_ERROR);
        assertThat(responder.queuePair.state()).isEqualTo(QueuePairState.ERR);
        assertThat(requester.queuePair.state()).isEqualTo(QueuePairState.RTS);
    }

    @ParameterizedTest
    @EnumSource(Fault.class)
    void unreliableWriteToWhatIsGoneIsCounted(Fault fault) throws Exception {
        connectUnreliably(QueuePairType.UC);
        MemoryRegion gone = responder.fragile(fault);
        SendWorkRequest request = request(Operation.WRITE, requester.region, gone);
        happen(fault, gone);
        requester.queuePair.postSend(request);
        assertThat(requireCompletion(requester.sends).isSuccess()).isTrue();
        // What arrives behind it shows that it was looked at.
        responder.queuePair
                .postReceive(new ReceiveWorkRequest().add(responder.region, 0, LENGTH));
        sendUnreliably(requester.region);
        assertThat(requireCompletion(responder.receives).isSuccess()).isTrue();
        assertThat(counted(responder.queuePair, Counter.DROPPED_MESSAGE)).isOne();
        assertThat(responder.queuePair.state()).isEqualTo(QueuePairState.RTS);
    }

    @Test
    void inlineDataIsRefusedWhenItIsPosted() throws Exception {
        MemorySegment mapped = map();
        cutShort(LEFT);
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> requester.queuePair.postSend(
                        new SendWorkRequest().send().inline(mapped.asSlice(OFFSET, 32))))
                .withMessageContaining("cut short")
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EFAULT));
        brief.close();
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> requester.queuePair.postSend(
                        new SendWorkRequest().send().inline(mapped.asSlice(OFFSET, 32))))
                .withMessageContaining("its arena is closed")
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EFAULT));
        assertThat(requester.queuePair.state()).isEqualTo(QueuePairState.RTS);
    }
}
