package io.rdma4j.testkit;

import io.rdma4j.verbs.BufferAllocator;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendOpcode;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashSet;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;

/** Parent domains, with and without an allocator of the application's. */
public abstract class ParentDomainConformance extends Conformance {
    private static final long HUGE_PAGE = 2 << 20;

    /** Called by subclasses. */
    protected ParentDomainConformance() {}

    /** Leaves every buffer to the device. */
    private static final class DeviceBuffers implements BufferAllocator {
        @Override
        public @Nullable MemorySegment allocate(ProtectionDomain domain, long byteSize,
                long byteAlignment) {
            return null;
        }

        @Override
        public void free(ProtectionDomain domain, MemorySegment memory) {
            throw new IllegalStateException("this allocator gave nothing that could be freed");
        }
    }

    /** Aligned buffers, of which each must come back once. */
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

        /** Closed after all that uses it. */
        @Override
        public void close() {
            assertThat(given).as("buffers that did not come back").isEmpty();
        }
    }

    private PlayerSettings inParentDomain(@Nullable BufferAllocator allocator) {
        // Inline data is what a device needs memory of its own for.
        return new PlayerSettings().with(own -> {
            own.inlineData = 64;
            own.domain = context -> parent(context, allocator);
        });
    }

    private ProtectionDomain parent(DeviceContext context, @Nullable BufferAllocator allocator)
            throws RdmaException {
        ProtectionDomain domain = keep(context.allocateProtectionDomain());
        return domain.createParentDomain(keep(context.allocateThreadDomain()), allocator);
    }

    @ConformanceCase(file = "test_parent_domain", name = "without_allocators_rc_traffic")
    void parentDomainWithoutAllocatorServesConnections() throws RdmaException {
        players(inParentDomain(null)).exchange(SendOpcode.SEND);
    }

    @ConformanceCase(file = "test_parent_domain", name = "default_allocators_rc_traffic")
    void allocatorMayLeaveBuffersToTheDevice() throws RdmaException {
        players(inParentDomain(new DeviceBuffers())).exchange(SendOpcode.SEND);
    }

    @ConformanceCase(file = "test_parent_domain", name = "mem_align_rc_traffic")
    void connectionsUseBuffersOfTheApplication() throws RdmaException {
        players(inParentDomain(keep(new AlignedBuffers(null)))).exchange(SendOpcode.SEND);
    }

    @ConformanceCase(file = "test_parent_domain", name = "mem_align_ud_traffic")
    void datagramsUseBuffersOfTheApplication() throws RdmaException {
        players(inParentDomain(keep(new AlignedBuffers(null))).type(QueuePairType.UD))
                .exchange(SendOpcode.SEND);
    }

    @ConformanceCase(file = "test_parent_domain", name = "mem_align_srq_excq_rc_traffic")
    void sharedReceivesAndCompletionsUseBuffersOfTheApplication() throws RdmaException {
        players(inParentDomain(keep(new AlignedBuffers(null))).with(own -> {
            own.usesSharedReceiveQueue = true;
            own.queue = ParentDomainConformance::inParentDomain;
        })).exchange(SendOpcode.SEND);
    }

    private static CompletionQueue inParentDomain(DeviceContext context, ProtectionDomain domain)
            throws RdmaException {
        return context.createCompletionQueue(
                ExtendedCompletionQueueConformance.standard().parentDomain(domain));
    }

    /** Whether the system backs the memory with one huge page is its own business. */
    @ConformanceCase(file = "test_parent_domain", name = "huge_page_traffic")
    void buffersOfTheApplicationMayLieSideBySide() throws RdmaException {
        MemorySegment page = Arena.ofAuto().allocate(HUGE_PAGE, HUGE_PAGE);
        players(inParentDomain(keep(new AlignedBuffers(page)))).exchange(SendOpcode.SEND);
    }
}
