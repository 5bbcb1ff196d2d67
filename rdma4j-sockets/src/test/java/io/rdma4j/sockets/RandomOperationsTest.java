// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import io.rdma4j.testkit.Wait;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Connections under random operations at both ends: each byte that was written arrives, once, in order, unless its receiver has
 * stopped to listen; and the receiver of all of them sees their end.
 *
 * <p>A seed says what the threads of a connection do, not in which order. {@code -Drdma4j.test.simulation.firstSeed} sets the first.
 */
class RandomOperationsTest {
    private static final long FIRST_SEED = Long.getLong("rdma4j.test.simulation.firstSeed", 0);
    private static final int MOST_WRITES = 300;
    private static final int AT_ONCE = 3;
    private static final long PATIENCE_MS = 60_000;

    @ParameterizedTest
    @EnumSource(names = {"ROCE", "IWARP"})
    void fewThousandOperations(Transport transport) throws Exception {
        run(List.of(transport), 2_000);
    }

    @Test
    @Tag("long")
    @Timeout(value = 1, unit = TimeUnit.HOURS)
    void millionOperations() throws Exception {
        run(List.of(Transport.ROCE, Transport.IWARP), 1_000_000);
    }

    private static void run(List<Transport> transports, long wanted) throws Exception {
        AtomicLong done = new AtomicLong();
        AtomicLong bytes = new AtomicLong();
        AtomicLong nextSeed = new AtomicLong(FIRST_SEED);
        List<Future<Void>> running = new ArrayList<>();
        try (ExecutorService threads = Executors.newCachedThreadPool()) {
            for (int i = 0; i < AT_ONCE; i++) {
                running.add(threads.submit(() -> {
                    while (done.get() < wanted) {
                        long seed = nextSeed.getAndIncrement();
                        Transport transport = transports.get((int) (seed % transports.size()));
                        new Course(transport, seed).run(done, bytes);
                    }
                    return null;
                }));
            }
            for (Future<Void> each : running) {
                each.get();
            }
        } catch (ExecutionException e) {
            // The others end as soon as they look.
            done.set(wanted);
            throw e;
        }
        System.out.println(transports + ": " + done + " operations, " + bytes
                + " bytes, seeds " + FIRST_SEED + " to " + (nextSeed.get() - 1));
    }

    /** One connection from its beginning to its end. */
    private static final class Course {
        private final Transport transport;
        private final long seed;
        private final Random random;

        Course(Transport transport, long seed) {
            this.transport = transport;
            this.seed = seed;
            random = new Random(seed);
        }

        void run(AtomicLong done, AtomicLong bytes) throws Exception {
            CountDownLatch operations = new CountDownLatch(random.nextInt(2 * MOST_WRITES));
            RandomBytes forth = new RandomBytes(random.nextLong());
            RandomBytes back = new RandomBytes(random.nextLong());
            try (Connected pair = connect()) {
                RandomEnd first = new RandomEnd(transport, pair.channel(), waiting(), forth, back,
                        random.nextLong(), writes(), true, operations);
                RandomEnd second = new RandomEnd(transport, pair.peer(), waiting(), back, forth,
                        random.nextLong(), writes(), false, operations);
                first.start(second);
                second.start(first);
                Thread interfering = Thread.ofPlatform().unstarted(
                        interference(operations, List.of(first, second)));
                interfering.start();
                boolean isOver = first.awaitEnd(PATIENCE_MS) && second.awaitEnd(PATIENCE_MS);
                String state = this + ": " + first + "; " + second;
                assertThat(isOver).as(() -> state + " ends\n" + Wait.allThreads()).isTrue();
                interfering.interrupt();
                interfering.join();
                requireNoDefects(state, first, second);
                check(state, forth, second);
                check(state, back, first);
                done.addAndGet(first.done() + second.done());
                bytes.addAndGet(forth.received() + back.received());
            }
        }

        /** That of one end may follow from the other's. */
        private static void requireNoDefects(String state, RandomEnd... ends) {
            List<Throwable> defects = Arrays.stream(ends).map(RandomEnd::defect)
                    .filter(Objects::nonNull).toList();
            if (!defects.isEmpty()) {
                AssertionError all = new AssertionError(state, defects.getFirst());
                defects.stream().skip(1).forEach(all::addSuppressed);
                throw all;
            }
        }

        private static void check(String state, RandomBytes bytes, RandomEnd to) {
            assertThat(bytes.received()).as(state).isLessThanOrEqualTo(bytes.sent());
            if (!to.hasQuit()) {
                assertThat(to.hasSeenEnd()).as(state).isTrue();
                assertThat(bytes.received()).as(state).isEqualTo(bytes.sent());
            }
        }

        /** {@return something that ends what it can at a random moment, in half of all courses} */
        private Runnable interference(CountDownLatch operations, List<RandomEnd> ends) {
            boolean isWanted = random.nextBoolean();
            RandomEnd end = ends.get(random.nextInt(2));
            int what = random.nextInt(5);
            return () -> {
                try {
                    operations.await();
                    if (isWanted) {
                        end.interfere(what);
                    }
                } catch (InterruptedException e) {
                    // There were not so many operations.
                }
            };
        }

        /** {@return how many, few in most courses} */
        private int writes() {
            return random.nextInt(1 + random.nextInt(MOST_WRITES));
        }

        private RandomEnd.Waiting waiting() {
            RandomEnd.Waiting[] all = RandomEnd.Waiting.values();
            return all[random.nextInt(all.length)];
        }

        private Connected connect() throws IOException {
            try (ServerSocketChannel listener = transport.openListener()) {
                listener.setOption(StandardSocketOptions.SO_RCVBUF, bufferBytes())
                        .setOption(RdmaSocketOptions.RDMA_SQSIZE, depth())
                        .setOption(RdmaSocketOptions.RDMA_RQSIZE, depth())
                        .setOption(RdmaSocketOptions.RDMA_INLINE, inline());
                listener.bind(Transport.loopback(0));
                SocketChannel channel = transport.open()
                        .setOption(StandardSocketOptions.SO_SNDBUF, bufferBytes())
                        .setOption(StandardSocketOptions.SO_RCVBUF, bufferBytes())
                        .setOption(RdmaSocketOptions.RDMA_SQSIZE, depth())
                        .setOption(RdmaSocketOptions.RDMA_RQSIZE, depth())
                        .setOption(RdmaSocketOptions.RDMA_INLINE, inline());
                channel.connect(listener.getLocalAddress());
                return new Connected(channel, listener.accept());
            }
        }

        private int bufferBytes() {
            return 4096 << random.nextInt(6);
        }

        private int depth() {
            return 16 + random.nextInt(random.nextBoolean() ? 8 : 368);
        }

        private int inline() {
            return random.nextInt(200);
        }

        @Override
        public String toString() {
            return transport + ", seed " + seed;
        }
    }
}
