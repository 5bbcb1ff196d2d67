// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.verbs;

import io.rdma4j.ibverbs.abi.ContextOperation;
import io.rdma4j.ibverbs.abi.FakeLibrary;
import io.rdma4j.ibverbs.abi.Layout;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.ibverbs.abi.VerbsSymbol;
import io.rdma4j.ibverbs.memory.NativeMemoryRegion;
import io.rdma4j.testkit.Wait;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AdviceFlag;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryAdvice;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.MemoryRegionChanges;
import io.rdma4j.verbs.MemoryWindow;
import io.rdma4j.verbs.MemoryWindowBind;
import io.rdma4j.verbs.MemoryWindowType;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaClosedException;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ScatterGatherElement;
import io.rdma4j.verbs.SendWorkRequest;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Arenas that are closed under registrations: the device shall not reach what the process puts there next. */
class MemoryThatGoesTest {
    private final FakeDriver driver = new FakeDriver();
    /** What the driver was asked to free, in order. */
    private final List<String> freed = new CopyOnWriteArrayList<>();

    @AfterEach
    void libraryDidNotFail() throws Exception {
        driver.close();
    }

    private static void assertErrno(Errno errno, ThrowingCallable call) {
        assertThatExceptionOfType(RdmaException.class).isThrownBy(call).satisfies(e -> {
            assertThat(e.errno()).as(e.getMessage()).isEqualTo(errno);
            assertThat(e.getMessage()).doesNotContain("\n");
        });
    }

    private void offerWindows() {
        driver.operation(ContextOperation.ALLOC_MW,
                arguments -> driver.object(Layout.MemoryWindow.SIZE));
        driver.operation(ContextOperation.DEALLOC_MW, arguments -> {
            freed.add("window");
            driver.free(arguments[0]);
            return 0;
        });
        driver.library.define(VerbsSymbol.DEREG_MR, arguments -> {
            freed.add("region");
            driver.free(arguments[0]);
            return 0;
        });
    }

    private static QueuePair ready(NativeContext context, ProtectionDomain domain)
            throws RdmaException {
        QueuePair queuePair = domain.createQueuePair(new QueuePairInitAttributes()
                .type(QueuePairType.RC).completionQueue(context.createCompletionQueue(16))
                .capabilities(new QueuePairCapabilities(8, 4, 2, 2, 16)));
        FakeDriver.ready(queuePair);
        return queuePair;
    }

    @Test
    void windowsAreFreedBeforeTheRegionWhoseArenaWasClosed() throws RdmaException {
        offerWindows();
        NativeContext context = driver.open();
        ProtectionDomain domain = context.allocateProtectionDomain();
        QueuePair queuePair = ready(context, domain);
        Arena arena = Arena.ofShared();
        MemoryRegion region = domain.register(arena.allocate(64), AccessFlag.LOCAL_WRITE,
                AccessFlag.MW_BIND);
        MemoryWindow window = domain.allocateMemoryWindow(MemoryWindowType.TYPE_2);
        MemoryWindow other = domain.allocateMemoryWindow(MemoryWindowType.TYPE_2);
        MemoryWindowBind bind = new MemoryWindowBind(region, region.address(), 8, Set.of());
        queuePair.postSend(new SendWorkRequest().bind(window, 1, bind));
        arena.close();
        Wait.until("the registration has ended", () -> freed.size() == 2);
        assertThat(freed).containsExactly("window", "region");
        assertThatExceptionOfType(RdmaClosedException.class)
                .isThrownBy(
                        () -> queuePair.postSend(new SendWorkRequest().bind(window, 2, bind)))
                .withMessageContaining("the arena of the memory");
        window.close();
        other.close();
        region.close();
        assertThat(freed).containsExactly("window", "region", "window");
    }

    @Test
    void registrationThatCannotBeEndedIsTriedAgain() throws RdmaException {
        AtomicInteger tries = new AtomicInteger();
        driver.library.define(VerbsSymbol.DEREG_MR,
                arguments -> tries.incrementAndGet() < 3 ? Errno.EBUSY.number() : 0);
        ProtectionDomain domain = driver.open().allocateProtectionDomain();
        Arena arena = Arena.ofShared();
        MemoryRegion region = domain.register(arena.allocate(64), Set.of());
        arena.close();
        Wait.until("the registration has ended", () -> tries.get() == 3);
        region.close();
        assertThat(tries).hasValue(3);
    }

    @Test
    void arenaThatIsClosedWhileItsMemoryIsRegisteredEndsTheRegistration() throws RdmaException {
        Arena arena = Arena.ofShared();
        driver.library.define(VerbsSymbol.REG_MR_IOVA2, arguments -> {
            arena.close();
            return driver.object(Layout.MemoryRegion.SIZE);
        });
        ProtectionDomain domain = driver.open().allocateProtectionDomain();
        assertErrno(Errno.EFAULT, () -> domain.register(arena.allocate(64), Set.of()));
        assertThat(driver.called(VerbsSymbol.DEREG_MR)).isOne();
        domain.close();
    }

    @Test
    void arenaThatIsClosedWhileItsMemoryIsReregisteredEndsTheRegistration()
            throws RdmaException {
        Arena arena = Arena.ofShared();
        driver.library.define(VerbsSymbol.REREG_MR, arguments -> {
            arena.close();
            return 0;
        });
        ProtectionDomain domain = driver.open().allocateProtectionDomain();
        MemoryRegion region = domain.register(Arena.global().allocate(64), Set.of());
        assertErrno(Errno.EFAULT,
                () -> region.reregister(new MemoryRegionChanges().segment(arena.allocate(64))));
        assertThat(driver.called(VerbsSymbol.DEREG_MR)).isOne();
        region.close();
        assertThat(driver.called(VerbsSymbol.DEREG_MR)).isOne();
    }

    /** Who found the old arena closed comes to end the registration when it is of other memory. */
    @Test
    void regionThatHasGotOtherMemoryMeanwhileIsNotEnded() throws RdmaException {
        NativeContext context = driver.open();
        ProtectionDomain domain = context.allocateProtectionDomain();
        Arena arena = Arena.ofShared();
        NativeMemoryRegion region = (NativeMemoryRegion) domain.register(arena.allocate(64),
                Set.of());
        context.services().lock();
        try {
            arena.close();
            region.reregister(new MemoryRegionChanges().segment(Arena.global().allocate(128)));
        } finally {
            context.services().unlock();
        }
        assertThat(region.endAccess()).isFalse();
        assertThat(driver.called(VerbsSymbol.DEREG_MR)).isZero();
        assertThat(region.length()).isEqualTo(128);
        region.close();
        assertThat(driver.called(VerbsSymbol.DEREG_MR)).isOne();
    }

    // ---------------------------------------------------------------- other memory for a region

    @Test
    void reregisteringHandsOnWhatChangesAndReadsTheNewKeys() throws RdmaException {
        long[][] asked = new long[1][];
        driver.library.define(VerbsSymbol.REREG_MR, arguments -> {
            asked[0] = arguments.clone();
            Native.putInt(Native.at(arguments[0], Layout.MemoryRegion.SIZE),
                    Layout.MemoryRegion.RKEY, 0x77);
            return 0;
        });
        NativeContext context = driver.open();
        ProtectionDomain domain = context.allocateProtectionDomain();
        NativeProtectionDomain other = (NativeProtectionDomain) context
                .allocateProtectionDomain();
        NativeMemoryRegion region = (NativeMemoryRegion) domain
                .register(Arena.global().allocate(64), Set.of());
        var memory = Arena.global().allocate(128);
        region.reregister(new MemoryRegionChanges().segment(memory).protectionDomain(other)
                .access(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ));
        assertThat(asked[0]).containsExactly(region.pointer(), 1 | 2 | 4,
                other.services().pointer(),
                memory.address(), 128, 1 | 4);
        assertThat(region.rkey()).isEqualTo(0x77);
        assertThat(region.address()).isEqualTo(memory.address());
        assertThat(region.protectionDomain()).isSameAs(other);
        domain.close();
        assertErrno(Errno.EBUSY, other::close);
        region.close();
        other.close();
    }

    private MemoryRegion afterReregistering(int answer, Errno errno) throws RdmaException {
        driver.library.define(VerbsSymbol.REREG_MR, arguments -> {
            FakeLibrary.fail(errno.number());
            return answer;
        });
        return driver.open().allocateProtectionDomain().register(Arena.global().allocate(64),
                Set.of());
    }

    /** As {@code enum ibv_rereg_mr_err_code} has it. */
    @Test
    void regionIsAsItWasWhereTheLibrarySaysSo() throws RdmaException {
        for (int answer : new int[]{-1, -2}) {
            MemoryRegion region = afterReregistering(answer, Errno.EINVAL);
            assertErrno(Errno.EINVAL,
                    () -> region.reregister(
                            new MemoryRegionChanges().segment(Arena.global().allocate(128))));
            assertThat(region.length()).isEqualTo(64);
            assertThat(driver.called(VerbsSymbol.DEREG_MR)).isZero();
        }
    }

    @Test
    void regionOfADeviceThatCannotReregisterIsAsItWas() throws RdmaException {
        MemoryRegion region = afterReregistering(-4, Errno.EOPNOTSUPP);
        assertErrno(Errno.EOPNOTSUPP,
                () -> region.reregister(
                        new MemoryRegionChanges().segment(Arena.global().allocate(128))));
        assertThat(region.length()).isEqualTo(64);
        assertThat(driver.called(VerbsSymbol.DEREG_MR)).isZero();
    }

    @Test
    void regionHasItsNewMemoryThoughTheOldIsNotHandedToChildProcesses() throws RdmaException {
        MemoryRegion region = afterReregistering(-3, Errno.EINVAL);
        region.reregister(new MemoryRegionChanges().segment(Arena.global().allocate(128)));
        assertThat(region.length()).isEqualTo(128);
    }

    @Test
    void regionWhoseChangeFailedHalfWayIsEnded() throws RdmaException {
        int ended = 0;
        for (int answer : new int[]{-4, -5}) {
            MemoryRegion region = afterReregistering(answer, Errno.ENOMEM);
            assertErrno(Errno.ENOMEM,
                    () -> region.reregister(
                            new MemoryRegionChanges().segment(Arena.global().allocate(128))));
            assertThat(driver.called(VerbsSymbol.DEREG_MR)).isEqualTo(++ended);
            assertThatExceptionOfType(RdmaClosedException.class)
                    .isThrownBy(() -> region.reregister(new MemoryRegionChanges().access(Set.of())))
                    .withMessageContaining("could not be reregistered");
            region.close();
            assertThat(driver.called(VerbsSymbol.DEREG_MR)).isEqualTo(ended);
        }
    }

    @Test
    void regionOfNoMemoryIsThereUntilItIsClosed() throws RdmaException {
        driver.operation(ContextOperation.ALLOC_NULL_MR, arguments -> {
            long region = driver.object(Layout.MemoryRegion.SIZE);
            Native.putInt(Native.at(region, Layout.MemoryRegion.SIZE), Layout.MemoryRegion.LKEY,
                    0x100);
            return region;
        });
        NativeContext context = driver.open();
        ProtectionDomain domain = context.allocateProtectionDomain();
        MemoryRegion region = domain.registerNull();
        assertThat(region.lkey()).isEqualTo(0x100);
        QueuePair queuePair = ready(context, domain);
        queuePair.postSend(new SendWorkRequest().add(0, 1 << 20, region.lkey()));
        assertThat(driver.posted).hasSize(1);
        region.close();
        assertThat(driver.called(VerbsSymbol.DEREG_MR)).isOne();
    }

    @Test
    void adviceNamesItsElementsAsTheHeadersHaveThem() throws RdmaException {
        List<Long> asked = new CopyOnWriteArrayList<>();
        driver.operation(ContextOperation.ADVISE_MR, arguments -> {
            for (int i = 1; i < 5; i++) {
                asked.add(i == 3 ? 0L : arguments[i]);
            }
            asked.add(Native.getLong(Native.at(arguments[3], 16), Layout.Element.ADDR));
            asked.add((long) Native.getInt(Native.at(arguments[3], 16), Layout.Element.LENGTH));
            asked.add((long) Native.getInt(Native.at(arguments[3], 16), Layout.Element.LKEY));
            return 0;
        });
        ProtectionDomain domain = driver.open().allocateProtectionDomain();
        MemoryRegion region = domain.register(Arena.global().allocate(64), Set.of());
        domain.advise(MemoryAdvice.PREFETCH,
                List.of(new ScatterGatherElement(region.address() + 8, 16, region.lkey())),
                AdviceFlag.FLUSH);
        // The advice, the flag, the list and its length; and its first element.
        assertThat(asked).containsExactly((long) MemoryAdvice.PREFETCH.code(), 1L, 0L, 1L,
                region.address() + 8, 16L, (long) region.lkey());
        asked.clear();
        assertErrno(Errno.ENOENT, () -> domain.advise(MemoryAdvice.PREFETCH,
                List.of(new ScatterGatherElement(0, 16, region.lkey() + 1)), AdviceFlag.FLUSH));
        assertThat(asked).isEmpty();
        region.close();
    }
}
