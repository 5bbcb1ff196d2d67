package io.rdma4j.ibverbs.event;

import io.rdma4j.ibverbs.abi.FakeLibrary;
import io.rdma4j.ibverbs.abi.Library;
import io.rdma4j.ibverbs.abi.SystemSymbol;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

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

    @Test
    void descriptorThatFailsIsToldOnceAndLookedAtNoMore() throws Exception {
        Library<SystemSymbol> system = new Library<>("libc.so.6", SystemSymbol.class,
                FakeLibrary.system());
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
}
