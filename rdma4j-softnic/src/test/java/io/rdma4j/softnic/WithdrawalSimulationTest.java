// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.protocol.count.Counter;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.MemoryRegionChanges;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.WorkCompletionOpcode;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;

import static io.rdma4j.softnic.Counted.counted;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Long messages, which are lent as long as their packets take memory, while regions are registered anew, until something ends in
 * the middle and the sender uses the memory for something else: whatever arrives is one message from its first byte to its last,
 * in order and once, and every request completes at most once, those that succeed with all their bytes in place.
 */
@Tag("simulation")
class WithdrawalSimulationTest {
    private static final int SLOT = 1 << 14;
    private static final int SLOTS = 6;
    private static final long LIMIT_NS = 300_000_000_000L;
    private static final int MOST_LOSSES = 3;
    private static final long LIBRARY = -1;
    private static final long SOMETHING_ELSE = -2;

    @Test
    void nothingThatArrivesIsInPartSomethingElse() {
        Seeds.runWhileTheWayChanges(Scenario::new, "packets lent");
    }

    /** How it ends. */
    private enum End {
        NOT_AT_ALL,
        REGION_CLOSES,
        QUEUE_PAIR_FAILS,
        QUEUE_PAIR_IS_RESET,
        QUEUE_PAIR_CLOSES,
        READ_REGION_CLOSES
    }

    /** A request of the sender. */
    private record Posted(long number, int slot, int length, boolean isWrite) {}

    private static final class Scenario implements Seeds.Scenario {
        private static final List<Mtu> MTUS = List.of(Mtu.values());
        private static final List<End> ENDS = List.of(End.values());

        private final Random random;
        private final Simulation simulation;
        private final MemorySegment outbox = Arena.ofAuto().allocate((long) SLOTS * SLOT, 64);
        private final MemorySegment library = Arena.ofAuto().allocate(SLOT, 64);
        private final MemorySegment inbox = Arena.ofAuto().allocate((long) SLOTS * SLOT, 64);
        private final MemorySegment target = Arena.ofAuto().allocate((long) SLOTS * SLOT, 64);
        private final MemorySegment read = Arena.ofAuto().allocate(SLOT, 64);
        private final CompletionQueue ofA;
        private final CompletionQueue ofB;
        private final QueuePair a;
        private final QueuePair b;
        private final MemoryRegion outboxRegion;
        private final MemoryRegion libraryRegion;
        private final MemoryRegion inboxRegion;
        private final MemoryRegion targetRegion;
        private final MemoryRegion readRegion;
        private final Deque<Integer> freeSlots = new ArrayDeque<>();
        private final Map<Long, Posted> outstanding = new HashMap<>();
        private final Deque<Posted> messages = new ArrayDeque<>();
        private long lastNumber;
        private long lastReceived;
        private long lastSucceeded;
        private boolean isReading;
        private boolean isOver;

        Scenario(long seed) throws Exception {
            random = new Random(seed);
            simulation = new Simulation(seed);
            simulation.network.mostLossesOfAPacket = MOST_LOSSES;
            simulation.network.loss = random.nextBoolean() ? 0.1 * random.nextDouble() : 0;
            simulation.network.reordering = random.nextBoolean() ? 0.1 * random.nextDouble() : 0;
            ofA = simulation.a.context.createCompletionQueue(4 * SLOTS);
            ofB = simulation.b.context.createCompletionQueue(4 * SLOTS);
            QueuePairCapabilities sizes = QueuePairCapabilities.ofDepth(2 * SLOTS, 2 * SLOTS);
            a = simulation.a.queuePair(ofA, sizes);
            b = simulation.b.queuePair(ofB, sizes);
            simulation.connect(a, b, MTUS.get(random.nextInt(MTUS.size())), 7);
            outboxRegion = simulation.a.domain.register(outbox, AccessFlag.LOCAL_WRITE);
            libraryRegion = simulation.a.domain.register(library, AccessFlag.LOCAL_WRITE,
                    AccessFlag.REMOTE_READ);
            inboxRegion = simulation.b.domain.register(inbox, AccessFlag.LOCAL_WRITE);
            targetRegion = simulation.b.domain.register(target, AccessFlag.LOCAL_WRITE,
                    AccessFlag.REMOTE_WRITE);
            readRegion = simulation.b.domain.register(read, AccessFlag.LOCAL_WRITE);
            fill(library, LIBRARY);
            for (int slot = 0; slot < SLOTS; slot++) {
                freeSlots.add(slot);
                receive(slot);
            }
        }

        @Override
        public void meetInMemory() {
            double[] often = {0.001, 0.02, 0.3};
            simulation.network.memory.meet(random.nextLong(), often[random.nextInt(3)],
                    random.nextBoolean() ? 0 : 0.9 * random.nextDouble());
            simulation.network.memory.lend(random.nextBoolean() ? 0 : 0.05 * random.nextDouble());
        }

        @Override
        public Simulation simulation() {
            return simulation;
        }

        @Override
        public long run() throws Exception {
            int steps = 20 + random.nextInt(100);
            for (int i = 0; i < steps; i++) {
                act();
                work();
            }
            end(ENDS.get(random.nextInt(ENDS.size())));
            return counted(simulation.a.context, Counter.LENT_PKTS);
        }

        private void act() throws RdmaException {
            switch (random.nextInt(6)) {
                case 0, 1 -> post(false);
                case 2 -> post(true);
                case 3 -> postRead();
                case 4 -> {
                    if (random.nextInt(3) == 0) {
                        outboxRegion.reregister(
                                new MemoryRegionChanges().access(AccessFlag.LOCAL_WRITE));
                    }
                }
                default -> {
                    // Another registration of the same memory comes and goes.
                    simulation.a.domain.register(outbox, AccessFlag.LOCAL_WRITE).close();
                }
            }
        }

        /** One device, or both. */
        private void work() throws RdmaException {
            switch (random.nextInt(3)) {
                case 0 -> simulation.a.poll();
                case 1 -> simulation.b.poll();
                default -> simulation.step();
            }
            takeCompletions();
        }

        // ------------------------------------------------------------ requests

        private void post(boolean isWrite) throws RdmaException {
            Integer slot = freeSlots.poll();
            if (slot == null) {
                return;
            }
            int length = SLOT - Long.BYTES * random.nextInt(SLOT / Long.BYTES);
            Posted posted = new Posted(++lastNumber, slot, length, isWrite);
            fill(part(outbox, slot, length), posted.number);
            SendWorkRequest request = new SendWorkRequest().id(posted.number)
                    .set(SendFlag.SIGNALED);
            if (isWrite) {
                request.write(targetRegion.address() + (long) slot * SLOT, targetRegion.rkey());
            } else {
                request.send();
                messages.add(posted);
            }
            outstanding.put(posted.number, posted);
            a.postSend(request.add(outboxRegion, (long) slot * SLOT, length));
        }

        private void postRead() throws RdmaException {
            if (isReading) {
                return;
            }
            isReading = true;
            fill(read, 0);
            b.postSend(new SendWorkRequest().set(SendFlag.SIGNALED)
                    .read(libraryRegion.address(), libraryRegion.rkey()).add(readRegion, 0, SLOT));
        }

        private void receive(int slot) throws RdmaException {
            b.postReceive(new ReceiveWorkRequest().id(slot).add(inboxRegion, (long) slot * SLOT,
                    SLOT));
        }

        // ------------------------------------------------------------ completions

        private void takeCompletions() throws RdmaException {
            WorkCompletion completion = new WorkCompletion();
            while (ofA.poll(completion)) {
                onSent(completion);
            }
            while (ofB.poll(completion)) {
                if (!completion.isSuccess()) {
                    assertThat(isOver).as(completion.toString()).isTrue();
                } else if (completion.opcode() == WorkCompletionOpcode.RDMA_READ) {
                    isReading = false;
                    assertIs(read, LIBRARY);
                } else {
                    onReceived(completion);
                }
            }
        }

        private void onSent(WorkCompletion completion) {
            Posted posted = outstanding.remove(completion.id());
            assertThat(posted).as("completed once: %s", completion).isNotNull();
            if (!completion.isSuccess()) {
                assertThat(isOver).as(completion.toString()).isTrue();
                return;
            }
            Posted done = Objects.requireNonNull(posted);
            lastSucceeded = done.number;
            if (done.isWrite) {
                assertIs(part(target, done.slot, done.length), done.number);
            }
            freeSlots.add(done.slot);
        }

        private void onReceived(WorkCompletion completion) throws RdmaException {
            Posted message = messages.remove();
            int slot = (int) completion.id();
            assertThat(completion.byteLength()).isEqualTo(message.length);
            assertIs(part(inbox, slot, message.length), message.number);
            lastReceived = message.number;
            if (!isOver) {
                receive(slot);
            }
        }

        // ------------------------------------------------------------ the end

        private void end(End end) throws RdmaException {
            isOver = end != End.NOT_AT_ALL;
            boolean isCompleting = true;
            switch (end) {
                case NOT_AT_ALL -> {}
                case REGION_CLOSES -> outboxRegion.close();
                case QUEUE_PAIR_FAILS ->
                    a.modify(new QueuePairAttributes().state(QueuePairState.ERR));
                case QUEUE_PAIR_IS_RESET -> {
                    a.modify(new QueuePairAttributes().state(QueuePairState.RESET));
                    isCompleting = false;
                }
                case QUEUE_PAIR_CLOSES -> {
                    a.close();
                    isCompleting = false;
                }
                case READ_REGION_CLOSES -> libraryRegion.close();
            }
            if (end == End.READ_REGION_CLOSES) {
                fill(library, SOMETHING_ELSE);
            } else if (isOver) {
                fill(outbox, SOMETHING_ELSE);
            }
            if (isCompleting) {
                boolean isDone = simulation.run(() -> {
                    takeOrFail();
                    return outstanding.isEmpty();
                }, LIMIT_NS);
                assertThat(isDone).as("%s: %s", end, outstanding).isTrue();
            }
            for (int i = 0; i < 20; i++) {
                simulation.step();
                takeOrFail();
            }
            Posted next = messages.peek();
            if (isCompleting && next != null) {
                assertThat(lastSucceeded).as("%s: what has succeeded has arrived", end)
                        .isLessThan(next.number);
            }
            assertThat(lastReceived).isLessThanOrEqualTo(lastNumber);
        }

        private void takeOrFail() {
            try {
                takeCompletions();
            } catch (RdmaException e) {
                throw new AssertionError(e);
            }
        }

        // ------------------------------------------------------------ memory

        private static MemorySegment part(MemorySegment memory, int slot, int length) {
            return memory.asSlice((long) slot * SLOT, length);
        }

        private static void fill(MemorySegment memory, long number) {
            for (long at = 0; at < memory.byteSize(); at += Long.BYTES) {
                memory.set(JAVA_LONG, at, number);
            }
        }

        private static void assertIs(MemorySegment memory, long number) {
            for (long at = 0; at < memory.byteSize(); at += Long.BYTES) {
                long found = memory.get(JAVA_LONG, at);
                if (found != number) {
                    throw new AssertionError("message " + number + " is " + found + " at " + at);
                }
            }
        }
    }
}
