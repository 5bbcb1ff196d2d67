// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.testkit;

import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.DeviceMemory;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.MemoryRegionChanges;
import io.rdma4j.verbs.MemoryRegionInitAttributes;
import io.rdma4j.verbs.MemoryWindow;
import io.rdma4j.verbs.MemoryWindowBind;
import io.rdma4j.verbs.MemoryWindowType;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.WorkCompletionFlag;
import io.rdma4j.verbs.WorkCompletionOpcode;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.junit.jupiter.api.io.TempDir;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;

/** Memory regions registered and re-registered, memory windows, regions of device memory. */
public abstract class MemoryRegionConformance extends Conformance {
    /** Called by subclasses. */
    protected MemoryRegionConformance() {}

    /** Registers as {@code ibv_reg_mr_ex} does. */
    static MemoryRegion registerExtended(ProtectionDomain domain, MemorySegment memory,
            Set<AccessFlag> access) throws RdmaException {
        return domain.register(new MemoryRegionInitAttributes().segment(memory).access(access));
    }

    @ConformanceCase
    void readOnlyMemoryIsSentAndReadButNeverWritten(@TempDir Path folder) throws Exception {
        byte[] content = new byte[1000];
        Arrays.fill(content, (byte) 7);
        Path file = Files.write(folder.resolve("content"), content);
        MemorySegment mapped;
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            mapped = channel.map(MapMode.READ_ONLY, 0, content.length, Arena.ofAuto());
        }
        Players players = players();
        Player client = players.client;
        Player server = players.server;
        assertRefused(() -> client.domain.register(mapped, AccessFlag.LOCAL_WRITE), Errno.EINVAL,
                "read-only");
        MemoryRegion ofClient = keep(client.domain.register(mapped));
        long receive = server.receive(content.length);
        client.awaitSuccess(client.post(client.work(SendOpcode.SEND, content.length)
                .localAddress(ofClient.address()).lkey(ofClient.lkey())));
        server.awaitSuccess(receive);
        assertThat(server.load(Player.RECEIVE_AT, content.length)).isEqualTo(content);

        MemoryRegion ofServer = keep(server.domain.register(mapped, AccessFlag.REMOTE_READ));
        client.awaitSuccess(client.post(client.work(SendOpcode.RDMA_READ, content.length)
                .remoteAddress(ofServer.address()).rkey(ofServer.rkey())));
        assertThat(client.load(Player.RECEIVE_AT, content.length)).isEqualTo(content);

        players.assertAccessRefused(client.work(SendOpcode.RDMA_WRITE, 8)
                .remoteAddress(ofServer.address()).rkey(ofServer.rkey()));
        assertThat(Files.readAllBytes(file)).isEqualTo(content);
    }

    // ---------------------------------------------------------------- registering anew

    @ConformanceCase(after = "test_mr.mr_rereg_addr")
    void receiveIntoMemoryThatWasExchangedFails() throws RdmaException {
        assertStaleAddressFails(new PlayerSettings());
    }

    @ConformanceCase(after = "test_mr.mrex_rereg_addr")
    void receiveIntoMemoryOfAnExtendedRegionThatWasExchangedFails() throws RdmaException {
        assertStaleAddressFails(
                new PlayerSettings().region(MemoryRegionConformance::registerExtended));
    }

    private void assertStaleAddressFails(PlayerSettings settings) throws RdmaException {
        Players players = players(settings);
        Player server = players.server;
        MemorySegment other = Arena.ofAuto().allocate(Player.MEMORY, 64);
        int lkey = server.region.lkey();
        int rkey = server.region.rkey();
        long receive = server.receive(1000);
        server.region.reregister(new MemoryRegionChanges().segment(other));
        assertThat(server.region.lkey()).isEqualTo(lkey);
        assertThat(server.region.rkey()).isEqualTo(rkey);
        assertThat(server.region.segment().address()).isEqualTo(other.address());
        assertThat(server.region.address()).isEqualTo(other.address());

        players.assertRefusedByPeer(players.client.work(SendOpcode.SEND, 1000),
                WorkCompletionStatus.REMOTE_OPERATION_ERROR);
        assertThat(server.await(receive).status())
                .isEqualTo(WorkCompletionStatus.LOCAL_PROTECTION_ERROR);

        players.reconnect();
        byte[] sent = {1, 2, 3, 4, 5};
        players.client.store(Player.SEND_AT, sent);
        receive = server.receive(sent.length);
        players.client.awaitSuccess(
                players.client.post(players.client.work(SendOpcode.SEND, sent.length)));
        server.awaitSuccess(receive);
        assertThat(MemorySegment.ofArray(sent).mismatch(
                other.asSlice(Player.RECEIVE_AT, sent.length))).isEqualTo(-1);
    }

    @ConformanceCase(after = "test_mr.mr_rereg_access")
    void rightsGivenLaterCount() throws RdmaException {
        assertLaterRightsCount(new PlayerSettings());
    }

    @ConformanceCase(after = "test_mr.mrex_rereg_access")
    void rightsGivenLaterToAnExtendedRegionCount() throws RdmaException {
        assertLaterRightsCount(
                new PlayerSettings().region(MemoryRegionConformance::registerExtended));
    }

    private void assertLaterRightsCount(PlayerSettings settings) throws RdmaException {
        Players players = players(settings.regionAccess(AccessFlag.LOCAL_WRITE));
        Set<AccessFlag> writable = Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
        players.client.region.reregister(new MemoryRegionChanges().access(writable));
        players.server.region.reregister(new MemoryRegionChanges().access(writable));
        assertThat(players.server.region.access()).isEqualTo(writable);
        players.access(SendOpcode.RDMA_WRITE);
    }

    @ConformanceCase(after = "test_mr.mr_rereg_access_bad_flow")
    void rightsTakenBackAreGone() throws RdmaException {
        Players players = players(new PlayerSettings().regionAccess(AccessFlag.LOCAL_WRITE,
                AccessFlag.REMOTE_WRITE));
        players.access(SendOpcode.RDMA_WRITE);
        players.server.region.reregister(new MemoryRegionChanges().access(AccessFlag.LOCAL_WRITE));
        players.assertAccessRefused(players.client.work(SendOpcode.RDMA_WRITE, 1000));
    }

    @ConformanceCase(after = "test_mr.mr_rereg_atomic")
    void rightToAtomicsCanBeTakenAndGivenBack() throws RdmaException {
        Set<AccessFlag> without = Set.of(AccessFlag.LOCAL_WRITE);
        Set<AccessFlag> with = Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_ATOMIC);
        Players players = players(new PlayerSettings().regionAccess(AccessFlag.LOCAL_WRITE,
                AccessFlag.REMOTE_ATOMIC));
        players.server.region.reregister(new MemoryRegionChanges().access(without));
        players.client.region.reregister(new MemoryRegionChanges().access(without));
        players.assertAccessRefused(
                players.client.work(SendOpcode.ATOMIC_FETCH_AND_ADD, 8).atomic(2, 0));
        players.reconnect();
        players.server.region.reregister(new MemoryRegionChanges().access(with));
        players.client.region.reregister(new MemoryRegionChanges().access(with));
        players.atomics(SendOpcode.ATOMIC_FETCH_AND_ADD, 1, 2);
    }

    @ConformanceCase(after = "test_mr.mr_rereg_pd")
    void regionOfAnotherDomainIsOutOfReachUntilItComesBack() throws RdmaException {
        Players players = players();
        Player server = players.server;
        players.exchange(SendOpcode.SEND);
        ProtectionDomain other = keep(server.context.allocateProtectionDomain());
        server.region.reregister(new MemoryRegionChanges().protectionDomain(other));
        assertThat(server.region.protectionDomain()).isSameAs(other);
        long receive = server.receive(1000);
        players.assertRefusedByPeer(players.client.work(SendOpcode.SEND, 1000),
                WorkCompletionStatus.REMOTE_OPERATION_ERROR);
        assertThat(server.await(receive).status())
                .isEqualTo(WorkCompletionStatus.LOCAL_PROTECTION_ERROR);
        players.reconnect();
        server.region.reregister(new MemoryRegionChanges().protectionDomain(server.domain));
        players.exchange(SendOpcode.SEND);
    }

    // ---------------------------------------------------------------- flags and parameters

    @ConformanceCase(after = "test_mr.reg_mr_bad_flags")
    void remoteWritingWithoutLocalWritingIsRefused() throws RdmaException {
        assertBadFlagsAreRefused(ProtectionDomain::register);
    }

    @ConformanceCase(after = "test_mr.reg_mrex_bad_flags")
    void extendedRegionRefusesRemoteWritingWithoutLocalWriting() throws RdmaException {
        assertBadFlagsAreRefused(MemoryRegionConformance::registerExtended);
    }

    private void assertBadFlagsAreRefused(PlayerSettings.RegionMaker register)
            throws RdmaException {
        ProtectionDomain domain = keep(open().allocateProtectionDomain());
        MemorySegment memory = Arena.ofAuto().allocate(4096);
        for (AccessFlag flag : List.of(AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_ATOMIC)) {
            assertRefused(() -> register.make(domain, memory, Set.of(flag)), Errno.EINVAL,
                    "LOCAL_WRITE");
        }
    }

    @ConformanceCase(after = "test_mr.reg_mrex_inval_params")
    void extendedRegionNeedsOneKindOfMemory() throws RdmaException {
        DeviceContext context = open();
        ProtectionDomain domain = keep(context.allocateProtectionDomain());
        assertRefused(() -> domain.register(
                new MemoryRegionInitAttributes().access(AccessFlag.LOCAL_WRITE)), Errno.EINVAL);
        if (context.queryDevice().maxDeviceMemory() > 0) {
            DeviceMemory memory = keep(context.allocateDeviceMemory(64, 4));
            assertRefused(() -> domain.register(new MemoryRegionInitAttributes()
                    .segment(Arena.ofAuto().allocate(64)).deviceMemory(memory, 0, 64)
                    .access(AccessFlag.LOCAL_WRITE, AccessFlag.ZERO_BASED)), Errno.EINVAL);
        }
    }

    // ---------------------------------------------------------------- memory windows

    /** A window of the server, through which the client writes. */
    private final class Opened {
        final Players players;
        final MemoryWindow window;
        int rkey;

        Opened(MemoryWindowType type, PlayerSettings settings) throws RdmaException {
            players = players(settings.regionAccess(AccessFlag.LOCAL_WRITE, AccessFlag.MW_BIND));
            window = keep(players.server.domain.allocateMemoryWindow(type));
            assertThat(window.type()).isEqualTo(type);
            bind(players.server.region.length());
        }

        void bind(long length) throws RdmaException {
            Player server = players.server;
            Set<AccessFlag> access = length == 0 ? Set.of() : Set.of(AccessFlag.REMOTE_WRITE);
            MemoryWindowBind bind = new MemoryWindowBind(server.region, server.region.address(),
                    length, access);
            long id = server.newId();
            if (window.type() == MemoryWindowType.TYPE_1) {
                server.queuePair.bindMemoryWindow(id, window, bind, SendFlag.SIGNALED);
            } else {
                server.queuePair.postSend(new SendWorkRequest().id(id)
                        .bind(window, MemoryWindow.nextRkey(window.rkey()), bind)
                        .set(SendFlag.SIGNALED));
            }
            assertThat(server.awaitSuccess(id).opcode())
                    .isEqualTo(WorkCompletionOpcode.BIND_MEMORY_WINDOW);
            if (length > 0) {
                rkey = window.rkey();
            }
        }

        void write() throws RdmaException {
            for (int round = 0; round < Players.ROUNDS; round++) {
                players.access(players.client, work(), round);
            }
        }

        void assertClosed() throws RdmaException {
            players.assertAccessRefused(work());
        }

        private Work work() {
            return players.client.work(SendOpcode.RDMA_WRITE, 3000).rkey(rkey);
        }
    }

    private Opened opened(MemoryWindowType type) throws RdmaException {
        return new Opened(type, new PlayerSettings());
    }

    @ConformanceCase(after = "test_mr.mw_type1")
    void windowOfType1LetsThePeerWrite() throws RdmaException {
        opened(MemoryWindowType.TYPE_1).write();
    }

    @ConformanceCase(after = "test_mr.mw_ex_type1")
    void windowOfType1OpensAnExtendedRegion() throws RdmaException {
        new Opened(MemoryWindowType.TYPE_1,
                new PlayerSettings().region(MemoryRegionConformance::registerExtended)).write();
    }

    @ConformanceCase(after = "test_mr.invalidate_mw_type1")
    void bindOfNoBytesClosesAWindowOfType1() throws RdmaException {
        Opened opened = opened(MemoryWindowType.TYPE_1);
        opened.write();
        opened.bind(0);
        opened.assertClosed();
    }

    @ConformanceCase(after = "test_mr.mw_type2")
    void windowOfType2LetsThePeerWrite() throws RdmaException {
        opened(MemoryWindowType.TYPE_2).write();
    }

    @ConformanceCase(after = "test_mr.mw_type2_invalidate_local")
    void localInvalidationClosesAWindowOfType2() throws RdmaException {
        Opened opened = opened(MemoryWindowType.TYPE_2);
        opened.write();
        Player server = opened.players.server;
        Work invalidation = server.work(SendOpcode.LOCAL_INVALIDATE, 0).invalidated(opened.rkey);
        assertThat(server.awaitSuccess(server.post(invalidation)).opcode())
                .isEqualTo(WorkCompletionOpcode.LOCAL_INVALIDATE);
        opened.assertClosed();
    }

    @ConformanceCase(after = "test_mr.mw_type2_invalidate_remote")
    void sendWithInvalidateClosesAWindowOfType2() throws RdmaException {
        Opened opened = opened(MemoryWindowType.TYPE_2);
        opened.write();
        Player client = opened.players.client;
        long receive = opened.players.server.receive(100);
        client.awaitSuccess(client.post(client.work(SendOpcode.SEND_WITH_INVALIDATE, 100)
                .invalidated(opened.rkey)));
        WorkCompletion received = opened.players.server.awaitSuccess(receive);
        assertThat(received.has(WorkCompletionFlag.WITH_INVALIDATE)).isTrue();
        assertThat(received.invalidatedRkey()).isEqualTo(opened.rkey);
        opened.assertClosed();
    }

    @ConformanceCase(after = "test_mr.mw_type2_invalidate_dealloc")
    void freedWindowOfType2IsClosed() throws RdmaException {
        Opened opened = opened(MemoryWindowType.TYPE_2);
        opened.write();
        opened.window.close();
        opened.assertClosed();
    }

    /** There is no third type to ask for; the wrong way to bind one is what can go wrong. */
    @ConformanceCase(after = "test_mr.reg_mw_wrong_type")
    void windowIsBoundOnlyAsItsTypeIs() throws RdmaException {
        Players players = players(new PlayerSettings().regionAccess(AccessFlag.LOCAL_WRITE,
                AccessFlag.MW_BIND));
        Player server = players.server;
        MemoryWindow first = keep(
                server.domain.allocateMemoryWindow(MemoryWindowType.TYPE_1));
        MemoryWindow second = keep(
                server.domain.allocateMemoryWindow(MemoryWindowType.TYPE_2));
        MemoryWindowBind bind = new MemoryWindowBind(server.region, server.region.address(), 100,
                Set.of(AccessFlag.REMOTE_WRITE));
        assertRefused(() -> server.queuePair.bindMemoryWindow(1, second, bind, SendFlag.SIGNALED),
                Errno.EINVAL);
        assertRefused(() -> server.queuePair.postSend(new SendWorkRequest()
                .bind(first, MemoryWindow.nextRkey(first.rkey()), bind)), Errno.EINVAL);
    }

    // ---------------------------------------------------------------- regions of device memory

    private DeviceContext openWithMemory() throws RdmaException {
        DeviceContext context = open();
        assumeOffered(context.queryDevice().maxDeviceMemory() > 0, "maxDeviceMemory is 0");
        return context;
    }

    private Players playersWithDeviceMemory(AccessFlag... access) throws RdmaException {
        assumeOffered(openWithMemory().queryDevice().maxDeviceMemory() >= 2 * Player.MEMORY,
                "maxDeviceMemory is less than " + 2 * Player.MEMORY);
        return players(
                new PlayerSettings().with(own -> own.usesDeviceMemory = true).regionAccess(access));
    }

    private Players playersWithRemoteDeviceMemory() throws RdmaException {
        return playersWithDeviceMemory(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE,
                AccessFlag.REMOTE_READ, AccessFlag.REMOTE_ATOMIC);
    }

    private static MemoryRegionInitAttributes stretch(DeviceMemory memory, long offset,
            long length) {
        return new MemoryRegionInitAttributes().deviceMemory(memory, offset, length)
                .access(AccessFlag.LOCAL_WRITE, AccessFlag.ZERO_BASED);
    }

    @ConformanceCase(after = "test_mr.create_dm_mr")
    void anyStretchOfDeviceMemoryCanBeRegistered() throws RdmaException {
        DeviceContext context = openWithMemory();
        ProtectionDomain domain = keep(context.allocateProtectionDomain());
        long largest = context.queryDevice().maxDeviceMemory();
        for (long size : new long[]{4, largest / 4 & -4, largest / 2 & -4}) {
            try (DeviceMemory memory = context.allocateDeviceMemory(size, 4)) {
                for (long length : new long[]{4, size / 2 & -4, size}) {
                    if (length == 0) {
                        continue;
                    }
                    try (MemoryRegion region = domain.register(stretch(memory, 0, length))) {
                        assertThat(region.length()).isEqualTo(length);
                        assertThat(region.address()).isZero();
                        assertRefused(memory::close, Errno.EBUSY);
                    }
                }
            }
        }
    }

    @ConformanceCase(after = "test_mr.dm_bad_access")
    void copiesBeyondDeviceMemoryAreRefused() throws RdmaException {
        DeviceContext context = openWithMemory();
        ProtectionDomain domain = keep(context.allocateProtectionDomain());
        DeviceMemory memory = keep(context.allocateDeviceMemory(100, 4));
        keep(domain.register(stretch(memory, 0, 100)));
        for (long[] bad : new long[][]{{104, 4}, {0, 104}, {98, 4}}) {
            MemorySegment segment = MemorySegment.ofArray(new byte[(int) bad[1]]);
            assertRefused(() -> memory.copyFrom(bad[0], segment), Errno.EINVAL, "100");
            assertRefused(() -> memory.copyTo(bad[0], segment), Errno.EINVAL, "100");
        }
    }

    @ConformanceCase(after = "test_mr.dm_bad_registration")
    void regionBeyondDeviceMemoryIsRefused() throws RdmaException {
        DeviceContext context = openWithMemory();
        ProtectionDomain domain = keep(context.allocateProtectionDomain());
        DeviceMemory memory = keep(context.allocateDeviceMemory(100, 4));
        assertRefused(() -> domain.register(stretch(memory, 0, 104)), Errno.EINVAL, "100");
        assertRefused(() -> domain.register(stretch(memory, 96, 8)), Errno.EINVAL, "100");
        assertRefused(() -> domain.register(new MemoryRegionInitAttributes()
                .deviceMemory(memory, 0, 100).access(AccessFlag.LOCAL_WRITE)), Errno.EINVAL,
                "ZERO_BASED");
    }

    @ConformanceCase(after = "test_mr.dm_traffic")
    void messagesTravelBetweenDeviceMemories() throws RdmaException {
        playersWithDeviceMemory(AccessFlag.LOCAL_WRITE).exchange(SendOpcode.SEND);
    }

    @ConformanceCase(after = "test_mr.dm_remote_traffic")
    void peerWritesDeviceMemory() throws RdmaException {
        playersWithRemoteDeviceMemory().access(SendOpcode.RDMA_WRITE);
    }

    @ConformanceCase(after = "test_mr.dm_remote_write_traffic_imm")
    void peerWritesDeviceMemoryWithImmediate() throws RdmaException {
        playersWithRemoteDeviceMemory().exchange(SendOpcode.RDMA_WRITE_WITH_IMMEDIATE);
    }

    @ConformanceCase(after = "test_mr.dm_remote_read_traffic")
    void peerReadsDeviceMemory() throws RdmaException {
        playersWithRemoteDeviceMemory().access(SendOpcode.RDMA_READ);
    }

    @ConformanceCase(after = "test_mr.dm_atomic_fetch_add")
    void peerAddsInDeviceMemory() throws RdmaException {
        playersWithRemoteDeviceMemory().atomics(SendOpcode.ATOMIC_FETCH_AND_ADD, 1, 2);
    }

    @ConformanceCase(after = "test_mr.dm_atomic_cmp_swp")
    void peerComparesAndSwapsInDeviceMemory() throws RdmaException {
        Players players = playersWithRemoteDeviceMemory();
        players.atomics(SendOpcode.ATOMIC_COMPARE_AND_SWAP, 1, 2);
        players.atomics(SendOpcode.ATOMIC_COMPARE_AND_SWAP, 1, 1);
    }
}
