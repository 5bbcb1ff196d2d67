// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.protocol.count.Counter;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;
import io.rdma4j.verbs.WorkCompletion;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;

import static io.rdma4j.softnic.Counted.counted;
import static org.assertj.core.api.Assertions.assertThat;

/** One device in a simulation: queue pairs that share a completion queue, and perhaps receives. */
final class WorkloadNode {
    static final int DEPTH = 20;

    private final Random random;
    private final int region;
    final Simulation.Node device;
    final CompletionQueue completions;
    final @Nullable SharedReceiveQueue shared;
    final List<WorkloadSide> sides = new ArrayList<>();
    private final Map<Integer, WorkloadSide> byNumber = new HashMap<>();
    final MemorySegment inbox;
    private final MemoryRegion inboxRegion;
    final List<Integer> freeSlots = new ArrayList<>();
    private final WorkCompletion completion = new WorkCompletion();

    /** @param region the bytes of a region, and of the longest message */
    WorkloadNode(Simulation.Node device, Random random, int region, int pairs, boolean isSharing)
            throws RdmaException {
        this.random = random;
        this.region = region;
        this.device = device;
        int slots = isSharing ? DEPTH : DEPTH * pairs;
        completions = device.context.createCompletionQueue(4 * DEPTH * pairs);
        shared = isSharing
                ? device.domain.createSharedReceiveQueue(
                        new SharedReceiveQueueInitAttributes().maxRequests(DEPTH).maxElements(3))
                : null;
        inbox = Arena.ofAuto().allocate((long) slots * region, 64);
        inboxRegion = device.domain.register(inbox, AccessFlag.LOCAL_WRITE);
        for (int i = 0; i < slots; i++) {
            freeSlots.add(i);
        }
        for (int i = 0; i < pairs; i++) {
            WorkloadSide side = new WorkloadSide(this, random, region);
            sides.add(side);
            byNumber.put(side.queuePair.number(), side);
        }
    }

    boolean isDone() {
        return sides.stream().allMatch(WorkloadSide::isDone);
    }

    void work() throws RdmaException {
        while (completions.poll(completion)) {
            assertThat(completion.isSuccess()).as(completion.toString()).isTrue();
            Objects.requireNonNull(byNumber.get(completion.queuePairNumber()))
                    .on(completion);
        }
        for (WorkloadSide side : sides) {
            while (!freeSlots.isEmpty() && side.wantsReceive()
                    && random.nextInt(4) != 0) {
                postReceive(side);
            }
            side.work();
        }
    }

    private void postReceive(WorkloadSide side) throws RdmaException {
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
        sides.forEach(WorkloadSide::checkMemory);
    }

    long retransmitted() {
        return sides.stream()
                .mapToLong(side -> counted(side.queuePair, Counter.RETRANSMITTED_PKTS))
                .sum();
    }

    @Override
    public String toString() {
        return sides.toString();
    }
}
