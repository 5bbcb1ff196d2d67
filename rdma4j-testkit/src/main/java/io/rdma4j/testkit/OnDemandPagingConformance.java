// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.testkit;

import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AdviceFlag;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryAdvice;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.OnDemandCapability;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ScatterGatherElement;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.SendWorkRequest;
import org.junit.jupiter.api.Assumptions;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Regions whose pages are brought in when they are used: their memory is mapped and untouched at first.
 * Regions of the whole address space do not exist here, where regions are segments.
 */
public abstract class OnDemandPagingConformance extends Conformance {
    private static final long HUGE_PAGE = 2 << 20;

    /** Called by subclasses. */
    protected OnDemandPagingConformance() {}

    private void assumeOnDemand(QueuePairType type, OnDemandCapability... needed)
            throws RdmaException {
        Set<OnDemandCapability> offered = open().queryDevice().onDemandPaging()
                .getOrDefault(type, Set.of());
        assumeOffered(offered.containsAll(List.of(needed)),
                "onDemandPaging offers " + type + " not all of " + Arrays.toString(needed));
    }

    private Players onDemand(PlayerSettings settings, OnDemandCapability... needed)
            throws RdmaException {
        assumeOnDemand(settings.type, needed);
        return onDemand(players(onUntouchedPages(settings)));
    }

    private static PlayerSettings onUntouchedPages(PlayerSettings settings) {
        return settings.regionAccess(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_ATOMIC,
                AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE, AccessFlag.ON_DEMAND)
                .with(own -> own.memory = OnDemandPagingConformance::untouched);
    }

    /** Asserts that no page has come in, and says so if none does without the flag either. */
    private Players onDemand(Players players) throws RdmaException {
        assertThat(players.client.memory.isLoaded()).as("registered on demand, loaded").isFalse();
        MemorySegment ordinary = untouched();
        players.client.domain.register(ordinary, AccessFlag.LOCAL_WRITE).close();
        if (!ordinary.isLoaded()) {
            reportWithoutEffect(
                    "registering brings no pages in, whether on demand or not");
        }
        return players;
    }

    private Players onDemand(OnDemandCapability... needed) throws RdmaException {
        return onDemand(new PlayerSettings(), needed);
    }

    private Players forMessages() throws RdmaException {
        return onDemand(OnDemandCapability.SEND, OnDemandCapability.RECEIVE);
    }

    /** {@return mapped memory that nobody has used} */
    private static MemorySegment untouched() {
        try {
            Path file = Files.createTempFile("rdma4j", null);
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ,
                    StandardOpenOption.WRITE, StandardOpenOption.DELETE_ON_CLOSE)) {
                return channel.map(MapMode.READ_WRITE, 0, Player.MEMORY, Arena.ofAuto());
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    // ---------------------------------------------------------------- traffic

    @ConformanceCase(after = "test_odp.odp_rc_traffic")
    void messagesTravel() throws RdmaException {
        forMessages().exchange(SendOpcode.SEND);
    }

    @ConformanceCase(after = "test_odp.mrex_odp_rc_traffic")
    void messagesTravelBetweenExtendedRegions() throws RdmaException {
        onDemand(new PlayerSettings().region(MemoryRegionConformance::registerExtended),
                OnDemandCapability.SEND, OnDemandCapability.RECEIVE).exchange(SendOpcode.SEND);
    }

    @ConformanceCase(after = "test_odp.odp_rc_mixed_mr")
    void messagesGatherFromBothKindsOfRegions() throws RdmaException {
        Players players = forMessages();
        Player client = players.client;
        Player server = players.server;
        MemorySegment other = Arena.ofAuto().allocate(100);
        MemoryRegion pinned = keep(client.domain.register(other, AccessFlag.LOCAL_WRITE));
        for (int round = 0; round < Players.ROUNDS; round++) {
            byte[] first = new byte[100];
            byte[] second = new byte[100];
            Arrays.fill(first, (byte) round);
            Arrays.fill(second, (byte) -round);
            client.store(Player.SEND_AT, first);
            MemorySegment.copy(MemorySegment.ofArray(second), 0, other, 0, 100);
            long receive = server.receive(200);
            long send = client.newId();
            client.queuePair.postSend(new SendWorkRequest().id(send).send()
                    .add(client.region, Player.SEND_AT, 100).add(pinned, 0, 100)
                    .set(SendFlag.SIGNALED));
            client.awaitSuccess(send);
            server.awaitSuccess(receive);
            assertThat(server.load(Player.RECEIVE_AT, 100)).isEqualTo(first);
            assertThat(server.load(Player.RECEIVE_AT + 100, 100)).isEqualTo(second);
        }
    }

    @ConformanceCase(after = "test_odp.odp_ud_traffic")
    void datagramsAreSentFromThere() throws RdmaException {
        assumeOnDemand(QueuePairType.UD, OnDemandCapability.SEND);
        PlayerSettings settings = new PlayerSettings().type(QueuePairType.UD)
                .with(own -> own.memory = OnDemandPagingConformance::untouched);
        int[] made = new int[1];
        // The client is made first; datagrams are received into an ordinary region.
        settings.region((domain, memory, access) -> domain.register(memory,
                made[0]++ == 0
                        ? Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.ON_DEMAND)
                        : Set.of(AccessFlag.LOCAL_WRITE)));
        Players players = onDemand(players(settings));
        for (int round = 0; round < Players.ROUNDS; round++) {
            Players.message(players.client, SendOpcode.SEND, round);
        }
    }

    @ConformanceCase(after = "test_odp.odp_rc_rdma_read")
    void peersRead() throws RdmaException {
        onDemand(OnDemandCapability.READ).access(SendOpcode.RDMA_READ);
    }

    @ConformanceCase(after = "test_odp.odp_rc_rdma_write")
    void peersWrite() throws RdmaException {
        onDemand(OnDemandCapability.WRITE).access(SendOpcode.RDMA_WRITE);
    }

    @ConformanceCase(after = "test_odp.odp_rc_atomic_cmp_and_swp")
    void peersCompareAndSwap() throws RdmaException {
        Players players = onDemand(OnDemandCapability.ATOMIC);
        players.atomics(SendOpcode.ATOMIC_COMPARE_AND_SWAP, 1, 2);
        players.atomics(SendOpcode.ATOMIC_COMPARE_AND_SWAP, 1, 1);
    }

    @ConformanceCase(after = "test_odp.odp_rc_atomic_fetch_and_add")
    void peersFetchAndAdd() throws RdmaException {
        onDemand(OnDemandCapability.ATOMIC).atomics(SendOpcode.ATOMIC_FETCH_AND_ADD, 1, 2);
    }

    @ConformanceCase(after = "test_odp.odp_qp_ex_rc_atomic_write")
    void peersWriteAtomically() throws RdmaException {
        onDemand(
                new PlayerSettings().sendOperations(SendOpcode.ATOMIC_WRITE)
                        .with(own -> own.messageLength = 8),
                OnDemandCapability.ATOMIC_WRITE).access(SendOpcode.ATOMIC_WRITE);
    }

    @ConformanceCase(after = "test_odp.odp_qp_ex_rc_flush")
    void peersFlush() throws RdmaException {
        writeAndFlush(new PlayerSettings());
    }

    @ConformanceCase(after = "test_odp.mrex_odp_qp_ex_rc_flush")
    void peersFlushExtendedRegions() throws RdmaException {
        writeAndFlush(new PlayerSettings().region(MemoryRegionConformance::registerExtended));
    }

    private void writeAndFlush(PlayerSettings settings) throws RdmaException {
        assumeOnDemand(QueuePairType.RC, OnDemandCapability.FLUSH);
        ExtendedQueuePairConformance.writeAndFlush(
                onDemand(ExtendedQueuePairConformance.flushing(this,
                        onUntouchedPages(settings).regionAccess(AccessFlag.LOCAL_WRITE,
                                AccessFlag.REMOTE_WRITE, AccessFlag.FLUSH_GLOBAL,
                                AccessFlag.ON_DEMAND))));
    }

    // ---------------------------------------------------------------- huge pages

    @ConformanceCase(after = "test_odp.odp_rc_huge_traffic")
    void messagesTravelBetweenHugePages() throws RdmaException {
        exchangeBetweenHugePages((domain, memory, access) -> domain.register(memory, access));
    }

    @ConformanceCase(after = "test_odp.odp_rc_huge_user_addr_traffic")
    void messagesTravelBetweenHugePagesAtAChosenAddress() throws RdmaException {
        exchangeBetweenHugePages(
                (domain, memory, access) -> domain.register(memory, HUGE_PAGE, access));
    }

    @ConformanceCase(after = "test_odp.mrex_odp_rc_huge_traffic")
    void messagesTravelBetweenHugePagesOfExtendedRegions() throws RdmaException {
        exchangeBetweenHugePages(MemoryRegionConformance::registerExtended);
    }

    /**
     * The memory is aligned as a huge page, and nothing here can tell whether it is one: a device that looks
     * closer may find that it is none, and one that does not look is not found out.
     */
    private void exchangeBetweenHugePages(PlayerSettings.RegionMaker register)
            throws RdmaException {
        assumeOnDemand(QueuePairType.RC, OnDemandCapability.SEND, OnDemandCapability.RECEIVE);
        Players players;
        try {
            players = players(new PlayerSettings().region(register)
                    .with(own -> own.memory = () -> Arena.ofAuto().allocate(HUGE_PAGE, HUGE_PAGE))
                    .regionAccess(
                            AccessFlag.LOCAL_WRITE, AccessFlag.ON_DEMAND, AccessFlag.HUGETLB));
        } catch (RdmaException refusal) {
            if (refusal.errno() != Errno.EINVAL) {
                throw refusal;
            }
            Assumptions.abort("the system gave no huge pages");
            return;
        }
        players.exchange(SendOpcode.SEND);
        reportWithoutEffect("the memory is aligned as huge pages, and the flag is taken");
    }

    // ---------------------------------------------------------------- prefetching

    private Players prefetching() throws RdmaException {
        assumeOnDemand(QueuePairType.RC, OnDemandCapability.SEND, OnDemandCapability.RECEIVE);
        Players players = players(onUntouchedPages(new PlayerSettings()));
        assertThat(isThere(players.client) || isThere(players.server)).isFalse();
        return players;
    }

    private static void advise(Player player, MemoryAdvice advice, AdviceFlag... flags)
            throws RdmaException {
        player.domain
                .advise(advice,
                        List.of(ScatterGatherElement.of(player.region, Player.SEND_AT, 3000),
                                ScatterGatherElement.of(player.region, Player.RECEIVE_AT, 3000)),
                        flags);
    }

    /** {@return whether the system has the pages that messages are sent from and received into} */
    private static boolean isThere(Player player) {
        return player.memory.asSlice(Player.SEND_AT, 3000).isLoaded()
                && player.memory.asSlice(Player.RECEIVE_AT, 3000).isLoaded();
    }

    private static void exchangeAfter(Players players, MemoryAdvice advice, AdviceFlag... flags)
            throws RdmaException {
        for (int round = 0; round < Players.ROUNDS; round++) {
            advise(players.client, advice, flags);
            advise(players.server, advice, flags);
            Players.message(players.client, SendOpcode.SEND, round);
            Players.message(players.server, SendOpcode.SEND, round);
        }
    }

    @ConformanceCase(after = "test_odp.odp_sync_prefetch_rc_traffic")
    void pagesCanBeBroughtInBefore() throws RdmaException {
        for (MemoryAdvice advice : EnumSet.of(MemoryAdvice.PREFETCH,
                MemoryAdvice.PREFETCH_WRITE)) {
            Players players = prefetching();
            advise(players.client, advice, AdviceFlag.FLUSH);
            advise(players.server, advice, AdviceFlag.FLUSH);
            assertThat(isThere(players.client) && isThere(players.server)).as("brought in")
                    .isTrue();
            exchangeAfter(players, advice, AdviceFlag.FLUSH);
        }
    }

    @ConformanceCase(after = "test_odp.odp_async_prefetch_rc_traffic")
    void pagesCanBeBroughtInMeanwhile() throws RdmaException {
        for (MemoryAdvice advice : EnumSet.of(MemoryAdvice.PREFETCH,
                MemoryAdvice.PREFETCH_WRITE)) {
            Players players = prefetching();
            advise(players.client, advice);
            if (!isThere(players.client)) {
                reportWithoutEffect("no page is there when the call returns, and none has to be");
            }
            exchangeAfter(players, advice);
        }
    }

    @ConformanceCase(after = "test_odp.odp_prefetch_sync_no_page_fault_rc_traffic")
    void pagesThatAreThereCanBeTakenBefore() throws RdmaException {
        takeWhatIsThere(AdviceFlag.FLUSH);
    }

    @ConformanceCase(after = "test_odp.odp_prefetch_async_no_page_fault_rc_traffic")
    void pagesThatAreThereCanBeTakenMeanwhile() throws RdmaException {
        takeWhatIsThere();
    }

    private void takeWhatIsThere(AdviceFlag... flags) throws RdmaException {
        Players players = prefetching();
        advise(players.client, MemoryAdvice.PREFETCH_NO_FAULT, flags);
        assertThat(isThere(players.client)).as("brought in").isFalse();
        exchangeAfter(players, MemoryAdvice.PREFETCH_NO_FAULT, flags);
        reportWithoutEffect("pages that are there already are taken, which nothing shows");
    }
}
