// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.FlushPlacement;
import io.rdma4j.verbs.FlushSelectivity;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.MemoryWindow;
import io.rdma4j.verbs.MemoryWindowBind;
import io.rdma4j.verbs.MemoryWindowType;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.WorkCompletionFlag;
import io.rdma4j.verbs.WorkCompletionOpcode;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * One end of a reliable connection in a simulation: random work of all kinds out, and what comes of it and of
 * the peer's work checked.
 */
final class WorkloadSide {
    private static final int GUARD = 256;
    private static final int DEPTH = WorkloadNode.DEPTH;

    /** What was posted, until it completes; and what the peer must see of it. */
    private record Posted(long id, SendOpcode opcode, long offset, int length, int immediate,
            boolean isSignaled, int resultSlot, long operand, long before) {}

    private final Random random;
    private final int region;
    private final WorkloadNode node;
    final QueuePair queuePair;
    /** The peer writes here; expected shows what it must have written. */
    private final MemorySegment memory;
    private final byte[] expected;
    /** The peer reads here; sends and writes start here too. It never changes. */
    private final MemorySegment source;
    private final MemorySegment results;
    /** The peer counts here; the sum is what it must be once all is carried out. */
    private final MemorySegment counter = Arena.ofAuto().allocate(8, 8);
    private long sum;
    private final MemoryRegion writable;
    private final MemoryRegion readable;
    private final MemoryRegion resultRegion;
    private final MemoryRegion counterRegion;
    private final MemoryWindow window;
    /** The key by which the peer may write through the window, 0 while it may not. */
    private int windowKey;
    /** From the bind until the peer's invalidation has arrived. */
    private boolean isBound;
    private final Queue<Posted> outstanding = new ArrayDeque<>();
    /** Messages the peer sent that consume a receive here, in order. */
    private final Queue<Posted> incoming = new ArrayDeque<>();
    final Queue<Long> receives = new ArrayDeque<>();
    private final List<Integer> resultSlots = new ArrayList<>();
    WorkloadSide peer = this;
    int left;
    private long nextId;

    WorkloadSide(WorkloadNode node, Random random, int region) throws RdmaException {
        this.node = node;
        this.random = random;
        this.region = region;
        memory = Arena.ofAuto().allocate(region + 2 * GUARD, 64);
        expected = new byte[region + 2 * GUARD];
        source = Arena.ofAuto().allocate(region, 64);
        results = Arena.ofAuto().allocate((long) DEPTH * region, 64);
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
