// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.verbs;

import com.sun.management.ThreadMXBean;
import io.rdma4j.ibverbs.abi.ContextOperation;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionHandler;
import io.rdma4j.verbs.ExtendedCompletionQueue;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendBatch;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;
import io.rdma4j.verbs.WorkCompletion;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.util.Collections;
import java.util.List;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;

/** Posting, polling and asking for events allocate nothing once they have started. */
class AllocationTest {
    private static final int COUNT = 2_000;
    private static final int CLEAN_RUNS = 3;
    /** Each of {@link #COUNT}; the first few are enough unless the machine is busy. */
    private static final int MOST_RUNS = 100;
    private static final int LIST = 40;
    private static final int DEPTH = 64;

    private static final CompletionHandler REQUIRE_SUCCESS = each -> each.requireSuccess("send");

    private final FakeDriver driver = new FakeDriver();
    private final WorkCompletion[] completions = WorkCompletion.array(LIST);
    private final WorkCompletion completion = new WorkCompletion();
    private PromptDriver functions;
    private NativeContext context;
    private CompletionChannel channel;
    private ExtendedCompletionQueue queue;
    private ProtectionDomain domain;
    private QueuePair queuePair;
    private SharedReceiveQueue shared;
    private MemoryRegion region;
    private MemoryRegion other;

    @BeforeEach
    void open() throws Exception {
        functions = new PromptDriver(driver);
        driver.operation(ContextOperation.QUERY_PORT, arguments -> 0);
        context = driver.open();
        channel = CompletionChannel.create();
        queue = (ExtendedCompletionQueue) context.createCompletionQueue(DEPTH, channel);
        domain = context.allocateProtectionDomain();
        shared = domain.createSharedReceiveQueue(
                new SharedReceiveQueueInitAttributes().maxRequests(DEPTH).maxElements(2));
        region = domain.register(Arena.global().allocate(64), AccessFlag.LOCAL_WRITE);
        other = domain.register(Arena.global().allocate(64), AccessFlag.LOCAL_WRITE);
        queuePair = domain.createQueuePair(new QueuePairInitAttributes().completionQueue(queue)
                .sendOperations(SendOpcode.SEND, SendOpcode.RDMA_WRITE)
                .capabilities(new QueuePairCapabilities(DEPTH, DEPTH, 2, 2, 16)));
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.INIT).pkeyIndex(0)
                .port(1).accessFlags(Set.of()));
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTR)
                .addressVector(AddressHandleAttributes.to(Gid.ZERO, 0)).pathMtu(Mtu.MTU_1024)
                .destinationQueuePairNumber(7).receivePsn(1).maxDestinationReadAtomic(1)
                .minRnrTimerCode(1));
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTS).sendPsn(1)
                .ackTimeoutExponent(14).retryCount(7).rnrRetry(7).maxReadAtomic(1));
    }

    @AfterEach
    void close() throws Exception {
        region.close();
        other.close();
        queuePair.close();
        shared.close();
        domain.close();
        queue.close();
        context.close();
        channel.close();
        driver.close();
    }

    private interface Operation {
        void run() throws RdmaException;
    }

    /** What goes to the library is free of garbage once the compiler has come to it; what allocates never has clean runs. */
    private static void assertAllocatesNothing(Operation operation) throws RdmaException {
        int clean = 0;
        long each = 0;
        for (int i = 0; i < MOST_RUNS && clean < CLEAN_RUNS; i++) {
            each = allocated(operation);
            // The smallest object has 16 bytes; what is less comes from the JVM's own late linking.
            clean = each < 8 ? clean + 1 : 0;
        }
        assertThat(clean).as(each + " bytes allocated for each operation").isEqualTo(CLEAN_RUNS);
    }

    /** {@return the bytes that each operation allocates} */
    private static long allocated(Operation operation) throws RdmaException {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long thread = Thread.currentThread().threadId();
        long before = threads.getThreadAllocatedBytes(thread);
        for (int i = 0; i < COUNT; i++) {
            operation.run();
        }
        return (threads.getThreadAllocatedBytes(thread) - before) / COUNT;
    }

    private void take(int expected) throws RdmaException {
        int taken = queue.poll(completions);
        if (taken != expected || !completions[0].isSuccess()) {
            throw new AssertionError(taken + " completions instead of " + expected + ", first "
                    + completions[0]);
        }
    }

    // ---------------------------------------------------------------- posting

    @Test
    void sendingAllocatesNothing() throws RdmaException {
        SendWorkRequest send = new SendWorkRequest().send().add(region, 0, 8).add(other, 8, 8)
                .set(SendFlag.SIGNALED);
        SendWorkRequest write = new SendWorkRequest().writeWithImmediate(1, 2, 3).add(region, 0, 8)
                .set(SendFlag.SIGNALED);
        assertAllocatesNothing(() -> {
            queuePair.postSend(send);
            queuePair.postSend(write);
            take(2);
        });
    }

    @Test
    void sendingInlineDataAllocatesNothing() throws RdmaException {
        SendWorkRequest bytes = new SendWorkRequest().inline(MemorySegment.ofArray(new byte[16]));
        SendWorkRequest elements = new SendWorkRequest().add(region, 0, 8).add(other, 8, 8)
                .set(SendFlag.INLINE);
        assertAllocatesNothing(() -> {
            queuePair.postSend(bytes);
            queuePair.postSend(elements);
            take(2);
        });
    }

    @Test
    void receivingAllocatesNothing() throws RdmaException {
        ReceiveWorkRequest receive = new ReceiveWorkRequest().add(region, 0, 8).add(other, 8, 8);
        assertAllocatesNothing(() -> {
            queuePair.postReceive(receive);
            shared.post(receive);
            take(2);
        });
    }

    @Test
    void listsAllocateNothing() throws RdmaException {
        List<SendWorkRequest> sends = Collections.nCopies(LIST,
                new SendWorkRequest().add(region, 0, 8).set(SendFlag.SIGNALED));
        List<ReceiveWorkRequest> receives = Collections.nCopies(LIST,
                new ReceiveWorkRequest().add(region, 0, 8));
        assertAllocatesNothing(() -> {
            queuePair.postSend(sends);
            take(LIST);
            queuePair.postReceive(receives);
            take(LIST);
            shared.post(receives);
            take(LIST);
        });
    }

    @Test
    void batchesAllocateNothing() throws RdmaException {
        MemorySegment inline = MemorySegment.ofArray(new byte[8]);
        assertAllocatesNothing(() -> {
            SendBatch batch = queuePair.startBatch();
            batch.flags(SendFlag.SIGNALED).send();
            batch.add(region.address(), 8, region.lkey());
            batch.flags(SendFlag.SIGNALED, SendFlag.SOLICITED).write(1, 2);
            batch.add(region, 0, 8);
            batch.flags();
            batch.send();
            batch.inline(inline);
            batch.inline(inline);
            batch.post();
            take(3);
        });
    }

    // ---------------------------------------------------------------- polling

    @Test
    void pollingAllocatesNothing() throws RdmaException {
        SendWorkRequest send = new SendWorkRequest().set(SendFlag.SIGNALED);
        assertAllocatesNothing(() -> {
            for (int i = 0; i < 6; i++) {
                queuePair.postSend(send);
            }
            boolean isFound = queue.poll(2, REQUIRE_SUCCESS) == 2;
            isFound &= queue.poll(completion) && queue.startPoll();
            isFound &= queue.current().isSuccess() && queue.nextPoll();
            queue.endPoll();
            isFound &= queue.poll(completions) == 1 && queue.poll(completions) == 0;
            if (!isFound) {
                throw new AssertionError("a completion was lost, or came twice");
            }
        });
    }

    @Test
    void askingForEventsAllocatesNothing() throws RdmaException {
        assertAllocatesNothing(() -> {
            queue.requestNotification();
            queue.requestSolicitedNotification();
        });
        assertThat(functions.armed()).isPositive();
    }
}
