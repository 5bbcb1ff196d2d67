package io.rdma4j.softnic;

import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Counter;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.WorkCompletionFlag;
import io.rdma4j.verbs.WorkCompletionOpcode;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.stream.LongStream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Random work of all kinds over a network that loses, reorders, repeats and damages up to a fifth of its
 * packets: everything arrives exactly once and in order, every request completes exactly once, no byte
 * outside a region changes.
 */
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
        private static final int DEPTH = 24;
        private static final int REGION = 1 << 17;
        private static final int GUARD = 256;

        private final Random random;
        private final Simulation simulation;
        private final Side a;
        private final Side b;

        Scenario(long seed) throws Exception {
            random = new Random(seed);
            simulation = new Simulation(seed);
            double worst = random.nextDouble() * 0.2;
            simulation.network.loss = random.nextBoolean() ? random.nextDouble() * worst : 0;
            simulation.network.duplication = random.nextBoolean() ? random.nextDouble() * worst : 0;
            simulation.network.reordering = random.nextBoolean() ? random.nextDouble() * worst : 0;
            simulation.network.corruption = random.nextBoolean() ? random.nextDouble() * worst : 0;
            a = new Side(simulation.a);
            b = new Side(simulation.b);
            a.peer = b;
            b.peer = a;
            simulation.connect(a.queuePair, b.queuePair,
                    MTUS.get(random.nextInt(MTUS.size())), 7);
        }

        long run() throws Exception {
            a.left = 10 + random.nextInt(60);
            b.left = random.nextInt(60);
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
            return a.queuePair.counter(Counter.RETRANSMITTED_PKTS)
                    + b.queuePair.counter(Counter.RETRANSMITTED_PKTS);
        }

        /** What was posted, until it completes; and what the peer must see of it. */
        private record Posted(long id, SendOpcode opcode, long offset, int length, int immediate,
                boolean isSignaled, int resultSlot) {}

        /** One end: random work out, checked work in. */
        private final class Side {
            final CompletionQueue completions;
            final QueuePair queuePair;
            /** The peer writes here; expected shows what it must have written. */
            final MemorySegment memory = Arena.ofAuto().allocate(REGION + 2 * GUARD, 64);
            final byte[] expected = new byte[REGION + 2 * GUARD];
            /** The peer reads here; sends and writes start here too. It never changes. */
            final MemorySegment source = Arena.ofAuto().allocate(REGION, 64);
            final MemorySegment results = Arena.ofAuto().allocate((long) DEPTH * REGION, 64);
            final MemorySegment inbox = Arena.ofAuto().allocate((long) DEPTH * REGION, 64);
            final MemoryRegion writable;
            final MemoryRegion readable;
            final MemoryRegion resultRegion;
            final MemoryRegion inboxRegion;
            final Queue<Posted> outstanding = new ArrayDeque<>();
            /** Messages the peer sent that consume a receive here, in order. */
            final Queue<Posted> incoming = new ArrayDeque<>();
            final Queue<Long> receives = new ArrayDeque<>();
            final List<Integer> resultSlots = new ArrayList<>();
            final WorkCompletion completion = new WorkCompletion();
            Side peer = this;
            int left;
            long nextId;
            long nextReceive;

            Side(Simulation.Node node) throws RdmaException {
                completions = node.context.createCompletionQueue(4 * DEPTH);
                queuePair = node.queuePair(completions, QueuePairCapabilities.ofDepth(DEPTH, DEPTH)
                        .withElements(3, 3).withInlineData(64));
                random.nextBytes(expected);
                MemorySegment.copy(MemorySegment.ofArray(expected), 0, memory, 0, expected.length);
                byte[] bytes = new byte[REGION];
                random.nextBytes(bytes);
                MemorySegment.copy(MemorySegment.ofArray(bytes), 0, source, 0, REGION);
                writable = node.domain.register(memory.asSlice(GUARD, REGION),
                        AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
                readable = node.domain.register(source, AccessFlag.REMOTE_READ);
                resultRegion = node.domain.register(results, AccessFlag.LOCAL_WRITE);
                inboxRegion = node.domain.register(inbox, AccessFlag.LOCAL_WRITE);
                for (int i = 0; i < DEPTH; i++) {
                    resultSlots.add(i);
                }
            }

            boolean isDone() {
                return left == 0 && outstanding.isEmpty() && incoming.isEmpty();
            }

            void work() throws RdmaException {
                while (completions.poll(completion)) {
                    assertThat(completion.isSuccess()).as(completion.toString()).isTrue();
                    if (completion.opcode() == WorkCompletionOpcode.RECEIVE
                            || completion
                                    .opcode() == WorkCompletionOpcode.RECEIVE_RDMA_WITH_IMMEDIATE) {
                        onReceive();
                    } else {
                        onSend();
                    }
                }
                while (receives.size() < DEPTH && random.nextInt(4) != 0) {
                    postReceive();
                }
                while (left > 0 && outstanding.size() < DEPTH && random.nextInt(3) != 0) {
                    post();
                }
            }

            private void postReceive() throws RdmaException {
                long id = nextReceive++;
                ReceiveWorkRequest request = new ReceiveWorkRequest().id(id);
                long slot = id % DEPTH * REGION;
                int cut = random.nextInt(1000);
                request.add(inboxRegion, slot, cut).add(inboxRegion, slot + cut, REGION - cut);
                queuePair.postReceive(request);
                receives.add(id);
            }

            private void post() throws RdmaException {
                left--;
                SendOpcode opcode = switch (random.nextInt(5)) {
                    case 0 -> SendOpcode.SEND;
                    case 1 -> SendOpcode.SEND_WITH_IMMEDIATE;
                    case 2 -> SendOpcode.RDMA_WRITE;
                    case 3 -> SendOpcode.RDMA_WRITE_WITH_IMMEDIATE;
                    default -> SendOpcode.RDMA_READ;
                };
                int length = length();
                long offset = random.nextInt(REGION - length + 1);
                boolean isSignaled = left == 0 || random.nextInt(3) != 0;
                if (opcode == SendOpcode.RDMA_READ && (resultSlots.isEmpty() || !isSignaled)) {
                    opcode = SendOpcode.RDMA_WRITE;
                }
                Posted posted = new Posted(nextId++, opcode, offset, length, random.nextInt(),
                        isSignaled,
                        opcode == SendOpcode.RDMA_READ ? resultSlots.removeLast() : -1);
                queuePair.postSend(request(posted));
                outstanding.add(posted);
                if (opcode != SendOpcode.RDMA_READ && opcode != SendOpcode.RDMA_WRITE) {
                    peer.incoming.add(posted);
                }
                if (opcode == SendOpcode.RDMA_WRITE
                        || opcode == SendOpcode.RDMA_WRITE_WITH_IMMEDIATE) {
                    MemorySegment.copy(source, ValueLayout.JAVA_BYTE, offset, peer.expected,
                            GUARD + (int) offset, length);
                }
            }

            private int length() {
                return switch (random.nextInt(6)) {
                    case 0 -> 0;
                    case 1 -> random.nextInt(64);
                    case 2 -> 4096 - random.nextInt(3);
                    case 3 -> random.nextInt(REGION);
                    default -> random.nextInt(12000);
                };
            }

            private SendWorkRequest request(Posted posted) {
                SendWorkRequest request = new SendWorkRequest().id(posted.id)
                        .opcode(posted.opcode).immediate(posted.immediate)
                        .set(SendFlag.SIGNALED, posted.isSignaled)
                        .set(SendFlag.FENCE, random.nextInt(8) == 0);
                if (posted.opcode == SendOpcode.RDMA_READ) {
                    long slot = (long) posted.resultSlot * REGION;
                    return request
                            .remote(peer.readable.address() + posted.offset, peer.readable.rkey())
                            .add(resultRegion, slot, posted.length);
                }
                request.remote(peer.writable.address() + posted.offset, peer.writable.rkey());
                if (posted.length <= 64 && random.nextBoolean()) {
                    return request.inline(source.asSlice(posted.offset, posted.length));
                }
                int cut = posted.length == 0 ? 0 : random.nextInt(posted.length);
                return request.add(readable, posted.offset, cut).add(readable,
                        posted.offset + cut, posted.length - cut);
            }

            private void onSend() {
                Posted posted = outstanding.remove();
                while (posted.id != completion.id()) {
                    assertThat(posted.isSignaled).as("%s is skipped", posted).isFalse();
                    posted = outstanding.remove();
                }
                assertThat(posted.isSignaled).isTrue();
                assertThat(completion.opcode()).isEqualTo(posted.opcode.completionOpcode());
                if (posted.opcode == SendOpcode.RDMA_READ) {
                    assertThat(completion.byteLength()).isEqualTo(posted.length);
                    long from = (long) posted.resultSlot * REGION;
                    assertThat(MemorySegment.mismatch(results, from, from + posted.length,
                            peer.source, posted.offset, posted.offset + posted.length))
                            .as("result of %s", posted).isEqualTo(-1);
                    resultSlots.add(posted.resultSlot);
                }
            }

            private void onReceive() {
                Posted sent = incoming.remove();
                long id = receives.remove();
                assertThat(completion.id()).isEqualTo(id);
                assertThat(completion.byteLength()).isEqualTo(sent.length);
                boolean hasImmediate = sent.opcode != SendOpcode.SEND;
                assertThat(completion.has(WorkCompletionFlag.WITH_IMMEDIATE))
                        .isEqualTo(hasImmediate);
                if (hasImmediate) {
                    assertThat(completion.immediate()).isEqualTo(sent.immediate);
                }
                if (sent.opcode == SendOpcode.RDMA_WRITE_WITH_IMMEDIATE) {
                    assertThat(completion.opcode())
                            .isEqualTo(WorkCompletionOpcode.RECEIVE_RDMA_WITH_IMMEDIATE);
                } else {
                    long slot = id % DEPTH * REGION;
                    assertThat(MemorySegment.mismatch(inbox, slot, slot + sent.length, peer.source,
                            sent.offset, sent.offset + sent.length)).isEqualTo(-1);
                }
            }

            void checkMemory() {
                assertThat(memory.mismatch(MemorySegment.ofArray(expected))).isEqualTo(-1);
            }

            @Override
            public String toString() {
                return left + " left, outstanding " + outstanding + ", incoming " + incoming;
            }
        }
    }
}
