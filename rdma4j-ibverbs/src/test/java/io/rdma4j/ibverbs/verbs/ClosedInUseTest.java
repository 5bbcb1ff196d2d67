// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.verbs;

import io.rdma4j.ibverbs.abi.ContextOperation;
import io.rdma4j.ibverbs.abi.Layout;
import io.rdma4j.ibverbs.abi.Layout.SendRequest;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.ibverbs.abi.ObjectFunction;
import io.rdma4j.ibverbs.abi.VerbsSymbol;
import io.rdma4j.ibverbs.queue.NativeQueuePair;
import io.rdma4j.ibverbs.queue.NativeSharedReceiveQueue;
import io.rdma4j.testkit.Wait;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AsyncEvent;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceMemory;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.ExtendedCompletionQueue;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.MemoryRegionChanges;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaClosedException;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendBatch;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;
import io.rdma4j.verbs.WorkCompletion;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** Objects that are closed while they are used: a library would read and write memory that it has freed. */
class ClosedInUseTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    private static final int ROUNDS = 300;

    private final FakeDriver driver = new FakeDriver();
    private final long[] copiers = new long[2];

    @AfterEach
    void libraryDidNotFail() throws Exception {
        driver.close();
    }

    /** A queue pair that can send, and what it was made from. */
    private record Setting(NativeContext context, ProtectionDomain domain,
            ExtendedCompletionQueue queue, QueuePair queuePair) {}

    private Setting setting(QueuePairType type) throws RdmaException {
        NativeContext context = driver.open();
        ProtectionDomain domain = context.allocateProtectionDomain();
        ExtendedCompletionQueue queue = (ExtendedCompletionQueue) context
                .createCompletionQueue(16);
        QueuePair queuePair = domain.createQueuePair(new QueuePairInitAttributes()
                .type(type).completionQueue(queue).sendOperations(SendOpcode.SEND)
                .capabilities(new QueuePairCapabilities(8, 4, 2, 2, 16)));
        FakeDriver.ready(queuePair);
        return new Setting(context, domain, queue, queuePair);
    }

    // ---------------------------------------------------------------- by the thread that uses them

    @Test
    void threadThatReadsInPlaceCannotCloseTheQueue() throws RdmaException {
        Setting setting = setting(QueuePairType.RC);
        setting.queuePair().postSend(List.of(new SendWorkRequest(), new SendWorkRequest()));
        driver.posted.forEach(
                request -> driver.complete(Native.getLong(request, SendRequest.WR_ID), 0, 0));
        assertThat(setting.queue().startPoll()).isTrue();
        setting.queuePair().close();
        assertThatIllegalStateException().isThrownBy(() -> setting.queue().close())
                .withMessageContaining("end the batch first");
        assertThat(driver.called(VerbsSymbol.DESTROY_CQ)).isZero();
        assertThat(setting.queue().nextPoll()).isFalse();
        setting.queue().endPoll();
        setting.queue().close();
        assertThat(driver.called(VerbsSymbol.DESTROY_CQ)).isOne();
    }

    @Test
    void pollingReachesNoLibraryOnceItsMemoryIsGone() throws RdmaException {
        Setting setting = setting(QueuePairType.RC);
        setting.queuePair().close();
        setting.queue().close();
        assertThatIllegalStateException().isThrownBy(() -> setting.queue().nextPoll());
        assertThatExceptionOfType(RdmaClosedException.class)
                .isThrownBy(() -> setting.queue().startPoll());
        assertThatIllegalStateException().isThrownBy(() -> setting.queue().current());
        assertThatIllegalStateException().isThrownBy(() -> setting.queue().endPoll());
    }

    @Test
    void threadInABatchCannotCloseItsQueuePair() throws RdmaException {
        Setting setting = setting(QueuePairType.RC);
        SendBatch batch = setting.queuePair().startBatch();
        assertThatIllegalStateException().isThrownBy(() -> setting.queuePair().close())
                .withMessageContaining("post or close it first");
        batch.send();
        batch.post();
        assertThat(driver.posted).hasSize(1);
        setting.queuePair().close();
        assertThat(driver.called(VerbsSymbol.DESTROY_QP)).isOne();
    }

    // ---------------------------------------------------------------- while there are events of them

    /** The library waits until its events are acknowledged; how the program counts them is no business of its. */
    @Test
    void destroyingWaitsForNoEventThatWasRead() throws Exception {
        NativeContext context = driver.open();
        try (CompletionChannel channel = CompletionChannel.create();
                ProtectionDomain domain = context.allocateProtectionDomain();
                CompletionQueue queue = context.createCompletionQueue(16, channel)) {
            NativeSharedReceiveQueue shared = (NativeSharedReceiveQueue) domain
                    .createSharedReceiveQueue(new SharedReceiveQueueInitAttributes()
                            .maxRequests(4));
            NativeQueuePair queuePair = (NativeQueuePair) domain.createQueuePair(
                    new QueuePairInitAttributes().completionQueue(queue)
                            .capabilities(new QueuePairCapabilities(2, 2, 1, 1, 0)));
            queue.requestNotification();
            driver.announce();
            assertThat(channel.pollEvent(TIMEOUT)).isSameAs(queue);
            handle(context, AsyncEventType.QP_FATAL, queuePair.pointer());
            handle(context, AsyncEventType.SRQ_LIMIT_REACHED, shared.pointer());
            handle(context, AsyncEventType.PORT_ERROR, 1);
            queuePair.close();
            shared.close();
            queue.acknowledgeEvents(1);
        }
        assertThat(driver.called(VerbsSymbol.DESTROY_CQ)).isOne();
        context.close();
    }

    private void handle(NativeContext context, AsyncEventType type, long element)
            throws RdmaException {
        driver.report(type, element);
        AsyncEvent event = context.asyncEventChannel().pollEvent(TIMEOUT);
        assertThat(event).isNotNull();
        assertThat(event.type()).isEqualTo(type);
        event.acknowledge();
    }

    /** It may close the device in the end, which blocks in the library, where a virtual thread would keep its carrier. */
    @Test
    void whoWaitsForTheLastObjectIsToldByAPlatformThread() throws Exception {
        NativeContext context = driver.open();
        ProtectionDomain domain = context.allocateProtectionDomain();
        CompletableFuture<Boolean> isVirtual = new CompletableFuture<>();
        context.whenReleased(() -> isVirtual.complete(Thread.currentThread().isVirtual()));
        domain.close();
        assertThat(isVirtual.get(20, TimeUnit.SECONDS)).isFalse();
        context.close();
    }

    /** The default domain of the ids is such a domain: it is closed after what others have made in it. */
    @Test
    void whoWaitsForTheLastObjectOfADomainIsTold() throws Exception {
        NativeContext context = driver.open();
        ProtectionDomain domain = context.allocateProtectionDomain();
        SharedReceiveQueue shared = domain
                .createSharedReceiveQueue(new SharedReceiveQueueInitAttributes().maxRequests(4));
        CompletableFuture<Boolean> told = new CompletableFuture<>();
        context.whenReleased(() -> told.complete(true));
        shared.close();
        assertThat(told.get(20, TimeUnit.SECONDS)).isTrue();
        domain.close();
        context.close();
    }

    // ---------------------------------------------------------------- that fails to end

    @Test
    void deviceIsClosedAlsoIfItsCompletionChannelCannotBeFreed() throws Exception {
        driver.library.define(VerbsSymbol.DESTROY_COMP_CHANNEL, arguments -> Errno.EIO.number());
        NativeContext context = driver.open();
        assertThatExceptionOfType(RdmaException.class).isThrownBy(context::close)
                .withMessageContaining("completion channel could not be freed");
        assertThat(driver.called(VerbsSymbol.CLOSE_DEVICE)).isOne();
    }

    // ---------------------------------------------------------------- by another thread

    /** What a thread does again and again. */
    private interface Use {
        void run() throws RdmaException;
    }

    /** Uses objects that another thread closes; the fake driver fails if it is handed one that was freed. */
    private static void whileUsing(Use use, Use closing) throws Exception {
        AtomicBoolean isOver = new AtomicBoolean();
        AtomicLong uses = new AtomicLong();
        AtomicReference<RdmaException> failure = new AtomicReference<>();
        Thread using = Thread.ofPlatform().start(() -> {
            while (!isOver.get() && failure.get() == null) {
                try {
                    use.run();
                } catch (RdmaClosedException closed) {
                    // Told as it should be.
                } catch (IllegalStateException closed) {
                    // By the one accessor that does not go on answering.
                    assertThat(closed).hasMessage("the queue pair is closed");
                } catch (RdmaException e) {
                    failure.set(e);
                }
                uses.incrementAndGet();
            }
        });
        try {
            for (int i = 0; i < ROUNDS; i++) {
                long before = uses.get();
                closing.run();
                Wait.until("it is used again",
                        () -> uses.get() > before || failure.get() != null);
            }
        } finally {
            isOver.set(true);
            using.join();
        }
        assertThat(failure.get()).isNull();
    }

    @Test
    void queuePairThatAnotherThreadPostsToIsNotReachedOnceItIsFreed() throws Exception {
        NativeContext context = driver.open();
        ProtectionDomain domain = context.allocateProtectionDomain();
        QueuePairInitAttributes wanted = new QueuePairInitAttributes()
                .completionQueue(context.createCompletionQueue(16))
                .capabilities(new QueuePairCapabilities(8, 8, 2, 2, 16));
        AtomicReference<QueuePair> current = new AtomicReference<>(ready(domain, wanted));
        whileUsing(() -> {
            QueuePair queuePair = Objects.requireNonNull(current.get());
            // A queue that is full is refused before the driver sees it.
            if (queuePair.state() == QueuePairState.RTS) {
                queuePair.postSend(new SendWorkRequest());
                queuePair.postReceive(new ReceiveWorkRequest());
                driver.completeAll();
                queuePair.sendCompletionQueue().poll(WorkCompletion.array(4));
            }
        }, () -> Objects.requireNonNull(current.getAndSet(ready(domain, wanted))).close());
        assertThat(driver.called(VerbsSymbol.DESTROY_QP)).isEqualTo(ROUNDS);
    }

    private static QueuePair ready(ProtectionDomain domain, QueuePairInitAttributes wanted)
            throws RdmaException {
        QueuePair queuePair = domain.createQueuePair(wanted);
        FakeDriver.ready(queuePair);
        return queuePair;
    }

    @Test
    void completionQueueThatAnotherThreadPollsIsNotReachedOnceItIsFreed() throws Exception {
        NativeContext context = driver.open();
        AtomicReference<CompletionQueue> current = new AtomicReference<>(
                context.createCompletionQueue(16));
        WorkCompletion completion = new WorkCompletion();
        whileUsing(() -> Objects.requireNonNull(current.get()).poll(completion), () -> Objects
                .requireNonNull(current.getAndSet(context.createCompletionQueue(16))).close());
        assertThat(driver.called(VerbsSymbol.DESTROY_CQ)).isEqualTo(ROUNDS);
    }

    /** Objects that posting knows nothing of; each time there is another one to use. */
    @Test
    void whatAnotherThreadAsksOrChangesIsNotReachedOnceItIsFreed() throws Exception {
        offerMemoryOfTheDevice();
        NativeContext context = driver.open();
        ProtectionDomain domain = context.allocateProtectionDomain();
        AtomicReference<Several> current = new AtomicReference<>(Several.of(context, domain));
        whileUsing(() -> Objects.requireNonNull(current.get()).use(), () -> Objects
                .requireNonNull(current.getAndSet(Several.of(context, domain))).close());
        assertThat(driver.called(VerbsSymbol.DESTROY_QP)).isEqualTo(ROUNDS);
        assertThat(driver.called(VerbsSymbol.DESTROY_SRQ)).isEqualTo(ROUNDS);
        assertThat(driver.called(VerbsSymbol.DEREG_MR)).isEqualTo(ROUNDS);
    }

    private void offerMemoryOfTheDevice() {
        driver.operation(ContextOperation.ALLOC_DM, arguments -> {
            long memory = driver.object(Layout.DeviceMemory.SIZE);
            for (ObjectFunction copying : new ObjectFunction[]{ObjectFunction.MEMCPY_TO_DM,
                ObjectFunction.MEMCPY_FROM_DM}) {
                int which = copying == ObjectFunction.MEMCPY_TO_DM ? 0 : 1;
                Native.putLong(Native.at(memory, Layout.DeviceMemory.SIZE), copying.offset(),
                        copier(copying, which));
            }
            return memory;
        });
        driver.operation(ContextOperation.FREE_DM, arguments -> {
            driver.free(arguments[0]);
            return 0;
        });
    }

    /** {@return what copies} One for all: it knows the memory by its argument. */
    private long copier(ObjectFunction copying, int which) {
        if (copiers[which] == 0) {
            copiers[which] = driver.library.stub(copying.signature(), arguments -> {
                driver.requireAlive("device memory", arguments[which]);
                return 0;
            }).address();
        }
        return copiers[which];
    }

    /** One object of each kind. */
    private record Several(CompletionQueue queue, QueuePair queuePair, SharedReceiveQueue shared,
            MemoryRegion region, DeviceMemory memory) {
        static Several of(NativeContext context, ProtectionDomain domain) throws RdmaException {
            CompletionQueue queue = context.createCompletionQueue(4);
            return new Several(queue,
                    domain.createQueuePair(new QueuePairInitAttributes().completionQueue(queue)
                            .capabilities(new QueuePairCapabilities(1, 1, 1, 1, 0))),
                    domain.createSharedReceiveQueue(
                            new SharedReceiveQueueInitAttributes().maxRequests(4)),
                    domain.register(Arena.global().allocate(8), Set.of()),
                    context.allocateDeviceMemory(8, 8));
        }

        void use() throws RdmaException {
            queuePair.query();
            queuePair.modify(new QueuePairAttributes().state(QueuePairState.RESET));
            queue.resize(8);
            shared.arm(1);
            shared.query();
            region.reregister(new MemoryRegionChanges().access(AccessFlag.LOCAL_WRITE));
            memory.copyFrom(0, MemorySegment.ofArray(new byte[8]));
            memory.copyTo(0, MemorySegment.ofArray(new byte[8]));
        }

        void close() throws RdmaException {
            memory.close();
            region.close();
            shared.close();
            queuePair.close();
            queue.close();
        }
    }

    @Test
    void sharedReceiveQueueThatAnotherThreadPostsToIsNotReachedOnceItIsFreed()
            throws Exception {
        NativeContext context = driver.open();
        ProtectionDomain domain = context.allocateProtectionDomain();
        SharedReceiveQueueInitAttributes sizes = new SharedReceiveQueueInitAttributes()
                .maxRequests(4);
        AtomicReference<SharedReceiveQueue> current = new AtomicReference<>(
                domain.createSharedReceiveQueue(sizes));
        AtomicReference<SharedReceiveQueue> used = new AtomicReference<>();
        AtomicInteger posted = new AtomicInteger();
        whileUsing(() -> {
            SharedReceiveQueue queue = Objects.requireNonNull(current.get());
            // A queue that is full is refused before the driver sees it.
            if (!queue.equals(used.getAndSet(queue))) {
                posted.set(0);
            }
            if (posted.getAndIncrement() < 4) {
                queue.post(new ReceiveWorkRequest());
            }
        }, () -> Objects.requireNonNull(
                current.getAndSet(domain.createSharedReceiveQueue(sizes))).close());
        assertThat(driver.called(VerbsSymbol.DESTROY_SRQ)).isEqualTo(ROUNDS);
    }

    // ---------------------------------------------------------------- by virtual threads

    /** More of them than there are carriers wait for each kind of event, and others go on. */
    @Test
    void virtualThreadsThatWaitLeaveTheirCarriersToOthers() throws Exception {
        NativeContext context = driver.open();
        int waiting = 2 * Runtime.getRuntime().availableProcessors() + 2;
        List<Thread> threads = new ArrayList<>();
        try (CompletionChannel channel = CompletionChannel.create()) {
            CompletionQueue queue = context.createCompletionQueue(4, channel);
            queue.requestNotification();
            for (int i = 0; i < waiting; i++) {
                threads.add(Thread.startVirtualThread(() -> untilClosed(channel::awaitEvent)));
                threads.add(Thread.startVirtualThread(
                        () -> untilClosed(context.asyncEventChannel()::awaitEvent)));
            }
            for (Thread thread : threads) {
                Wait.until("it waits", () -> thread.getState() == Thread.State.WAITING
                        || thread.getState() == Thread.State.TIMED_WAITING);
            }
            Thread other = Thread.startVirtualThread(() -> {
                // It is run.
            });
            assertThat(other.join(TIMEOUT)).isTrue();
            queue.close();
            context.close();
        }
        for (Thread thread : threads) {
            assertThat(thread.join(TIMEOUT)).isTrue();
        }
    }

    private static void untilClosed(Use wait) {
        try {
            wait.run();
        } catch (RdmaException | IllegalStateException closed) {
            // What it waits for is closed.
        }
    }
}
