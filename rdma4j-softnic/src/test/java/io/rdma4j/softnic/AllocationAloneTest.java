// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import com.sun.management.ThreadMXBean;
import io.rdma4j.softnic.options.DeviceOptions;
import io.rdma4j.softnic.options.Loopback;
import io.rdma4j.softnic.options.NetworkBackend;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionHandler;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaDevices;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendBatch;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;
import io.rdma4j.verbs.WorkCompletion;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.lang.foreign.Arena;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Posting, polling, the engine and the network allocate nothing once they have started. Alone, because the portable network
 * shares the port of loopback with no other process.
 */
class AllocationAloneTest {
    private static final int LENGTH = 10_000;
    private static final int COUNT = 2_000;
    private static final int CLEAN_RUNS = 3;
    /** Each of {@link #COUNT}; the first few are enough unless the machine is busy. */
    private static final int MOST_RUNS = 100;
    private static final CompletionHandler REQUIRE_SUCCESS = each -> each.requireSuccess("work");

    @ParameterizedTest
    @CsvSource({"AUTO, NETWORK", "PORTABLE, NETWORK", "AUTO, DIRECT"})
    void sendingReceivingWritingAndReadingAllocateNothing(NetworkBackend network, Loopback loopback)
            throws Exception {
        try (DeviceContext context = DeviceOptions.DEFAULT.withBackend(network)
                .withLoopback(loopback).open(RdmaDevices.find("roce_lo"));
                ProtectionDomain domain = context.allocateProtectionDomain();
                CompletionQueue queue = context.createCompletionQueue(64);
                QueuePair a = domain
                        .createQueuePair(new QueuePairInitAttributes().completionQueue(queue));
                QueuePair b = domain
                        .createQueuePair(new QueuePairInitAttributes().completionQueue(queue));
                MemoryRegion region = domain.register(Arena.ofAuto().allocate(2 * LENGTH),
                        AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE)) {
            connect(context, a, b);
            connect(context, b, a);
            SendWorkRequest[] requests = {
                new SendWorkRequest().send().add(region, 0, LENGTH).set(SendFlag.SIGNALED),
                new SendWorkRequest().write(region.address() + LENGTH, region.rkey())
                        .add(region, 0, LENGTH).set(SendFlag.SIGNALED),
                new SendWorkRequest().read(region.address(), region.rkey())
                        .add(region, LENGTH, LENGTH).set(SendFlag.SIGNALED)};
            ReceiveWorkRequest receive = new ReceiveWorkRequest().add(region, LENGTH, LENGTH);
            WorkCompletion completion = new WorkCompletion();
            // What goes to the system is free of garbage once the compiler has come to it, and for some runs again
            // when it changes its mind. What allocates always never has several clean ones in a row.
            int clean = 0;
            long each = 0;
            for (int i = 0; i < MOST_RUNS && clean < CLEAN_RUNS; i++) {
                each = allocated(a, b, queue, requests, receive, completion);
                // The smallest object has 16 bytes; what is less comes from the JVM's own late linking.
                clean = each < 8 ? clean + 1 : 0;
            }
            assertThat(clean).as(each + " bytes allocated for each operation")
                    .isEqualTo(CLEAN_RUNS);
        }
    }

    /** {@return the bytes that each operation allocates} */
    private static long allocated(QueuePair a, QueuePair b, CompletionQueue queue,
            SendWorkRequest[] requests, ReceiveWorkRequest receive, WorkCompletion completion)
            throws RdmaException {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = threads.getCurrentThreadAllocatedBytes();
        run(COUNT, a, b, queue, requests, receive, completion);
        return (threads.getCurrentThreadAllocatedBytes() - before)
                / ((long) COUNT * requests.length);
    }

    private static void run(int count, QueuePair a, QueuePair b, CompletionQueue queue,
            SendWorkRequest[] requests, ReceiveWorkRequest receive, WorkCompletion completion)
            throws RdmaException {
        long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        for (int i = 0; i < count; i++) {
            for (SendWorkRequest request : requests) {
                int expected = request == requests[0] ? 2 : 1;
                if (expected == 2) {
                    b.postReceive(receive);
                }
                a.postSend(request);
                while (expected > 0) {
                    int taken = taken(queue, expected, i % 2 == 0, completion);
                    expected -= taken;
                    if (taken == 0 && System.nanoTime() - endNs > 0) {
                        throw new AssertionError("no completion of message " + i + " of " + count
                                + " within a minute");
                    }
                }
            }
        }
    }

    /** {@return how many completions were taken} One of the two ways to take them without allocation. */
    private static int taken(CompletionQueue queue, int limit, boolean isByHandler,
            WorkCompletion completion) throws RdmaException {
        if (isByHandler) {
            return queue.poll(limit, REQUIRE_SUCCESS);
        }
        if (!queue.poll(completion)) {
            return 0;
        }
        REQUIRE_SUCCESS.onCompletion(completion);
        return 1;
    }

    @Test
    void batchesListsSharedReceivesAndRequestsForEventsAllocateNothing() throws Exception {
        try (DeviceContext context = RdmaDevices.find("roce_lo").open();
                ProtectionDomain domain = context.allocateProtectionDomain();
                CompletionChannel channel = CompletionChannel.create();
                CompletionQueue queue = context.createCompletionQueue(64, channel);
                SharedReceiveQueue shared = domain.createSharedReceiveQueue(
                        new SharedReceiveQueueInitAttributes().maxRequests(4));
                QueuePair a = domain.createQueuePair(new QueuePairInitAttributes()
                        .completionQueue(queue)
                        .sendOperations(SendOpcode.SEND, SendOpcode.RDMA_WRITE));
                QueuePair b = domain.createQueuePair(new QueuePairInitAttributes()
                        .completionQueue(queue).sharedReceiveQueue(shared));
                MemoryRegion region = domain.register(Arena.ofAuto().allocate(64),
                        AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE)) {
            connect(context, a, b);
            connect(context, b, a);
            List<SendWorkRequest> writes = List.of(
                    new SendWorkRequest().write(region.address(), region.rkey()).add(region, 0, 8),
                    new SendWorkRequest().write(region.address(), region.rkey()).add(region, 0, 8)
                            .set(SendFlag.SIGNALED));
            ReceiveWorkRequest receive = new ReceiveWorkRequest().add(region, 0, 8);
            assertAllocatesNothing(() -> {
                queue.requestNotification();
                shared.post(receive);
                SendBatch batch = a.startBatch();
                batch.flags().send();
                batch.add(region, 0, 8);
                batch.flags(SendFlag.SIGNALED).write(region.address(), region.rkey());
                batch.add(region.address(), 8, region.lkey());
                batch.post();
                takeOne(queue);
                takeOne(queue);
                b.postSend(writes);
                takeOne(queue);
            });
        }
    }

    private interface Operation {
        void run() throws RdmaException;
    }

    private static void takeOne(CompletionQueue queue) throws RdmaException {
        long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (queue.poll(1, REQUIRE_SUCCESS) == 0) {
            if (System.nanoTime() - endNs > 0) {
                throw new AssertionError("no completion within a minute");
            }
        }
    }

    private static void assertAllocatesNothing(Operation operation) throws RdmaException {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        int clean = 0;
        long each = 0;
        for (int i = 0; i < MOST_RUNS && clean < CLEAN_RUNS; i++) {
            long before = threads.getCurrentThreadAllocatedBytes();
            for (int j = 0; j < COUNT; j++) {
                operation.run();
            }
            each = (threads.getCurrentThreadAllocatedBytes() - before) / COUNT;
            clean = each < 8 ? clean + 1 : 0;
        }
        assertThat(clean).as(each + " bytes allocated each time").isEqualTo(CLEAN_RUNS);
    }

    private static void connect(DeviceContext context, QueuePair own, QueuePair peer)
            throws RdmaException {
        own.modify(new QueuePairAttributes().state(QueuePairState.INIT).port(1).pkeyIndex(0)
                .accessFlags(AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE));
        own.modify(new QueuePairAttributes().state(QueuePairState.RTR)
                .addressVector(AddressHandleAttributes.to(context.queryGid(1, 1), 1))
                .pathMtu(Mtu.MTU_4096).destinationQueuePairNumber(peer.number()).receivePsn(5)
                .maxDestinationReadAtomic(1).minRnrTimerCode(12));
        own.modify(new QueuePairAttributes().state(QueuePairState.RTS).ackTimeoutExponent(16)
                .retryCount(7)
                .rnrRetry(7).sendPsn(5).maxReadAtomic(1));
    }
}
