// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.cm.CmEventChannel;
import io.rdma4j.cm.CmId;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.testkit.Wait;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.CompletionQueueInitAttributes;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.DeviceLimit;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.FlowRule;
import io.rdma4j.verbs.FlowRuleType;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.GidEntry;
import io.rdma4j.verbs.GidType;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.MemoryRegionChanges;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.PortState;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaClosedException;
import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaDevices;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;
import io.rdma4j.verbs.SharedReceiveQueueType;
import io.rdma4j.verbs.WorkCompletion;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Devices, domains, memory, completion queues and channels: making, asking, closing. */
class ObjectsTest {
    private final DeviceContext context;
    private final ProtectionDomain domain;

    ObjectsTest() throws RdmaException {
        context = RdmaDevices.find("roce_lo").open();
        domain = context.allocateProtectionDomain();
    }

    @AfterEach
    void everythingCanBeClosed() throws RdmaException {
        domain.close();
        context.close();
        context.close();
        assertThatExceptionOfType(RdmaClosedException.class).isThrownBy(context::queryDevice)
                .withMessageContaining("closed");
    }

    private static void assertRefused(ThrowingCallable call, Errno errno, String... words) {
        assertThatExceptionOfType(RdmaException.class).isThrownBy(call)
                .satisfies(e -> assertThat(e.errno()).isEqualTo(errno))
                .satisfies(e -> assertThat(e.getMessage()).doesNotContain("\n"))
                .withMessageContainingAll(words);
    }

    // ---------------------------------------------------------------- devices

    @Test
    void devicesAreNamedAfterTheirInterfaces() {
        assertThat(RdmaDevices.list()).extracting(RdmaDevice::name)
                .contains("roce_lo", "iwarp_lo")
                .allMatch(name -> name.startsWith("roce_") || name.startsWith("iwarp_"));
        // A program that takes the first gets RoCE.
        assertThat(RdmaDevices.list().getFirst().name()).startsWith("roce_");
        assertRefused(() -> RdmaDevices.find("mlx5_0"), Errno.ENODEV, "mlx5_0", "roce_lo");
    }

    @Test
    void loopbackHoldsItsAddressesAsGids() throws RdmaException {
        assertThat(context.queryPort(1).state()).isEqualTo(PortState.ACTIVE);
        assertThat(context.queryPort(1).activeMtu()).isEqualTo(Mtu.MTU_4096);
        List<GidEntry> gids = context.queryGidTable();
        assertThat(gids).anySatisfy(entry -> {
            assertThat(entry.index()).isEqualTo(1);
            assertThat(entry.gid().isIpv4()).isTrue();
            assertThat(entry.gid().address().isLoopbackAddress()).isTrue();
            assertThat(entry.type()).isEqualTo(GidType.ROCE_V2);
        });
        assertThat(context.queryGid(1, 1000)).isEqualTo(Gid.ZERO);
        assertThat(context.queryPkey(1, 0)).isEqualTo(0xffff);
        assertThat(context.pkeyIndex(1, 0xffff)).isZero();
        assertThat(context.queryDevice().limit(DeviceLimit.MAX_SGE)).isEqualTo(32);
    }

    @Test
    void wrongPortsAndIndicesAreRefused() {
        assertRefused(() -> context.queryPort(2), Errno.EINVAL, "port 1", "2");
        assertRefused(() -> context.queryGid(0, 0), Errno.EINVAL, "port");
        assertRefused(() -> context.queryGid(1, 1024), Errno.EINVAL, "0 to 1023", "1024");
        assertRefused(() -> context.queryGidEntry(1, 1000), Errno.ENODATA, "1000", "empty");
        assertRefused(() -> context.queryPkey(1, 1), Errno.EINVAL, "index");
        assertRefused(() -> context.pkeyIndex(1, 0x1234), Errno.ENOENT, "0x1234", "0xffff");
    }

    @Test
    void contextsOfOneDeviceShareItsAddress() throws RdmaException {
        try (DeviceContext second = context.device().open()) {
            assertThat(second.queryGid(1, 1)).isEqualTo(context.queryGid(1, 1));
        }
        assertThat(context.queryGid(1, 1).isIpv4()).isTrue();
    }

    @Test
    void whatTheDeviceDoesNotOfferIsRefusedAsUnsupported() {
        assertRefused(
                () -> domain.createSharedReceiveQueue(new SharedReceiveQueueInitAttributes()
                        .type(SharedReceiveQueueType.XRC).maxRequests(1)),
                Errno.EOPNOTSUPP, "BASIC", "XRC");
        assertRefused(
                () -> createQueuePair(
                        new QueuePairInitAttributes().type(QueuePairType.RAW_PACKET)),
                Errno.EOPNOTSUPP, "RC, UC and UD", "RAW_PACKET");
        for (QueuePairType type : new QueuePairType[]{QueuePairType.XRC_SEND,
            QueuePairType.XRC_RECEIVE}) {
            assertRefused(() -> createQueuePair(new QueuePairInitAttributes().type(type)),
                    Errno.EOPNOTSUPP, "RC, UC and UD", type.name());
        }
        assertRefused(context::openXrcDomain, Errno.EOPNOTSUPP, "XRC");
        assertRefused(() -> context.openXrcDomain(Path.of("/"), StandardOpenOption.CREATE),
                Errno.EOPNOTSUPP, "XRC");
    }

    @Test
    void whatIsOfExtendedConnectionsAndRawPacketsAloneIsRefused() throws RdmaException {
        CompletionQueue queue = context.createCompletionQueue(1);
        assertRefused(
                () -> domain.createSharedReceiveQueue(
                        new SharedReceiveQueueInitAttributes().completionQueue(queue)),
                Errno.EINVAL, "type XRC", "BASIC");
        try (SharedReceiveQueue shared = domain
                .createSharedReceiveQueue(new SharedReceiveQueueInitAttributes()
                        .maxRequests(2).userContext("ours"));
                QueuePair queuePair = domain.createQueuePair(
                        new QueuePairInitAttributes().completionQueue(queue))) {
            assertThat(shared.type()).isEqualTo(SharedReceiveQueueType.BASIC);
            assertThat(shared.query().maxRequests()).isEqualTo(2);
            assertThat(shared.userContext()).isEqualTo("ours");
            assertRefused(shared::number, Errno.EOPNOTSUPP, "XRC", "BASIC");
            assertThat(queuePair.xrcDomain()).isNull();
            assertRefused(() -> queuePair.attachFlow(FlowRule.of(FlowRuleType.SNIFFER)),
                    Errno.EOPNOTSUPP, "flows");
        }
        queue.close();
    }

    // ---------------------------------------------------------------- memory

    @Test
    @EnabledOnOs(OS.LINUX)
    void whatIsNoMemoryOfTheProcessIsRefused() throws RdmaException {
        MemorySegment wild = MemorySegment.ofAddress(0x1000).reinterpret(8192);
        assertRefused(() -> domain.register(wild, AccessFlag.REMOTE_READ), Errno.EFAULT, "0x1000",
                "8192");
        MemoryRegion region = domain.register(Arena.ofAuto().allocate(64), AccessFlag.LOCAL_WRITE);
        assertRefused(() -> region.reregister(new MemoryRegionChanges().segment(wild)),
                Errno.EFAULT, "0x1000");
        region.close();
    }

    @Test
    void memoryOfEveryLifetimeButAConfinedOneCanBeRegistered(@TempDir Path directory)
            throws IOException {
        try (Arena shared = Arena.ofShared()) {
            domain.register(shared.allocate(1), AccessFlag.LOCAL_WRITE).close();
        }
        domain.register(Arena.global().allocate(1), AccessFlag.LOCAL_WRITE).close();
        Path file = directory.resolve("mapped");
        Files.write(file, new byte[100]);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ);
                Arena arena = Arena.ofShared()) {
            MemorySegment mapped = channel.map(FileChannel.MapMode.READ_ONLY, 0, 100, arena);
            try (MemoryRegion region = domain.register(mapped, AccessFlag.REMOTE_READ)) {
                assertThat(region.length()).isEqualTo(100);
                assertThat(region.address()).isEqualTo(mapped.address());
            }
            assertRefused(() -> domain.register(mapped, AccessFlag.LOCAL_WRITE), Errno.EINVAL,
                    "read-only");
        }
        try (Arena confined = Arena.ofConfined()) {
            assertRefused(() -> domain.register(confined.allocate(1)), Errno.EINVAL, "confined");
        }
        assertRefused(() -> domain.register(MemorySegment.ofArray(new byte[10])), Errno.EINVAL,
                "heap");
        assertRefused(() -> domain.register(Arena.ofAuto().allocate(0)), Errno.EINVAL, "no bytes");
    }

    @Test
    void remoteWritingNeedsLocalWriting() {
        MemorySegment memory = Arena.ofAuto().allocate(8);
        assertRefused(() -> domain.register(memory, AccessFlag.REMOTE_WRITE), Errno.EINVAL,
                "LOCAL_WRITE");
        assertRefused(() -> domain.register(memory, AccessFlag.REMOTE_ATOMIC), Errno.EINVAL,
                "LOCAL_WRITE");
    }

    @Test
    void keysDifferBetweenRegions() throws RdmaException {
        MemorySegment memory = Arena.ofAuto().allocate(8);
        try (MemoryRegion first = domain.register(memory);
                MemoryRegion second = domain.register(memory)) {
            assertThat(first.lkey()).isNotEqualTo(second.lkey());
            assertThat(first.rkey() >>> 8).isNotEqualTo(second.rkey() >>> 8);
        }
    }

    @Test
    void domainCannotBeClosedBeforeItsRegions() throws RdmaException {
        MemoryRegion region = domain.register(Arena.ofAuto().allocate(8));
        assertRefused(domain::close, Errno.EBUSY, "1 memory region");
        region.close();
        region.close();
    }

    // ---------------------------------------------------------------- queues

    private void createQueuePair(QueuePairInitAttributes attributes) throws RdmaException {
        try (CompletionQueue queue = context.createCompletionQueue(1)) {
            domain.createQueuePair(attributes.completionQueue(queue)).close();
        }
    }

    @Test
    void sizesBeyondTheLimitsAreRefused() {
        assertRefused(() -> context.createCompletionQueue(0), Errno.EINVAL, "capacity", "0");
        assertRefused(() -> context.createCompletionQueue(1 << 23), Errno.EINVAL, "4194304");
        assertRefused(
                () -> context.createCompletionQueue(
                        new CompletionQueueInitAttributes().capacity(1).completionVector(1)),
                Errno.EINVAL,
                "completion vector");
        assertRefused(
                () -> createQueuePair(new QueuePairInitAttributes()
                        .capabilities(QueuePairCapabilities.ofDepth(1 << 17, 1))),
                Errno.EINVAL, "maxSendRequests", "65536");
        assertRefused(
                () -> createQueuePair(new QueuePairInitAttributes().capabilities(
                        QueuePairCapabilities.ofDepth(1, 1).withElements(33, 1))),
                Errno.EINVAL, "maxSendElements", "32");
        assertRefused(
                () -> createQueuePair(new QueuePairInitAttributes().capabilities(
                        QueuePairCapabilities.ofDepth(1, 1).withInlineData(1 << 20))),
                Errno.EINVAL, "maxInlineData");
    }

    @Test
    void queuePairNeedsCompletionQueuesOfItsOwnContext() throws RdmaException {
        assertRefused(() -> domain.createQueuePair(new QueuePairInitAttributes()), Errno.EINVAL,
                "send completion queue is missing");
        try (DeviceContext other = context.device().open();
                CompletionQueue foreign = other.createCompletionQueue(1)) {
            assertRefused(
                    () -> domain.createQueuePair(
                            new QueuePairInitAttributes().completionQueue(foreign)),
                    Errno.EINVAL, "another device context");
        }
    }

    @Test
    void channelCannotBeClosedBeforeItsQueues() throws RdmaException {
        CompletionChannel channel = CompletionChannel.create();
        CompletionQueue queue = context.createCompletionQueue(4, channel);
        assertRefused(channel::close, Errno.EBUSY, "1 completion queue");
        queue.close();
        assertThatExceptionOfType(RdmaClosedException.class)
                .isThrownBy(() -> queue.requestNotification());
        channel.close();
        assertRefused(channel::awaitEvent, Errno.EBADF, "closed");
        assertRefused(() -> context.createCompletionQueue(4, channel), Errno.EBADF, "closed");
    }

    @Test
    void notificationNeedsAChannel() throws RdmaException {
        try (CompletionQueue queue = context.createCompletionQueue(4)) {
            assertRefused(() -> queue.requestNotification(), Errno.EINVAL, "channel");
        }
    }

    @Test
    void waitingEndsWithTheTimeOrTheInterruption() throws Exception {
        CompletionChannel channel = CompletionChannel.create();
        assertThat(channel.pollEvent(Duration.ofMillis(10))).isNull();
        Thread.currentThread().interrupt();
        assertRefused(channel::awaitEvent, Errno.EINTR, "interrupted");
        assertThat(Thread.interrupted()).isTrue();
        channel.close();
    }

    // ---------------------------------------------------------------- use after close

    private static void assertClosed(String what, ThrowingCallable... calls) {
        assertThat(calls).allSatisfy(
                call -> assertThatExceptionOfType(RdmaClosedException.class).isThrownBy(call)
                        .withMessage("use " + what + ": the " + what + " is closed (EBADF)"));
    }

    @Test
    void closedCompletionQueueRefusesEveryUse() throws RdmaException {
        CompletionChannel channel = CompletionChannel.create();
        CompletionQueue queue = context.createCompletionQueue(4, channel);
        queue.close();
        queue.close();
        assertClosed("completion queue", () -> queue.poll(new WorkCompletion()),
                () -> queue.poll(new WorkCompletion[]{new WorkCompletion()}),
                () -> queue.requestSolicitedNotification());
        assertThat(channel.pollEvent(Duration.ZERO)).isNull();
        channel.close();
    }

    @Test
    void closedDomainRefusesEveryUse() throws RdmaException {
        ProtectionDomain closed = context.allocateProtectionDomain();
        closed.close();
        closed.close();
        MemorySegment memory = Arena.ofAuto().allocate(8);
        try (CompletionQueue queue = context.createCompletionQueue(1)) {
            assertClosed("protection domain", () -> closed.register(memory),
                    () -> closed.register(memory, 0x1000, Set.of()),
                    () -> closed.createQueuePair(
                            new QueuePairInitAttributes().completionQueue(queue)));
        }
    }

    @Test
    void closedContextRefusesEveryUseThoughTheDeviceStaysOpen() throws RdmaException {
        DeviceContext closed = context.device().open();
        closed.close();
        assertClosed("device context", closed::queryDevice, () -> closed.queryPort(1),
                () -> closed.queryGid(1, 0), () -> closed.queryPkey(1, 0),
                closed::allocateProtectionDomain, () -> closed.createCompletionQueue(1));
        assertRefused(closed.asyncEventChannel()::awaitEvent, Errno.EBADF, "closed");
    }

    @Test
    void closedQueuePairRefusesEveryUse() throws RdmaException {
        try (CompletionQueue queue = context.createCompletionQueue(1)) {
            QueuePair closed = domain
                    .createQueuePair(new QueuePairInitAttributes().completionQueue(queue));
            closed.close();
            closed.close();
            assertClosed("queue pair", closed::query, () -> closed.modify(
                    new QueuePairAttributes().state(QueuePairState.ERR)),
                    () -> closed.postSend(new SendWorkRequest().send()),
                    () -> closed.postReceive(new ReceiveWorkRequest()));
        }
    }

    @Test
    void closedChannelsRefuseEveryUse() throws RdmaException {
        CompletionChannel completions = CompletionChannel.create();
        completions.close();
        completions.close();
        assertRefused(completions::awaitEvent, Errno.EBADF, "closed");
        assertRefused(() -> completions.pollEvent(Duration.ZERO), Errno.EBADF, "closed");
        assertRefused(() -> context.createCompletionQueue(1, completions), Errno.EBADF, "closed");
        CmEventChannel events = CmEventChannel.create();
        events.close();
        events.close();
        assertRefused(events::awaitEvent, Errno.EBADF, "closed");
        assertRefused(() -> events.pollEvent(Duration.ZERO), Errno.EBADF, "closed");
        assertRefused(() -> CmId.create(events, PortSpace.TCP), Errno.EBADF, "closed");
    }

    @Test
    void closingAChannelWakesWhoWaitsInIt() throws Exception {
        CompletionChannel completions = CompletionChannel.create();
        assertWoken(completions::awaitEvent, completions);
        CmEventChannel events = CmEventChannel.create();
        assertWoken(events::awaitEvent, events);
    }

    private static void assertWoken(Callable<?> wait, AutoCloseable channel) throws Exception {
        CompletableFuture<Object> waiter = new CompletableFuture<>();
        Thread thread = Thread.ofPlatform().start(() -> {
            try {
                waiter.complete(wait.call());
            } catch (Exception e) {
                waiter.completeExceptionally(e);
            }
        });
        Wait.until("the thread waits", () -> thread.getState() == Thread.State.WAITING
                || thread.getState() == Thread.State.TIMED_WAITING);
        channel.close();
        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(() -> waiter.get(30, TimeUnit.SECONDS)).withMessageContaining("EBADF");
    }
}
