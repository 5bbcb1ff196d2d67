// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import io.rdma4j.sockets.engine.SocketEngine;
import io.rdma4j.testkit.Wait;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import static org.assertj.core.api.Assertions.assertThat;

/** Which thread waits for the events of all connections. */
@Timeout(60)
class LeadingThreadTest {
    private static boolean leads(Thread thread) {
        return Arrays.stream(thread.getStackTrace())
                .anyMatch(frame -> frame.getClassName().equals(SocketEngine.class.getName())
                        && frame.getMethodName().equals("lead"));
    }

    /**
     * While several threads sleep, the daemon thread leads and wakes each. When one alone is left, its messages come sooner after each other than threads
     * settle, and it leads all the same: two threads for each message were twice as slow.
     */
    @Test
    void onlyThreadThatWaitsLeadsThoughOthersHaveSlept() throws Exception {
        try (Connected of = Connected.over(Transport.ROCE);
                Connected ofVirtual = Connected.over(Transport.ROCE)) {
            CountDownLatch mayRead = new CountDownLatch(1);
            AtomicInteger received = new AtomicInteger();
            Thread reader = Thread.ofPlatform().start(() -> {
                try {
                    mayRead.await();
                    while (of.channel().read(ByteBuffer.allocate(1)) > 0) {
                        received.incrementAndGet();
                    }
                } catch (IOException | InterruptedException e) {
                    received.set(Integer.MIN_VALUE);
                }
            });
            Thread virtual = Thread.ofVirtual().start(() -> {
                try {
                    ofVirtual.channel().read(ByteBuffer.allocate(1));
                    mayRead.countDown();
                } catch (IOException e) {
                    received.set(Integer.MIN_VALUE);
                }
            });
            Wait.until("it sleeps", () -> virtual.getState() == Thread.State.WAITING);
            ofVirtual.peer().write(ByteBuffer.allocate(1));
            virtual.join();
            long untilNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(5);
            boolean isLeading = false;
            for (int sent = 1; !isLeading && System.nanoTime() < untilNs; sent++) {
                of.peer().write(ByteBuffer.allocate(1));
                while (received.get() < sent && System.nanoTime() < untilNs) {
                    Thread.onSpinWait();
                    isLeading |= leads(reader);
                }
            }
            assertThat(isLeading).isTrue();
            of.peer().close();
            reader.join();
            assertThat(received.get()).isPositive();
        }
    }
}
