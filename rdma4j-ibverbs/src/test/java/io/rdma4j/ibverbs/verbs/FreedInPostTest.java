// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.verbs;

import io.rdma4j.ibverbs.abi.ContextOperation;
import io.rdma4j.ibverbs.abi.Layout;
import io.rdma4j.ibverbs.abi.VerbsSymbol;
import io.rdma4j.testkit.Wait;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.CompletionQueueInitAttributes;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.MemoryWindow;
import io.rdma4j.verbs.MemoryWindowBind;
import io.rdma4j.verbs.MemoryWindowType;
import io.rdma4j.verbs.ParentDomainInitAttributes;
import io.rdma4j.verbs.PostException;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaClosedException;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Objects that a request names, and that are closed while it is posted: the driver follows their pointers. */
class FreedInPostTest {
    private static final int OLD_KEY = 0x100;

    private final FakeDriver driver = new FakeDriver();
    private final Arena arena = Arena.ofShared();
    private int windowsFreed;

    @AfterEach
    void libraryDidNotFail() throws Exception {
        driver.close();
        arena.close();
    }

    private static void assertErrno(Errno errno, ThrowingCallable call) {
        assertThatExceptionOfType(RdmaException.class).isThrownBy(call).satisfies(e -> {
            assertThat(e.errno()).as(e.getMessage()).isEqualTo(errno);
            assertThat(e.getMessage()).doesNotContain("\n");
        });
    }

    private static QueuePair ready(NativeContext context, ProtectionDomain domain,
            QueuePairType type) throws RdmaException {
        QueuePair queuePair = domain.createQueuePair(new QueuePairInitAttributes().type(type)
                .completionQueue(context.createCompletionQueue(64))
                .capabilities(new QueuePairCapabilities(32, 4, 2, 2, 16)));
        FakeDriver.ready(queuePair);
        return queuePair;
    }

    private void offerWindows() {
        driver.operation(ContextOperation.ALLOC_MW,
                arguments -> driver.object(Layout.MemoryWindow.SIZE));
        driver.operation(ContextOperation.DEALLOC_MW, arguments -> {
            driver.free(arguments[0]);
            windowsFreed++;
            return 0;
        });
    }

    /** Has the driver do something in the midst of posting, by the thread that posts. */
    private AtomicReference<Errno> inPost(AutoCloseable closed) {
        AtomicReference<Errno> refusal = new AtomicReference<>();
        driver.whilePosting = () -> {
            try {
                closed.close();
            } catch (RdmaException e) {
                refusal.set(e.errno());
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        };
        return refusal;
    }

    private MemoryRegion region(ProtectionDomain domain) throws RdmaException {
        return domain.register(arena.allocate(64), AccessFlag.LOCAL_WRITE, AccessFlag.MW_BIND);
    }

    private static SendWorkRequest bind(MemoryWindow window, int key, MemoryRegion region,
            long length) {
        return new SendWorkRequest().bind(window, key,
                new MemoryWindowBind(region, region.address(), length, Set.of()));
    }

    // ---------------------------------------------------------------- in the midst of a post

    @Test
    void addressHandleIsNotFreedWhileADatagramIsPosted() throws RdmaException {
        NativeContext context = driver.open();
        ProtectionDomain domain = context.allocateProtectionDomain();
        QueuePair queuePair = ready(context, domain, QueuePairType.UD);
        AddressHandle path = domain.createAddressHandle(AddressHandleAttributes.to(Gid.ZERO, 0));
        AtomicReference<Errno> refusal = inPost(path);
        queuePair.postSend(new SendWorkRequest().to(path, 1, 1));
        assertThat(refusal.get()).isEqualTo(Errno.EBUSY);
        driver.whilePosting = () -> {};
        assertThat(driver.called(VerbsSymbol.DESTROY_AH)).isZero();
        path.close();
        assertThat(driver.called(VerbsSymbol.DESTROY_AH)).isOne();
        assertThatExceptionOfType(RdmaClosedException.class)
                .isThrownBy(() -> queuePair.postSend(new SendWorkRequest().to(path, 1, 1)));
    }

    @Test
    void addressHandleOfARequestThatWasNotPostedIsFreed() throws RdmaException {
        NativeContext context = driver.open();
        ProtectionDomain domain = context.allocateProtectionDomain();
        QueuePair queuePair = ready(context, domain, QueuePairType.UD);
        AddressHandle path = domain.createAddressHandle(AddressHandleAttributes.to(Gid.ZERO, 0));
        SendWorkRequest good = new SendWorkRequest().to(path, 1, 1);
        assertThatExceptionOfType(PostException.class).isThrownBy(() -> queuePair
                .postSend(List.of(good, good, new SendWorkRequest().to(path, 1, 1).read(0, 1))));
        driver.postAnswer = Errno.ENOMEM.number();
        assertErrno(Errno.ENOMEM, () -> queuePair.postSend(good));
        path.close();
        assertThat(driver.called(VerbsSymbol.DESTROY_AH)).isOne();
    }

    @Test
    void windowIsNotFreedWhileItIsBound() throws RdmaException {
        offerWindows();
        NativeContext context = driver.open();
        ProtectionDomain domain = context.allocateProtectionDomain();
        QueuePair queuePair = ready(context, domain, QueuePairType.RC);
        MemoryRegion region = region(domain);
        MemoryWindow window = domain.allocateMemoryWindow(MemoryWindowType.TYPE_2);
        AtomicReference<Errno> refusal = inPost(window);
        queuePair.postSend(bind(window, 1, region, 8));
        assertThat(refusal.get()).isEqualTo(Errno.EBUSY);
        driver.whilePosting = () -> {};
        assertThat(windowsFreed).isZero();
        window.close();
        assertThat(windowsFreed).isOne();
        assertThatExceptionOfType(RdmaClosedException.class)
                .isThrownBy(() -> queuePair.postSend(bind(window, 1, region, 8)));
        region.close();
    }

    /** Drivers read the region's key even of a request that ends what the window was bound to. */
    @Test
    void regionIsNotFreedWhileAWindowIsUnbound() throws RdmaException {
        offerWindows();
        NativeContext context = driver.open();
        ProtectionDomain domain = context.allocateProtectionDomain();
        QueuePair queuePair = ready(context, domain, QueuePairType.RC);
        MemoryRegion region = region(domain);
        MemoryWindow window = domain.allocateMemoryWindow(MemoryWindowType.TYPE_2);
        AtomicReference<Errno> refusal = inPost(region);
        queuePair.postSend(bind(window, 1, region, 0));
        assertThat(refusal.get()).isEqualTo(Errno.EBUSY);
        driver.whilePosting = () -> {};
        assertThat(driver.called(VerbsSymbol.DEREG_MR)).isZero();
        region.close();
        assertThat(driver.called(VerbsSymbol.DEREG_MR)).isOne();
    }

    /** Each post is over before what it names is freed, however the two threads meet. */
    @Test
    void closingWaitsForThePostOfAnotherThread() throws Exception {
        NativeContext context = driver.open();
        ProtectionDomain domain = context.allocateProtectionDomain();
        QueuePair queuePair = ready(context, domain, QueuePairType.UD);
        AddressHandle path = domain.createAddressHandle(AddressHandleAttributes.to(Gid.ZERO, 0));
        AtomicBoolean isInPost = new AtomicBoolean();
        AtomicBoolean isClosing = new AtomicBoolean();
        AtomicBoolean wasFreed = new AtomicBoolean();
        driver.whilePosting = () -> {
            isInPost.set(true);
            Wait.until("another thread closes the handle", isClosing::get);
            for (int i = 0; i < 100_000; i++) {
                Thread.onSpinWait();
            }
            wasFreed.set(driver.called(VerbsSymbol.DESTROY_AH) != 0);
        };
        Thread posting = Thread.ofPlatform().start(() -> {
            try {
                queuePair.postSend(new SendWorkRequest().to(path, 1, 1));
            } catch (RdmaException e) {
                throw new IllegalStateException(e);
            }
        });
        Wait.until("a datagram is being posted", isInPost::get);
        isClosing.set(true);
        path.close();
        posting.join();
        assertThat(wasFreed).isFalse();
        assertThat(driver.called(VerbsSymbol.DESTROY_AH)).isOne();
    }

    // ---------------------------------------------------------------- what a refused request leaves

    @Test
    void windowOfARefusedRequestIsBoundAsBefore() throws RdmaException {
        offerWindows();
        NativeContext context = driver.open();
        ProtectionDomain domain = context.allocateProtectionDomain();
        QueuePair queuePair = ready(context, domain, QueuePairType.RC);
        MemoryRegion first = region(domain);
        MemoryRegion second = region(domain);
        MemoryWindow window = domain.allocateMemoryWindow(MemoryWindowType.TYPE_2);
        queuePair.postSend(bind(window, OLD_KEY, first, 8));
        driver.refusedIndex = 1;
        driver.postAnswer = Errno.ENOMEM.number();
        assertErrno(Errno.ENOMEM, () -> queuePair.postSend(List.of(new SendWorkRequest(),
                bind(window, OLD_KEY + 1, second, 8), bind(window, OLD_KEY + 2, first, 8))));
        assertThat(window.rkey()).isEqualTo(OLD_KEY);
        second.close();
        assertErrno(Errno.EBUSY, first::close);
        driver.postAnswer = 0;
        queuePair.postSend(bind(window, OLD_KEY + 1, first, 0));
        assertThat(window.rkey()).isEqualTo(OLD_KEY + 1);
        first.close();
    }

    @Test
    void windowOfAnotherDeviceOrDomainIsNotBound() throws RdmaException {
        offerWindows();
        NativeContext context = driver.open();
        ProtectionDomain domain = context.allocateProtectionDomain();
        QueuePair queuePair = ready(context, domain, QueuePairType.RC);
        MemoryRegion region = region(domain);
        MemoryWindow ofAnotherDevice = driver.open().allocateProtectionDomain()
                .allocateMemoryWindow(MemoryWindowType.TYPE_2);
        MemoryWindow ofAnotherDomain = context.allocateProtectionDomain()
                .allocateMemoryWindow(MemoryWindowType.TYPE_2);
        assertErrno(Errno.EINVAL, () -> queuePair.postSend(bind(ofAnotherDevice, 1, region, 8)));
        assertErrno(Errno.EPERM, () -> queuePair.postSend(bind(ofAnotherDomain, 1, region, 8)));
        assertThat(driver.posted).isEmpty();
        region.close();
    }

    // ---------------------------------------------------------------- between a check and the call

    @Test
    void parentDomainThatIsClosedMeanwhileIsNotGivenToAQueue() throws Exception {
        int[] made = new int[1];
        driver.operation(ContextOperation.ALLOC_PARENT_DOMAIN, arguments -> driver.object(16));
        driver.operation(ContextOperation.CREATE_CQ_EX, arguments -> {
            made[0]++;
            return driver.object(288);
        });
        NativeContext context = driver.open();
        ProtectionDomain parent = context.allocateProtectionDomain()
                .createParentDomain(new ParentDomainInitAttributes());
        AtomicReference<RuntimeException> refusal = new AtomicReference<>();
        Thread creating = new Thread(() -> {
            try {
                context.createCompletionQueue(
                        new CompletionQueueInitAttributes().parentDomain(parent));
            } catch (RdmaException e) {
                refusal.set(new IllegalStateException(e.getMessage(), e));
            }
        });
        context.services().lock();
        try {
            creating.start();
            Wait.until("the other thread waits for the context",
                    () -> creating.getState() == Thread.State.WAITING);
            parent.close();
        } finally {
            context.services().unlock();
        }
        creating.join();
        assertThat(refusal.get()).hasMessageContaining("the protection domain is closed");
        assertThat(made[0]).isZero();
    }

    // ---------------------------------------------------------------- many at once

    /** What a driver follows is checked by the fake one: a pointer to what was freed is a failure of the test. */
    @Test
    void pathsThatAreClosedWhileManyPostAreNeverFollowedLater() throws Exception {
        NativeContext context = driver.open();
        ProtectionDomain domain = context.allocateProtectionDomain();
        QueuePair queuePair = ready(context, domain, QueuePairType.UD);
        AtomicReference<AddressHandle> path = new AtomicReference<>(
                domain.createAddressHandle(AddressHandleAttributes.to(Gid.ZERO, 0)));
        AtomicBoolean isOver = new AtomicBoolean();
        AtomicReference<Exception> failure = new AtomicReference<>();
        Thread posting = Thread.ofPlatform().start(() -> {
            WorkCompletion completion = new WorkCompletion();
            while (!isOver.get()) {
                try {
                    queuePair.postSend(new SendWorkRequest()
                            .to(Objects.requireNonNull(path.get()), 1, 1));
                    driver.completeAll();
                    while (queuePair.sendCompletionQueue().poll(completion)) {
                        assertThat(completion.isSuccess()).isTrue();
                    }
                } catch (RdmaClosedException closed) {
                    assertThat(closed).hasMessageContaining("the address handle is closed");
                } catch (RdmaException | AssertionError e) {
                    failure.set(new IllegalStateException(e));
                    return;
                }
            }
        });
        try {
            for (int i = 0; i < 2_000; i++) {
                AddressHandle old = path.getAndSet(
                        domain.createAddressHandle(AddressHandleAttributes.to(Gid.ZERO, 0)));
                old.close();
            }
        } finally {
            isOver.set(true);
            posting.join();
        }
        assertThat(failure.get()).isNull();
        assertThat(driver.called(VerbsSymbol.DESTROY_AH)).isEqualTo(2_000);
    }
}
