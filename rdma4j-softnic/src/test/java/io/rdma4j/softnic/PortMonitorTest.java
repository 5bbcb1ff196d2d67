// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.softnic.device.PortMonitor;
import io.rdma4j.softnic.host.Host;
import io.rdma4j.softnic.host.HostSource;
import io.rdma4j.softnic.host.HostWatch;
import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/** The thread that looks at network interfaces. */
class PortMonitorTest {
    private final PortMonitor monitor = new PortMonitor(1, new HostWatch(IdleSource::new));

    /** A machine without interfaces, which never change. */
    private static final class IdleSource implements HostSource {
        private final Semaphore woken = new Semaphore(0);

        @Override
        public boolean mayHaveChanged() {
            return false;
        }

        @Override
        public Host look() {
            return new Host(List.of());
        }

        @Override
        public void await(long mostNs) {
            woken.acquireUninterruptibly();
        }

        @Override
        public void wake() {
            woken.release();
        }

        @Override
        public void close() {
            // Nothing is open.
        }
    }

    /** A device that counts the looks at it, each of which fails. */
    private static final class Looks implements PortMonitor.Watched {
        final CountDownLatch left = new CountDownLatch(5);
        private final Throwable failure;

        Looks(Throwable failure) {
            this.failure = failure;
        }

        /** Not even a line of the log can be written. */
        @Override
        public String name() {
            return fail();
        }

        @Override
        public void lookAtPort() {
            left.countDown();
            fail();
        }

        private String fail() {
            if (failure instanceof Error error) {
                throw error;
            }
            throw (RuntimeException) failure;
        }

        @Override
        public void lookRegularly() {
            fail();
        }

        boolean goesOn() throws InterruptedException {
            return left.await(20, TimeUnit.SECONDS);
        }
    }

    @Test
    void devicesAreLookedAtAgainAfterMemoryWasShort() throws Exception {
        Looks device = new Looks(new OutOfMemoryError("for this test"));
        monitor.watch(device);
        assertThat(device.goesOn()).isTrue();
        monitor.forget(device);
    }

    @Test
    void devicesAreLookedAtAgainAfterAnyFailure() throws Exception {
        for (Throwable failure : new Throwable[]{new IllegalStateException(),
            new StackOverflowError(), new NoClassDefFoundError()}) {
            Looks device = new Looks(failure);
            monitor.watch(device);
            assertThat(device.goesOn()).isTrue();
            monitor.forget(device);
        }
    }

    /** A look that waits for another process, or in an application's handler. */
    @Test
    void aDeviceWhoseLookTakesLongDelaysNoOther() throws Exception {
        CountDownLatch isLooking = new CountDownLatch(1);
        CountDownLatch mayGoOn = new CountDownLatch(1);
        PortMonitor.Watched slow = new PortMonitor.Watched() {
            @Override
            public String name() {
                return "slow";
            }

            @Override
            public void lookAtPort() {
                isLooking.countDown();
                try {
                    mayGoOn.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }

            @Override
            public void lookRegularly() {
                // It shares nothing.
            }
        };
        Looks other = new Looks(new IllegalStateException());
        monitor.watch(slow);
        monitor.watch(other);
        try {
            isLooking.await();
            assertThat(other.goesOn()).isTrue();
            Looks late = new Looks(new IllegalStateException());
            monitor.watch(late);
            assertThat(late.goesOn()).isTrue();
            monitor.forget(late);
        } finally {
            mayGoOn.countDown();
            monitor.forget(slow);
            monitor.forget(other);
        }
    }

    @Test
    void deviceThatComesAfterTheLastHasGoneIsLookedAt() throws Exception {
        for (int i = 0; i < 20; i++) {
            Looks device = new Looks(new IllegalStateException());
            monitor.watch(device);
            assertThat(device.goesOn()).isTrue();
            monitor.forget(device);
        }
    }
}
