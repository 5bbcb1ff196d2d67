// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import io.rdma4j.sockets.engine.SocketEngine;
import io.rdma4j.testkit.Wait;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

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
                    readAll(of, received);
                } catch (InterruptedException e) {
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
            assertThat(comesToLead(reader, of, received)).isTrue();
            of.peer().close();
            reader.join();
            assertThat(received.get()).isPositive();
        }
    }

    /** A thread that waited before, and for which nothing comes, makes room for it, and still gets what comes later. */
    @Test
    void onlyThreadThatGetsAnythingLeadsThoughOthersWait() throws Exception {
        try (Connected of = Connected.over(Transport.ROCE);
                Connected ofIdle = Connected.over(Transport.ROCE)) {
            AtomicInteger received = new AtomicInteger();
            AtomicInteger ofOther = new AtomicInteger();
            Thread idle = Thread.ofPlatform().start(() -> readAll(ofIdle, ofOther));
            assertThat(comesToLead(idle, ofIdle, ofOther)).isTrue();
            Thread reader = Thread.ofPlatform().start(() -> readAll(of, received));
            assertThat(comesToLead(reader, of, received)).isTrue();
            int before = ofOther.get();
            ofIdle.peer().write(ByteBuffer.allocate(1));
            Wait.until("it has got its byte", () -> ofOther.get() == before + 1);
            of.peer().close();
            ofIdle.peer().close();
            reader.join();
            idle.join();
            assertThat(received.get()).isPositive();
            assertThat(ofOther.get()).isPositive();
        }
    }

    private static void readAll(Connected pair, AtomicInteger received) {
        try {
            while (pair.channel().read(ByteBuffer.allocate(1)) > 0) {
                received.incrementAndGet();
            }
        } catch (IOException e) {
            received.set(Integer.MIN_VALUE);
        }
    }

    /** {@return whether a thread is seen to lead while it reads bytes that are sent to it one by one} */
    private static boolean comesToLead(Thread reader, Connected pair, AtomicInteger received)
            throws IOException {
        long untilNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(5);
        boolean isLeading = false;
        for (int sent = 1; !isLeading && System.nanoTime() < untilNs; sent++) {
            pair.peer().write(ByteBuffer.allocate(1));
            while (received.get() < sent && System.nanoTime() < untilNs) {
                Thread.onSpinWait();
                isLeading |= leads(reader);
            }
        }
        return isLeading;
    }

    /** A thread that has made room, and sleeps where it led before, can be interrupted as any that reads. */
    @Test
    void threadThatHasMadeRoomCanBeInterrupted() throws Exception {
        try (Connected of = Connected.over(Transport.ROCE);
                Connected ofIdle = Connected.over(Transport.ROCE)) {
            AtomicInteger received = new AtomicInteger();
            AtomicInteger ofOther = new AtomicInteger();
            AtomicReference<IOException> end = new AtomicReference<>();
            Thread idle = Thread.ofPlatform().start(() -> {
                try {
                    while (ofIdle.channel().read(ByteBuffer.allocate(1)) > 0) {
                        ofOther.incrementAndGet();
                    }
                } catch (IOException e) {
                    end.set(e);
                }
            });
            assertThat(comesToLead(idle, ofIdle, ofOther)).isTrue();
            Thread reader = Thread.ofPlatform().start(() -> readAll(of, received));
            assertThat(comesToLead(reader, of, received)).isTrue();
            idle.interrupt();
            idle.join();
            assertThat(end.get()).isInstanceOf(ClosedByInterruptException.class);
            of.peer().close();
            reader.join();
        }
    }
}
