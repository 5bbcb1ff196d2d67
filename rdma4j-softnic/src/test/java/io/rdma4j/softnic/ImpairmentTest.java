// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.protocol.count.Counter;
import io.rdma4j.protocol.ibcm.CmSettings;
import io.rdma4j.softnic.device.SecureNumbers;
import io.rdma4j.softnic.device.SoftDevice;
import io.rdma4j.softnic.device.SoftNic;
import io.rdma4j.softnic.device.SoftNicOptions;
import io.rdma4j.softnic.network.ImpairedNetwork;
import io.rdma4j.softnic.options.DeviceOptions;
import io.rdma4j.softnic.options.Impairment;
import io.rdma4j.softnic.options.Loopback;
import io.rdma4j.softnic.roce.RoceFamily;
import io.rdma4j.softnic.roce.RoceTransport;
import io.rdma4j.softnic.verbs.SoftDeviceContext;
import io.rdma4j.testkit.Wait;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaDevices;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;

import static io.rdma4j.softnic.Counted.counted;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Devices opened over a network made worse, on real sockets: data arrives whole all the same. */
class ImpairmentTest {
    private static final int LENGTH = 300_000;
    private static final int DEPTH = 8;

    /** One of two devices that talk to each other. */
    private static final class End implements AutoCloseable {
        final SoftNic nic;
        final SoftDeviceContext context;
        final CompletionQueue queue;
        final ProtectionDomain domain;
        final QueuePair queuePair;
        final MemorySegment memory = Arena.ofAuto().allocate(2L * DEPTH * LENGTH);
        final MemoryRegion region;

        End(String name, Impairment impairment) throws Exception {
            SoftDevice device = new SoftDevice(RoceFamily.ROCE,
                    NetworkInterface.getByInetAddress(InetAddress.getLoopbackAddress()));
            nic = new SoftNic(device,
                    RoceTransport.on(new ImpairedNetwork(
                            RoceFamily.network(
                                    RoceFamily.choice(SoftNicOptions.ofSystem().device().backend()),
                                    device.networkInterface(), Loopback.NETWORK),
                            impairment), CmSettings.defaults(1)),
                    new SecureNumbers(), System::nanoTime, name);
            nic.start(null);
            context = new SoftDeviceContext(nic);
            queue = context.createCompletionQueue(4 * DEPTH);
            domain = context.allocateProtectionDomain();
            queuePair = domain.createQueuePair(new QueuePairInitAttributes().completionQueue(queue)
                    .capabilities(QueuePairCapabilities.ofDepth(2 * DEPTH, DEPTH)));
            region = domain.register(memory, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ,
                    AccessFlag.REMOTE_WRITE);
        }

        void connect(End peer) throws RdmaException {
            queuePair.modify(new QueuePairAttributes().state(QueuePairState.INIT).port(1)
                    .pkeyIndex(0)
                    .accessFlags(AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE));
            queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTR)
                    .addressVector(AddressHandleAttributes.to(peer.nic.gids().get(1), 1))
                    .pathMtu(Mtu.MTU_1024).destinationQueuePairNumber(peer.queuePair.number())
                    .receivePsn(7).maxDestinationReadAtomic(4).minRnrTimerCode(1));
            // Seven retries of eight seconds: nothing that is tested here may ever use them up.
            queuePair.modify(
                    new QueuePairAttributes().state(QueuePairState.RTS).ackTimeoutExponent(21)
                            .retryCount(7).rnrRetry(7).sendPsn(7).maxReadAtomic(4));
        }

        void awaitCompletions(int count) throws RdmaException {
            WorkCompletion completion = new WorkCompletion();
            for (int i = 0; i < count; i++) {
                Wait.until((i + 1) + " of " + count + " requests have completed",
                        () -> queue.poll(completion));
                assertThat(completion.isSuccess()).as(completion.toString()).isTrue();
            }
        }

        @Override
        public void close() throws RdmaException {
            queuePair.close();
            region.close();
            domain.close();
            queue.close();
            context.close();
            nic.shutDown();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"loss=2%,seed=1", "duplicate=5%,seed=2", "reorder=2%,seed=3",
        "corrupt=2%,seed=4", "delay=2ms,jitter=1ms,seed=5",
        "loss=1%,duplicate=1%,reorder=1%,corrupt=1%,delay=1ms,seed=6"})
    void dataArrivesWholeBetweenTwoDevices(String text) throws Exception {
        Impairment impairment = Impairment.parse(text);
        try (End a = new End("rdma4j-test-a", impairment);
                End b = new End("rdma4j-test-b", impairment.withSeed(impairment.seed() + 100))) {
            a.connect(b);
            b.connect(a);
            byte[] bytes = new byte[DEPTH * LENGTH];
            new Random(1).nextBytes(bytes);
            MemorySegment.copy(MemorySegment.ofArray(bytes), 0, a.memory, 0, bytes.length);
            for (int i = 0; i < DEPTH; i++) {
                b.queuePair.postReceive(new ReceiveWorkRequest().id(i)
                        .add(b.region, (long) i * LENGTH, LENGTH));
                a.queuePair.postSend(new SendWorkRequest().id(i).send()
                        .add(a.region, (long) i * LENGTH, LENGTH).set(SendFlag.SIGNALED));
                a.queuePair.postSend(new SendWorkRequest().id(DEPTH + i)
                        .read(b.region.address() + (long) i * LENGTH, b.region.rkey())
                        .add(a.region, (long) (DEPTH + i) * LENGTH, LENGTH)
                        .set(SendFlag.SIGNALED));
            }
            a.awaitCompletions(2 * DEPTH);
            b.awaitCompletions(DEPTH);
            assertThat(b.memory.asSlice(0, bytes.length)
                    .mismatch(a.memory.asSlice(0, bytes.length))).isEqualTo(-1);
            assertThat(a.memory.asSlice(bytes.length, bytes.length)
                    .mismatch(b.memory.asSlice(0, bytes.length))).isEqualTo(-1);
            if (impairment.corruption() > 0) {
                assertThat(counted(a.context, Counter.DROPPED_BAD_ICRC)
                        + counted(b.context, Counter.DROPPED_BAD_ICRC)).isPositive();
            }
            if (impairment.loss() > 0) {
                assertThat(counted(a.queuePair, Counter.RETRANSMITTED_PKTS)).isPositive();
            }
            if (impairment.duplication() > 0) {
                assertThat(counted(b.queuePair, Counter.DUPLICATE_REQUEST)).isPositive();
            }
        }
    }

    // ---------------------------------------------------------------- options

    private static final Impairment LOSS = Impairment.NONE.withLoss(0.01);

    private static RdmaDevice loopback() throws RdmaException {
        return RdmaDevices.find("roce_lo");
    }

    @Test
    void openDeviceCanBeOpenedAgainWithoutOptionsOrWithTheSame() throws Exception {
        DeviceOptions options = DeviceOptions.DEFAULT.withImpairment(LOSS);
        try (DeviceContext first = options.open(loopback());
                DeviceContext second = loopback().open();
                DeviceContext third = options.open(loopback());
                DeviceContext fourth = DeviceOptions.DEFAULT.open(loopback())) {
            assertThat(first.queryGid(1, 1)).isEqualTo(second.queryGid(1, 1))
                    .isEqualTo(third.queryGid(1, 1)).isEqualTo(fourth.queryGid(1, 1));
        }
        DeviceOptions.DEFAULT.withImpairment(LOSS.withSeed(9)).open(loopback()).close();
    }

    @Test
    void openDeviceIsBusyForWhoeverWantsOtherOptions(@TempDir Path directory) throws Exception {
        try (DeviceContext open = DeviceOptions.DEFAULT.withImpairment(LOSS).open(loopback())) {
            assertThatExceptionOfType(RdmaException.class)
                    .isThrownBy(() -> DeviceOptions.DEFAULT.withImpairment(LOSS.withSeed(9))
                            .open(loopback()))
                    .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EBUSY))
                    .withMessageContainingAll("roce_lo", "loss=0.01,seed=0", "loss=0.01,seed=9");
            Path file = directory.resolve("capture");
            assertThatExceptionOfType(RdmaException.class)
                    .isThrownBy(() -> DeviceOptions.DEFAULT.withCapture(file).open(loopback()))
                    .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EBUSY))
                    .withMessageContainingAll("recorded in " + file, "none recorded");
            assertThat(file).doesNotExist();
            assertThat(counted(open, Counter.LINK_DOWNED)).isZero();
        }
    }

    @Test
    void optionsWinOverSystemPropertiesAndThoseOverNothing(@TempDir Path directory)
            throws Exception {
        Path byProperty = directory.resolve("property");
        Path byOption = directory.resolve("option");
        System.setProperty("rdma4j.pcap", byProperty.toString());
        System.setProperty("rdma4j.impair", LOSS.toString());
        try {
            DeviceOptions.DEFAULT.withCapture(byOption).open(loopback()).close();
            assertThat(byOption).exists();
            assertThat(byProperty).doesNotExist();
            try (DeviceContext context = loopback().open()) {
                assertThat(byProperty).exists();
                assertThat(DeviceOptions.DEFAULT.withImpairment(LOSS).open(context.device()))
                        .satisfies(DeviceContext::close);
            }
        } finally {
            System.clearProperty("rdma4j.pcap");
            System.clearProperty("rdma4j.impair");
        }
    }

    @Test
    void wrongImpairmentPropertyIsRefusedByName() {
        System.setProperty("rdma4j.impair", "loss=lots");
        try {
            assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> loopback().open())
                    .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EINVAL))
                    .withMessageContainingAll("rdma4j.impair", "loss", "lots");
        } finally {
            System.clearProperty("rdma4j.impair");
        }
    }

    /** The capture may have packets of other processes at this address, which arrive. */
    @Test
    void captureRecordsWhatReallyLeaves(@TempDir Path directory) throws Exception {
        Path file = directory.resolve("lost.pcap");
        byte[] message = "this is lost on its way".getBytes(StandardCharsets.US_ASCII);
        DeviceOptions options = DeviceOptions.DEFAULT.withCapture(file)
                .withImpairment(Impairment.NONE.withLoss(1).withDelay(Duration.ofMillis(1)));
        try (DeviceContext context = options.open(loopback());
                CompletionQueue queue = context.createCompletionQueue(4);
                ProtectionDomain domain = context.allocateProtectionDomain();
                QueuePair queuePair = domain
                        .createQueuePair(new QueuePairInitAttributes().completionQueue(queue)
                                .capabilities(QueuePairCapabilities.ofDepth(1, 1)
                                        .withInlineData(message.length)))) {
            queuePair.modify(new QueuePairAttributes().state(QueuePairState.INIT).port(1)
                    .pkeyIndex(0).accessFlags(AccessFlag.REMOTE_READ));
            queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTR)
                    .addressVector(AddressHandleAttributes.to(context.queryGid(1, 1), 1))
                    .pathMtu(Mtu.MTU_1024).destinationQueuePairNumber(queuePair.number())
                    .receivePsn(7)
                    .maxDestinationReadAtomic(1).minRnrTimerCode(1));
            queuePair.modify(
                    new QueuePairAttributes().state(QueuePairState.RTS).ackTimeoutExponent(14)
                            .retryCount(1).rnrRetry(7).sendPsn(7).maxReadAtomic(1));
            queuePair.postSend(new SendWorkRequest().send().set(SendFlag.SIGNALED)
                    .inline(MemorySegment.ofArray(message)));
            // Perhaps by the thread that drives the engine at the moment.
            Wait.until("it was sent", () -> counted(queuePair, Counter.SENT_PKTS) > 0);
        }
        assertThat(Files.readString(file, StandardCharsets.ISO_8859_1))
                .doesNotContain(new String(message, StandardCharsets.US_ASCII));
    }
}
