package io.rdma4j.softnic;

import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Counter;
import io.rdma4j.verbs.FlushPlacement;
import io.rdma4j.verbs.FlushSelectivity;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.MemoryWindow;
import io.rdma4j.verbs.MemoryWindowBind;
import io.rdma4j.verbs.MemoryWindowType;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.SharedReceiveQueueAttributes;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.WorkCompletionFlag;
import io.rdma4j.verbs.WorkCompletionOpcode;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.stream.LongStream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Random work of all kinds on several queue pairs over a network that loses, reorders, repeats and damages up
 * to a fifth of its packets: everything arrives exactly once and in order, atomics are carried out exactly
 * once, every request completes exactly once, no byte outside a region changes.
 */
@Tag("simulation")
class RcSimulationTest {
    private static final int SEEDS = Integer.getInteger("rdma4j.simulation.seeds", 500);
    private static final long FIRST_SEED = Long.getLong("rdma4j.simulation.firstSeed", 0);
    private static final long LIMIT_NS = 300_000_000_000L;

    @Test
    void everythingArrivesOnceAndInOrderWhateverTheNetworkDoes() {
        long retransmitted = LongStream.range(FIRST_SEED, FIRST_SEED + SEEDS).map(seed -> {
            try {
                return new Scenario(seed).run();
            } catch (Exception | AssertionError e) {
                throw new AssertionError("seed " + seed, e);
            }
        }).sum();
        System.out.printf("%d seeds, %d packets sent again%n", SEEDS, retransmitted);
        assertThat(retransmitted).isGreaterThan(SEEDS);
    }

    private static final class Scenario {
        private static final List<Mtu> MTUS = List.of(Mtu.values());
        private static final int DEPTH = 20;
        private static final int GUARD = 256;
        private static final int MAX_PAIRS = 3;

        private final Random random;
        /** The bytes of a region, and of the longest message. */
        private final int region;
        private final Simulation simulation;
        private final Node a;
        private final Node b;

        Scenario(long seed) throws Exception {
            random = new Random(seed);
            region = 1 << (12 + random.nextInt(6));
            simulation = new Simulation(seed);
            double worst = random.nextDouble() * 0.2;
            simulation.network.loss = random.nextBoolean() ? random.nextDouble() * worst : 0;
            simulation.network.duplication = random.nextBoolean() ? random.nextDouble() * worst : 0;
            simulation.network.reordering = random.nextBoolean() ? random.nextDouble() * worst : 0;
            simulation.network.corruption = random.nextBoolean() ? random.nextDouble() * worst : 0;
            int pairs = 1 + random.nextInt(MAX_PAIRS);
            a = new Node(simulation.a, pairs, random.nextBoolean());
            b = new Node(simulation.b, pairs, random.nextBoolean());
            for (int i = 0; i < pairs; i++) {
                a.sides.get(i).peer = b.sides.get(i);
                b.sides.get(i).peer = a.sides.get(i);
                simulation.connect(a.sides.get(i).queuePair, b.sides.get(i).queuePair,
                        MTUS.get(random.nextInt(MTUS.size())), 7);
                a.sides.get(i).left = (10 + random.nextInt(60)) / pairs;
                b.sides.get(i).left = random.nextInt(60) / pairs;
            }
        }

        long run() throws Exception {
            boolean isDone = simulation.run(() -> {
                try {
                    a.work();
                    b.work();
                } catch (RdmaException e) {
                    throw new AssertionError(e);
                }
                return a.isDone() && b.isDone();
            }, LIMIT_NS);
            assertThat(isDone).as("%s %s", a, b).isTrue();
            a.checkMemory();
            b.checkMemory();
            return a.retransmitted() + b.retransmitted();
        }

        /** One device: queue pairs that share a completion queue, and perhaps receives. */
        private final class Node {
            final Simulation.Node device;
            final CompletionQueue completions;
            final @Nullable SharedReceiveQueue shared;
            final List<Side> sides = new ArrayList<>();
            final Map<Integer, Side> byNumber = new HashMap<>();
            final MemorySegment inbox;
            final MemoryRegion inboxRegion;
            final List<Integer> freeSlots = new ArrayList<>();
            final WorkCompletion completion = new WorkCompletion();

            Node(Simulation.Node device, int pairs, boolean isSharing) throws RdmaException {
                this.device = device;
                int slots = isSharing ? DEPTH : DEPTH * pairs;
                completions = device.context.createCompletionQueue(4 * DEPTH * pairs);
                shared = isSharing
                        ? device.domain.createSharedReceiveQueue(
                                new SharedReceiveQueueAttributes(DEPTH, 3, 0), null)
                        : null;
                inbox = Arena.ofAuto().allocate((long) slots * region, 64);
                inboxRegion = device.domain.register(inbox, AccessFlag.LOCAL_WRITE);
                for (int i = 0; i < slots; i++) {
                    freeSlots.add(i);
                }
                for (int i = 0; i < pairs; i++) {
                    Side side = new Side(this);
                    sides.add(side);
                    byNumber.put(side.queuePair.number(), side);
                }
            }

            boolean isDone() {
                return sides.stream().allMatch(Side::isDone);
            }

            void work() throws RdmaException {
                while (completions.poll(completion)) {
                    assertThat(completion.isSuccess()).as(completion.toString()).isTrue();
                    Objects.requireNonNull(byNumber.get(completion.queuePairNumber()))
                            .on(completion);
                }
                for (Side side : sides) {
                    while (!freeSlots.isEmpty() && side.wantsReceive()
                            && random.nextInt(4) != 0) {
                        postReceive(side);
                    }
                    side.work();
                }
            }

            private void postReceive(Side side) throws RdmaException {
                int slot = freeSlots.removeLast();
                int cut = random.nextInt(1000);
                long start = (long) slot * region;
                ReceiveWorkRequest request = new ReceiveWorkRequest().id(slot)
                        .add(inboxRegion, start, cut)
                        .add(inboxRegion, start + cut, region - cut);
                if (shared != null) {
                    shared.post(request);
                } else {
                    side.queuePair.postReceive(request);
                    side.receives.add((long) slot);
                }
            }

            void checkMemory() {
                sides.forEach(Side::checkMemory);
            }

            long retransmitted() {
                return sides.stream()
                        .mapToLong(side -> side.queuePair.counter(Counter.RETRANSMITTED_PKTS))
                        .sum();
            }

            @Override
            public String toString() {
                return sides.toString();
            }
        }

        /** What was posted, until it completes; and what the peer must see of it. */
        private record Posted(long id, SendOpcode opcode, long offset, int length, int immediate,
                boolean isSignaled, int resultSlot, long operand, long before) {}

        /** One end: random work out, checked work in. */
        private final class Side {
            final Node node;
            final QueuePair queuePair;
            /** The peer writes here; expected shows what it must have written. */
            final MemorySegment memory = Arena.ofAuto().allocate(region + 2 * GUARD, 64);
            final byte[] expected = new byte[region + 2 * GUARD];
            /** The peer reads here; sends and writes start here too. It never changes. */
            final MemorySegment source = Arena.ofAuto().allocate(region, 64);
            final MemorySegment results = Arena.ofAuto().allocate((long) DEPTH * region, 64);
            /** The peer counts here; the sum is what it must be once all is carried out. */
            final MemorySegment counter = Arena.ofAuto().allocate(8, 8);
            long sum;
            final MemoryRegion writable;
            final MemoryRegion readable;
            final MemoryRegion resultRegion;
            final MemoryRegion counterRegion;
            final MemoryWindow window;
            /** The key by which the peer may write through the window, 0 while it may not. */
            int windowKey;
            /** From the bind until the peer's invalidation has arrived. */
            boolean isBound;
            final Queue<Posted> outstanding = new ArrayDeque<>();
            /** Messages the peer sent that consume a receive here, in order. */
            final Queue<Posted> incoming = new ArrayDeque<>();
            final Queue<Long> receives = new ArrayDeque<>();
            final List<Integer> resultSlots = new ArrayList<>();
            Side peer = this;
            int left;
            long nextId;

            Side(Node node) throws RdmaException {
                this.node = node;
                ProtectionDomain domain = node.device.domain;
                queuePair = domain.createQueuePair(new QueuePairInitAttributes()
                        .completionQueue(node.completions).sharedReceiveQueue(node.shared)
                        .capabilities(QueuePairCapabilities.ofDepth(DEPTH, DEPTH)
                                .withElements(3, 3).withInlineData(64)));
                random.nextBytes(expected);
                MemorySegment.copy(MemorySegment.ofArray(expected), 0, memory, 0, expected.length);
                byte[] bytes = new byte[region];
                random.nextBytes(bytes);
                MemorySegment.copy(MemorySegment.ofArray(bytes), 0, source, 0, region);
                writable = domain.register(memory.asSlice(GUARD, region), AccessFlag.LOCAL_WRITE,
                        AccessFlag.REMOTE_WRITE, AccessFlag.MW_BIND, AccessFlag.FLUSH_GLOBAL);
                readable = domain.register(source, AccessFlag.REMOTE_READ);
                resultRegion = domain.register(results, AccessFlag.LOCAL_WRITE);
                counterRegion = domain.register(counter, AccessFlag.LOCAL_WRITE,
                        AccessFlag.REMOTE_ATOMIC);
                window = domain.allocateMemoryWindow(MemoryWindowType.TYPE_2);
                for (int i = 0; i < DEPTH; i++) {
                    resultSlots.add(i);
                }
            }

            boolean wantsReceive() {
                return node.shared != null || receives.size() < DEPTH;
            }

            void on(WorkCompletion completion) {
                if (completion.opcode() == WorkCompletionOpcode.RECEIVE || completion
                        .opcode() == WorkCompletionOpcode.RECEIVE_RDMA_WITH_IMMEDIATE) {
                    onReceive(completion);
                } else {
                    onSend(completion);
                }
            }

            boolean isDone() {
                return left == 0 && outstanding.isEmpty() && incoming.isEmpty();
            }

            void work() throws RdmaException {
                while (left > 0 && outstanding.size() < DEPTH && random.nextInt(3) != 0) {
                    if (!isBound && random.nextInt(4) == 0) {
                        bind();
                    } else {
                        post();
                    }
                }
            }

            private void bind() throws RdmaException {
                isBound = true;
                Posted posted = new Posted(nextId++, SendOpcode.BIND_MEMORY_WINDOW, 0, 0, 0, true,
                        -1, MemoryWindow.nextRkey(window.rkey()), 0);
                queuePair.postSend(new SendWorkRequest().id(posted.id).set(SendFlag.SIGNALED)
                        .bind(window, (int) posted.operand, new MemoryWindowBind(writable,
                                writable.address(), region, Set.of(AccessFlag.REMOTE_WRITE))));
                outstanding.add(posted);
            }

            private SendOpcode opcode() {
                return switch (random.nextInt(10)) {
                    case 0 -> SendOpcode.SEND;
                    case 1 -> SendOpcode.SEND_WITH_IMMEDIATE;
                    case 2 -> SendOpcode.RDMA_WRITE_WITH_IMMEDIATE;
                    case 3, 4 -> SendOpcode.RDMA_READ;
                    case 5 -> SendOpcode.ATOMIC_FETCH_AND_ADD;
                    case 6 -> SendOpcode.ATOMIC_COMPARE_AND_SWAP;
                    case 7 -> peer.windowKey != 0
                            ? SendOpcode.SEND_WITH_INVALIDATE
                            : SendOpcode.FLUSH;
                    case 8 -> SendOpcode.ATOMIC_WRITE;
                    default -> SendOpcode.RDMA_WRITE;
                };
            }

            private static boolean hasResult(SendOpcode opcode) {
                return opcode == SendOpcode.RDMA_READ || opcode == SendOpcode.ATOMIC_FETCH_AND_ADD
                        || opcode == SendOpcode.ATOMIC_COMPARE_AND_SWAP;
            }

            private void post() throws RdmaException {
                left--;
                SendOpcode opcode = opcode();
                boolean isSignaled = left == 0 || random.nextInt(3) != 0;
                if (hasResult(opcode) && (resultSlots.isEmpty() || !isSignaled)) {
                    opcode = SendOpcode.RDMA_WRITE;
                }
                int length = switch (opcode) {
                    case ATOMIC_FETCH_AND_ADD, ATOMIC_COMPARE_AND_SWAP, ATOMIC_WRITE -> 8;
                    case FLUSH -> 0;
                    default -> length();
                };
                long offset = random.nextInt(region - length + 1);
                if (opcode == SendOpcode.ATOMIC_WRITE) {
                    offset &= -8;
                }
                int slot = hasResult(opcode) ? resultSlots.removeLast() : -1;
                long before = peer.sum;
                long operand = random.nextLong();
                if (opcode == SendOpcode.ATOMIC_FETCH_AND_ADD) {
                    peer.sum += operand;
                } else if (opcode == SendOpcode.ATOMIC_COMPARE_AND_SWAP) {
                    peer.sum = operand;
                }
                Posted posted = new Posted(nextId++, opcode, offset, length, random.nextInt(),
                        isSignaled, slot, operand, before);
                queuePair.postSend(request(posted));
                outstanding.add(posted);
                switch (opcode) {
                    case SEND, SEND_WITH_IMMEDIATE, SEND_WITH_INVALIDATE,
                            RDMA_WRITE_WITH_IMMEDIATE ->
                        peer.incoming.add(posted);
                    default -> {
                        // Uses no receive.
                    }
                }
                switch (opcode) {
                    case RDMA_WRITE, RDMA_WRITE_WITH_IMMEDIATE, ATOMIC_WRITE ->
                        MemorySegment.copy(source, ValueLayout.JAVA_BYTE, offset, peer.expected,
                                GUARD + (int) offset, length);
                    case SEND_WITH_INVALIDATE -> peer.windowKey = 0;
                    default -> {
                        // Changes no memory.
                    }
                }
            }

            private int length() {
                return switch (random.nextInt(6)) {
                    case 0 -> 0;
                    case 1 -> random.nextInt(64);
                    case 2 -> 4096 - random.nextInt(3);
                    case 3 -> random.nextInt(region);
                    default -> random.nextInt(Math.min(region, 12000));
                };
            }

            private SendWorkRequest request(Posted posted) {
                SendWorkRequest request = new SendWorkRequest().id(posted.id)
                        .opcode(posted.opcode).immediate(posted.immediate)
                        .set(SendFlag.SIGNALED, posted.isSignaled)
                        .set(SendFlag.FENCE, random.nextInt(8) == 0);
                long slot = (long) posted.resultSlot * region;
                switch (posted.opcode) {
                    case RDMA_READ -> {
                        return request.remote(peer.readable.address() + posted.offset,
                                peer.readable.rkey()).add(resultRegion, slot, posted.length);
                    }
                    case ATOMIC_FETCH_AND_ADD -> {
                        return request.fetchAndAdd(peer.counterRegion.address(),
                                peer.counterRegion.rkey(), posted.operand)
                                .add(resultRegion, slot, 8);
                    }
                    case ATOMIC_COMPARE_AND_SWAP -> {
                        return request.compareAndSwap(peer.counterRegion.address(),
                                peer.counterRegion.rkey(), posted.before, posted.operand)
                                .add(resultRegion, slot, 8);
                    }
                    case FLUSH -> {
                        return request.flush(peer.writable.address(), peer.writable.rkey(), region,
                                Set.of(FlushPlacement.GLOBAL), FlushSelectivity.RANGE);
                    }
                    case SEND_WITH_INVALIDATE -> request.invalidateRkey(peer.windowKey);
                    default -> {
                        // Completed below.
                    }
                }
                boolean isThroughWindow = peer.windowKey != 0
                        && posted.opcode == SendOpcode.RDMA_WRITE;
                request.remote(peer.writable.address() + posted.offset,
                        isThroughWindow ? peer.windowKey : peer.writable.rkey());
                if (posted.length <= 64 && random.nextBoolean()) {
                    return request.inline(source.asSlice(posted.offset, posted.length));
                }
                int cut = posted.length == 0 ? 0 : random.nextInt(posted.length);
                return request.add(readable, posted.offset, cut).add(readable,
                        posted.offset + cut, posted.length - cut);
            }

            private void onSend(WorkCompletion completion) {
                Posted posted = outstanding.remove();
                while (posted.id != completion.id()) {
                    assertThat(posted.isSignaled).as("%s is skipped", posted).isFalse();
                    posted = outstanding.remove();
                }
                assertThat(posted.isSignaled).isTrue();
                assertThat(completion.opcode()).isEqualTo(posted.opcode.completionOpcode());
                long from = (long) posted.resultSlot * region;
                switch (posted.opcode) {
                    case RDMA_READ -> {
                        assertThat(completion.byteLength()).isEqualTo(posted.length);
                        assertThat(MemorySegment.mismatch(results, from, from + posted.length,
                                peer.source, posted.offset, posted.offset + posted.length))
                                .as("result of %s", posted).isEqualTo(-1);
                    }
                    case ATOMIC_FETCH_AND_ADD, ATOMIC_COMPARE_AND_SWAP ->
                        assertThat(results.get(ValueLayout.JAVA_LONG, from))
                                .as("result of %s", posted).isEqualTo(posted.before);
                    case BIND_MEMORY_WINDOW -> {
                        windowKey = (int) posted.operand;
                    }
                    default -> {
                        // Nothing came back.
                    }
                }
                if (posted.resultSlot >= 0) {
                    resultSlots.add(posted.resultSlot);
                }
            }

            private void onReceive(WorkCompletion completion) {
                Posted sent = incoming.remove();
                if (node.shared == null) {
                    assertThat(completion.id()).isEqualTo(receives.remove());
                }
                assertThat(completion.byteLength()).isEqualTo(sent.length);
                boolean hasImmediate = sent.opcode == SendOpcode.SEND_WITH_IMMEDIATE
                        || sent.opcode == SendOpcode.RDMA_WRITE_WITH_IMMEDIATE;
                assertThat(completion.has(WorkCompletionFlag.WITH_IMMEDIATE))
                        .isEqualTo(hasImmediate);
                assertThat(completion.has(WorkCompletionFlag.WITH_INVALIDATE))
                        .isEqualTo(sent.opcode == SendOpcode.SEND_WITH_INVALIDATE);
                if (hasImmediate) {
                    assertThat(completion.immediate()).isEqualTo(sent.immediate);
                }
                if (sent.opcode == SendOpcode.SEND_WITH_INVALIDATE) {
                    isBound = false;
                }
                if (sent.opcode == SendOpcode.RDMA_WRITE_WITH_IMMEDIATE) {
                    assertThat(completion.opcode())
                            .isEqualTo(WorkCompletionOpcode.RECEIVE_RDMA_WITH_IMMEDIATE);
                } else {
                    long slot = completion.id() * region;
                    assertThat(MemorySegment.mismatch(node.inbox, slot, slot + sent.length,
                            peer.source, sent.offset, sent.offset + sent.length)).isEqualTo(-1);
                }
                node.freeSlots.add((int) completion.id());
            }

            void checkMemory() {
                assertThat(memory.mismatch(MemorySegment.ofArray(expected))).isEqualTo(-1);
                assertThat(counter.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(sum);
            }

            @Override
            public String toString() {
                return left + " left, outstanding " + outstanding + ", incoming " + incoming;
            }
        }
    }
}
