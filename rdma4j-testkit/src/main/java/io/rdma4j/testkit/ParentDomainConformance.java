// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.testkit;

import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.BufferAllocator;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ParentDomainInitAttributes;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;

/** Parent domains, with and without an allocator of the application's. */
public abstract class ParentDomainConformance extends Conformance {
    private static final long HUGE_PAGE = 2 << 20;
    /** Inline data is what any device needs memory of its own for. */
    private static final int INLINE = 64;

    /** The domains that parent domains were made from. */
    private final Map<ProtectionDomain, ProtectionDomain> bases = new HashMap<>();

    /** Called by subclasses. */
    protected ParentDomainConformance() {}

    /** Leaves every buffer to the device. */
    private static final class DeviceBuffers implements BufferAllocator {
        int requests;

        @Override
        public @Nullable MemorySegment allocate(ProtectionDomain domain, long byteSize,
                long byteAlignment) {
            requests++;
            return null;
        }

        @Override
        public void free(ProtectionDomain domain, MemorySegment memory) {
            throw new IllegalStateException("this allocator gave nothing that could be freed");
        }
    }

    /** Aligned buffers full of zeros, of which each must come back once. */
    private static final class AlignedBuffers implements BufferAllocator, AutoCloseable {
        private final Set<MemorySegment> given = new HashSet<>();
        private final @Nullable MemorySegment page;
        private long used;

        /** @param page where buffers come from, or null for anywhere */
        AlignedBuffers(@Nullable MemorySegment page) {
            this.page = page;
        }

        @Override
        public MemorySegment allocate(ProtectionDomain domain, long byteSize, long byteAlignment) {
            assertThat(byteSize).isPositive();
            assertThat(Long.bitCount(byteAlignment)).isOne();
            MemorySegment buffer;
            if (page == null) {
                buffer = Arena.ofAuto().allocate(byteSize, byteAlignment);
            } else {
                long at = (used + byteAlignment - 1) & -byteAlignment;
                used = at + byteSize;
                buffer = page.asSlice(at, byteSize);
            }
            given.add(buffer);
            return buffer;
        }

        @Override
        public void free(ProtectionDomain domain, MemorySegment memory) {
            assertThat(given.remove(memory)).as("the buffer was given and not yet freed").isTrue();
        }

        boolean isAsked() {
            return !given.isEmpty();
        }

        /** Asserts that a device that sends inline data keeps it in what it was given. */
        void assertUsed() {
            assertThat(given).as("buffers the device asked for").isNotEmpty();
            assertThat(given).as("buffers the device wrote to").anyMatch(
                    each -> each.mismatch(MemorySegment.ofArray(new byte[Math.toIntExact(
                            each.byteSize())])) != -1);
        }

        /** Closed after all that uses it. */
        @Override
        public void close() {
            assertThat(given).as("buffers that did not come back").isEmpty();
        }
    }

    private PlayerSettings inParentDomain(@Nullable BufferAllocator allocator) {
        return new PlayerSettings().with(own -> {
            own.inlineData = INLINE;
            own.messageLength = INLINE - 4;
            own.sendsInline = true;
            own.domain = context -> parent(context, allocator);
        });
    }

    private ProtectionDomain parent(DeviceContext context, @Nullable BufferAllocator allocator)
            throws RdmaException {
        ProtectionDomain base = keep(context.allocateProtectionDomain());
        ProtectionDomain parent = base.createParentDomain(new ParentDomainInitAttributes()
                .threadDomain(keep(context.allocateThreadDomain())).allocator(allocator));
        bases.put(parent, base);
        return parent;
    }

    /** A parent domain shares the regions of the domain it was made from, and of no other. */
    @ConformanceCase(after = "test_parent_domain.without_allocators_rc_traffic")
    void parentDomainSharesTheRegionsOfItsDomain() throws RdmaException {
        PlayerSettings settings = new PlayerSettings().region((domain, memory, access) -> {
            ProtectionDomain base = bases.get(domain);
            assertThat(base).isNotNull();
            return base.register(memory, access);
        }).with(own -> own.domain = context -> parent(context, null));
        Players players = players(settings);
        players.exchange(SendOpcode.SEND);
        Player client = players.client;
        ProtectionDomain stranger = keep(client.context.allocateProtectionDomain());
        MemoryRegion foreign = keep(stranger.register(client.memory, AccessFlag.LOCAL_WRITE));
        players.assertEnds(client.work(SendOpcode.SEND, 100).lkey(foreign.lkey()),
                WorkCompletionStatus.LOCAL_PROTECTION_ERROR);
    }

    @ConformanceCase(after = "test_parent_domain.default_allocators_rc_traffic")
    void allocatorMayLeaveBuffersToTheDevice() throws RdmaException {
        DeviceBuffers buffers = new DeviceBuffers();
        players(inParentDomain(buffers)).exchange(SendOpcode.SEND);
        assertThat(buffers.requests).as("buffers the device asked for").isPositive();
    }

    private void exchangeThrough(AlignedBuffers buffers, PlayerSettings settings)
            throws RdmaException {
        players(settings).exchange(SendOpcode.SEND);
        buffers.assertUsed();
    }

    @ConformanceCase(after = "test_parent_domain.mem_align_rc_traffic")
    void connectionsUseBuffersOfTheApplication() throws RdmaException {
        AlignedBuffers buffers = keep(new AlignedBuffers(null));
        exchangeThrough(buffers, inParentDomain(buffers));
    }

    @ConformanceCase(after = "test_parent_domain.mem_align_ud_traffic")
    void datagramsUseBuffersOfTheApplication() throws RdmaException {
        AlignedBuffers buffers = keep(new AlignedBuffers(null));
        exchangeThrough(buffers, inParentDomain(buffers).with(own -> own.type = QueuePairType.UD));
    }

    /** The device chooses which queues take memory from the allocator; the case reports the choice. */
    @ConformanceCase(after = "test_parent_domain.mem_align_srq_excq_rc_traffic")
    void sharedReceivesAndCompletionsWorkInAParentDomain() throws RdmaException {
        AlignedBuffers buffers = keep(new AlignedBuffers(null));
        exchangeThrough(buffers, inParentDomain(buffers).with(own -> {
            own.usesSharedReceiveQueue = true;
            own.queue = ParentDomainConformance::completionQueue;
        }));

        DeviceContext context = open();
        AlignedBuffers ofCompletions = keep(new AlignedBuffers(null));
        keep(completionQueue(context, keep(parent(context, ofCompletions))));
        AlignedBuffers ofReceives = keep(new AlignedBuffers(null));
        keep(keep(parent(context, ofReceives)).createSharedReceiveQueue(
                new SharedReceiveQueueInitAttributes().maxRequests(Player.DEPTH)));
        if (!ofCompletions.isAsked() || !ofReceives.isAsked()) {
            reportWithoutEffect("the device has its own memory for "
                    + (ofCompletions.isAsked()
                            ? "shared receive queues"
                            : ofReceives.isAsked()
                                    ? "completion queues"
                                    : "shared receive queues and completion queues"));
        }
    }

    private static CompletionQueue completionQueue(DeviceContext context, ProtectionDomain domain)
            throws RdmaException {
        return context.createCompletionQueue(
                ExtendedCompletionQueueConformance.standard().parentDomain(domain));
    }

    /** Whether the system backs the memory with one huge page is its own business. */
    @ConformanceCase(after = "test_parent_domain.huge_page_traffic")
    void buffersOfTheApplicationMayLieSideBySide() throws RdmaException {
        AlignedBuffers buffers = keep(
                new AlignedBuffers(Arena.ofAuto().allocate(HUGE_PAGE, HUGE_PAGE)));
        exchangeThrough(buffers, inParentDomain(buffers));
    }
}
