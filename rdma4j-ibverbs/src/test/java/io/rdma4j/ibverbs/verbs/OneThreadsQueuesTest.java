// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.verbs;

import io.rdma4j.ibverbs.abi.ContextOperation;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.ibverbs.abi.VerbsSymbol;
import io.rdma4j.ibverbs.device.CallChoice;
import io.rdma4j.testkit.Wait;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.CompletionQueueInitAttributes;
import io.rdma4j.verbs.DeviceAttributes;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.ParentDomainInitAttributes;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;
import io.rdma4j.verbs.WorkCompletion;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Queues for which a driver takes no locks: it ends the process, or worse, when two threads meet in it. */
class OneThreadsQueuesTest {
    private static final int NVIDIA = 0x02c9;

    private final FakeDriver driver = new FakeDriver();
    /** How many threads are in the completion queue of the driver. */
    private final AtomicInteger inside = new AtomicInteger();
    private final AtomicBoolean haveMet = new AtomicBoolean();

    @AfterEach
    void libraryDidNotFail() throws Exception {
        driver.close();
    }

    @Test
    void driverThatWasToldToTakeNoLocksIsRefused() throws RdmaException {
        driver.vendorId = NVIDIA;
        DeviceAttributes device = driver.open().queryDevice();
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> CallChoice.requireLocks(device,
                        Map.of("MLX5_SINGLE_THREADED", "1")))
                .withMessageContaining("MLX5_SINGLE_THREADED=1")
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EOPNOTSUPP));
        CallChoice.requireLocks(device, Map.of("MLX5_SINGLE_THREADED", "0"));
        driver.vendorId = 0xff_ffff;
        CallChoice.requireLocks(driver.open().queryDevice(), Map.of("MLX5_SINGLE_THREADED", "1"));
    }

    @Test
    void sharedReceiveQueueOfAParentDomainIsMadeInItsDomain() throws RdmaException {
        driver.operation(ContextOperation.ALLOC_PARENT_DOMAIN, arguments -> driver.object(16));
        long[] madeIn = new long[1];
        driver.library.define(VerbsSymbol.CREATE_SRQ, arguments -> {
            madeIn[0] = arguments[0];
            return driver.object(128);
        });
        NativeProtectionDomain domain = (NativeProtectionDomain) driver.open()
                .allocateProtectionDomain();
        domain.createParentDomain(new ParentDomainInitAttributes())
                .createSharedReceiveQueue(new SharedReceiveQueueInitAttributes().maxRequests(4));
        assertThat(madeIn[0]).isEqualTo(domain.services().pointer());
    }

    private long inQueue(int steps) {
        if (inside.incrementAndGet() > 1) {
            haveMet.set(true);
        }
        for (int i = 0; i < steps; i++) {
            Thread.onSpinWait();
        }
        inside.decrementAndGet();
        return 0;
    }

    /** What a thread does with a completion queue. */
    private interface Use {
        void of(CompletionQueue queue) throws RdmaException;
    }

    /** Freeing a queue pair, and resetting it, cleans its completion queue. */
    private void whileQueuePairsAreFreed(Use use) throws Exception {
        driver.operation(ContextOperation.CREATE_CQ_EX, arguments -> driver.object(288));
        driver.operation(ContextOperation.POLL_CQ, arguments -> inQueue(100));
        driver.library.define(VerbsSymbol.RESIZE_CQ, arguments -> inQueue(100));
        driver.library.define(VerbsSymbol.DESTROY_QP, arguments -> inQueue(2_000));
        driver.library.define(VerbsSymbol.MODIFY_QP,
                arguments -> Native.getInt(Native.at(arguments[1], 8), 0) == 0 ? inQueue(2_000)
                        : 0);
        NativeContext context = driver.open();
        ProtectionDomain domain = context.allocateProtectionDomain();
        CompletionQueue queue = context.createCompletionQueue(new CompletionQueueInitAttributes()
                .singleThreaded(true).ignoreOverrun(true));
        AtomicBoolean isOver = new AtomicBoolean();
        AtomicBoolean hasBegun = new AtomicBoolean();
        Thread using = Thread.ofPlatform().start(() -> {
            while (!isOver.get()) {
                try {
                    use.of(queue);
                    hasBegun.set(true);
                } catch (RdmaException e) {
                    throw new IllegalStateException(e);
                }
            }
        });
        Wait.until("the queue is being used", hasBegun::get);
        try {
            for (int i = 0; i < 200; i++) {
                QueuePair queuePair = domain.createQueuePair(
                        new QueuePairInitAttributes().completionQueue(queue));
                queuePair.modify(new QueuePairAttributes().state(QueuePairState.RESET));
                queuePair.close();
            }
        } finally {
            isOver.set(true);
            using.join();
        }
        assertThat(haveMet).isFalse();
    }

    @Test
    void queueOfOneThreadIsNotCleanedWhileItIsPolled() throws Exception {
        WorkCompletion completion = new WorkCompletion();
        whileQueuePairsAreFreed(queue -> assertThat(queue.poll(completion)).isFalse());
    }

    /** It gets other memory, and what is in it is copied. */
    @Test
    void queueOfOneThreadIsNotCleanedWhileItIsResized() throws Exception {
        whileQueuePairsAreFreed(queue -> queue.resize(8));
    }
}
