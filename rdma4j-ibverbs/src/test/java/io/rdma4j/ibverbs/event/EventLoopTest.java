// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.event;

import io.rdma4j.ibverbs.abi.FakeLibrary;
import io.rdma4j.ibverbs.abi.Library;
import io.rdma4j.ibverbs.abi.SystemSymbol;
import io.rdma4j.testkit.Wait;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

import java.lang.foreign.SymbolLookup;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import static org.assertj.core.api.Assertions.assertThat;

@EnabledOnOs(OS.LINUX)
class EventLoopTest {
    private static final int READABLE = 1;
    /** No process has so many open. */
    private static final int NOT_OPEN = Integer.MAX_VALUE;
    private static final int TURNS = 20;

    private static Library<SystemSymbol> system(SymbolLookup lookup) throws RdmaException {
        return new Library<>("libc.so.6", SystemSymbol.class, lookup);
    }

    @Test
    void descriptorThatFailsIsToldOnceAndLookedAtNoMore() throws Exception {
        Library<SystemSymbol> system = system(FakeLibrary.system());
        int readable = (int) system.get(SystemSymbol.EVENTFD).call(READABLE, 0).value();
        AtomicInteger failing = new AtomicInteger();
        CountDownLatch turns = new CountDownLatch(TURNS);
        try (EventLoop loop = new EventLoop(system, "loop of a test")) {
            loop.add(NOT_OPEN, failing::incrementAndGet);
            // Never read, so it has each turn.
            loop.add(readable, turns::countDown);

            assertThat(turns.await(20, TimeUnit.SECONDS)).isTrue();

            assertThat(failing).hasValue(1);
            loop.remove(readable);
        } finally {
            system.get(SystemSymbol.CLOSE).call(readable);
        }
    }

    @Test
    void handlerThatThrowsKeepsNobodyFromItsEvents() throws Exception {
        Library<SystemSymbol> system = system(FakeLibrary.system());
        int one = (int) system.get(SystemSymbol.EVENTFD).call(READABLE, 0).value();
        int other = (int) system.get(SystemSymbol.EVENTFD).call(READABLE, 0).value();
        CountDownLatch failures = new CountDownLatch(TURNS);
        CountDownLatch turns = new CountDownLatch(TURNS);
        try (EventLoop loop = new EventLoop(system, "loop of a test")) {
            loop.add(one, () -> {
                failures.countDown();
                throw new AssertionError("what a handler throws in this test");
            });
            loop.add(other, turns::countDown);

            assertThat(turns.await(20, TimeUnit.SECONDS)).isTrue();
            // It may have been for once, so it is called again.
            assertThat(failures.await(20, TimeUnit.SECONDS)).isTrue();

            loop.remove(one);
            loop.remove(other);
        } finally {
            system.get(SystemSymbol.CLOSE).call(one);
            system.get(SystemSymbol.CLOSE).call(other);
        }
    }

    @Test
    void taskThatThrowsIsDoneAgain() throws Exception {
        CountDownLatch times = new CountDownLatch(3);
        try (EventLoop loop = new EventLoop(system(FakeLibrary.system()), "loop of a test")) {
            loop.every(1, () -> {
                times.countDown();
                throw new IllegalStateException("what a task throws in this test");
            });
            assertThat(times.await(20, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    void taskIsDoneAlsoIfThereAreAlwaysEvents() throws Exception {
        Library<SystemSymbol> system = system(FakeLibrary.system());
        int readable = (int) system.get(SystemSymbol.EVENTFD).call(READABLE, 0).value();
        CountDownLatch times = new CountDownLatch(3);
        try (EventLoop loop = new EventLoop(system, "loop of a test")) {
            loop.add(readable, () -> {
                // Never read, so it has each turn.
            });
            loop.every(1, times::countDown);
            assertThat(times.await(20, TimeUnit.SECONDS)).isTrue();
            loop.remove(readable);
        } finally {
            system.get(SystemSymbol.CLOSE).call(readable);
        }
    }

    /** The number of its descriptor may be that of a file by then. */
    @Test
    void loopThatHasEndedWritesToItsDescriptorNoMore() throws Exception {
        Library<SystemSymbol> real = system(FakeLibrary.system());
        AtomicInteger writes = new AtomicInteger();
        FakeLibrary counting = new FakeLibrary(List.of(SystemSymbol.WRITE));
        counting.define(SystemSymbol.WRITE, arguments -> {
            writes.incrementAndGet();
            return real.get(SystemSymbol.WRITE).call(arguments).value();
        });
        EventLoop loop = new EventLoop(
                system(name -> name.equals(SystemSymbol.WRITE.symbol())
                        ? counting.lookup().find(name)
                        : FakeLibrary.system().find(name)),
                "loop that ends");
        loop.close();
        Wait.until("the loop has ended", () -> Thread.getAllStackTraces().keySet().stream()
                .noneMatch(thread -> thread.getName().equals("loop that ends")));
        assertThat(writes).hasValue(1);

        loop.close();
        loop.every(1, () -> {});
        loop.remove(NOT_OPEN);

        assertThat(writes).hasValue(1);
    }
}
