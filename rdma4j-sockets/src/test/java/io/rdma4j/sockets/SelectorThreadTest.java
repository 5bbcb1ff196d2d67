// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import io.rdma4j.testkit.Wait;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import static org.assertj.core.api.Assertions.assertThat;

/** Threads that wait in a selector while others act: over RDMA as over TCP, in platform threads and in virtual ones. */
@Timeout(60)
class SelectorThreadTest {
    /** What another thread does while one selects. */
    private interface Act {
        void run(Scene scene, SelectionKey key, Thread selecting) throws Exception;
    }

    /** A selector that waits for bytes of a connection. */
    private record Scene(Selector selector, Connected pair) implements AutoCloseable {
        static Scene over(Transport transport) throws IOException {
            Connected pair = Connected.over(transport);
            pair.channel().configureBlocking(false);
            return new Scene(transport.openSelector(), pair);
        }

        @Override
        public void close() throws IOException {
            selector.close();
            pair.close();
        }
    }

    /** {@return how a selection ends, and what is left} */
    private static String outcome(Transport transport, boolean isVirtual, Act act)
            throws Exception {
        try (Scene scene = Scene.over(transport)) {
            SelectionKey key = scene.pair().channel().register(scene.selector(),
                    SelectionKey.OP_READ);
            AtomicReference<String> seen = new AtomicReference<>("");
            Thread thread = (isVirtual ? Thread.ofVirtual() : Thread.ofPlatform())
                    .unstarted(() -> seen.set(select(scene.selector())));
            thread.start();
            Wait.until("the thread selects", () -> isSelecting(thread));
            act.run(scene, key, thread);
            thread.join();
            return seen.get() + ", " + (key.isValid() ? key.readyOps() : "cancelled");
        }
    }

    private static String select(Selector selector) {
        String result;
        try {
            result = String.valueOf(selector.select());
        } catch (IOException | RuntimeException e) {
            result = e.getClass().getName();
        }
        return result + (Thread.currentThread().isInterrupted() ? ", interrupted" : "")
                + (selector.isOpen() ? "" : ", closed");
    }

    static boolean isSelecting(Thread thread) {
        return switch (thread.getState()) {
            case WAITING, TIMED_WAITING -> true;
            case RUNNABLE -> ThreadContractTest.isInSystemCall(thread);
            default -> false;
        };
    }

    @ParameterizedTest
    @CsvSource({"ROCE, false", "ROCE, true", "IWARP, false", "IWARP, true"})
    void selectionsEndAsOverTcp(Transport transport, boolean isVirtual) throws Exception {
        assertThat(ends(transport, isVirtual)).isEqualTo(ends(Transport.TCP, isVirtual));
    }

    private static List<String> ends(Transport transport, boolean isVirtual) throws Exception {
        List<String> seen = new ArrayList<>();
        seen.add("bytes came: " + outcome(transport, isVirtual,
                (scene, key, selecting) -> scene.pair().peer().write(ByteBuffer.allocate(1))));
        seen.add("peer closed: " + outcome(transport, isVirtual,
                (scene, key, selecting) -> scene.pair().peer().close()));
        seen.add("woken: " + outcome(transport, isVirtual,
                (scene, key, selecting) -> scene.selector().wakeup()));
        seen.add("interrupted: " + outcome(transport, isVirtual,
                (scene, key, selecting) -> selecting.interrupt()));
        seen.add("selector closed: " + outcome(transport, isVirtual,
                (scene, key, selecting) -> scene.selector().close()));
        seen.add("cancelled, woken: " + outcome(transport, isVirtual,
                (scene, key, selecting) -> {
                    key.cancel();
                    scene.selector().wakeup();
                }));
        seen.add("interest changed, woken: " + outcome(transport, isVirtual,
                (scene, key, selecting) -> {
                    key.interestOps(SelectionKey.OP_WRITE);
                    stillSelects(selecting);
                    scene.selector().wakeup();
                }));
        seen.add("registered, woken: " + outcome(transport, isVirtual,
                (scene, key, selecting) -> {
                    scene.pair().peer().configureBlocking(false);
                    scene.pair().peer().register(scene.selector(), SelectionKey.OP_WRITE);
                    stillSelects(selecting);
                    scene.selector().wakeup();
                }));
        return seen;
    }

    /** Over TCP when the peer has answered the end, over RDMA at once. */
    @ParameterizedTest
    @EnumSource(names = {"TCP", "ROCE", "IWARP", "RULED_RDMA", "RULED_TCP"})
    void closingTheChannelEndsTheSelection(Transport transport) throws Exception {
        for (int i = 0; i < 20; i++) {
            boolean isCancelledFirst = i % 2 == 1;
            assertThat(outcome(transport, false, (scene, key, selecting) -> {
                if (isCancelledFirst) {
                    key.cancel();
                }
                scene.pair().channel().close();
                assertThat(scene.pair().peer().read(ByteBuffer.allocate(1))).isEqualTo(-1);
                scene.pair().peer().close();
            })).isEqualTo("0, cancelled");
        }
    }

    /** A change counts from the next selection on, so this one goes on: it is seen to wait many times. */
    private static void stillSelects(Thread selecting) {
        AtomicInteger times = new AtomicInteger();
        Wait.until("the thread goes on to select",
                () -> isSelecting(selecting) && times.incrementAndGet() == 20);
    }

    /** Each wake-up ends one selection, whenever it comes; none is lost. */
    @ParameterizedTest
    @EnumSource(names = {"TCP", "ROCE", "IWARP", "RULED_TCP"})
    void wakeUpsAreNotLost(Transport transport) throws Exception {
        try (Scene scene = Scene.over(transport)) {
            scene.pair().channel().register(scene.selector(), SelectionKey.OP_READ);
            AtomicInteger selections = new AtomicInteger();
            Thread thread = Thread.ofPlatform().start(() -> {
                for (int i = 0; i < 5_000; i++) {
                    select(scene.selector());
                    selections.incrementAndGet();
                }
            });
            for (int i = 0; i < 5_000; i++) {
                scene.selector().wakeup();
                int wanted = i + 1;
                Wait.until("the selection ends", () -> selections.get() >= wanted);
            }
            thread.join();
        }
    }

    /** Bytes that come at any time end the selection they are for; each is seen. */
    @ParameterizedTest
    @CsvSource({"ROCE, false", "ROCE, true", "IWARP, false", "IWARP, true"})
    void pingPongOfTwoSelectors(Transport transport, boolean isVirtual) throws Exception {
        int rounds = 1_500;
        try (Scene scene = Scene.over(transport); Selector other = transport.openSelector()) {
            scene.pair().peer().configureBlocking(false);
            AtomicReference<Exception> failure = new AtomicReference<>();
            Thread echo = (isVirtual ? Thread.ofVirtual() : Thread.ofPlatform()).start(() -> {
                try {
                    exchange(other, scene.pair().peer(), rounds, false);
                } catch (IOException | RuntimeException e) {
                    failure.set(e);
                }
            });
            exchange(scene.selector(), scene.pair().channel(), rounds, true);
            echo.join();
            assertThat(failure.get()).isNull();
        }
    }

    private static void exchange(Selector selector, SocketChannel channel, int rounds,
            boolean isFirst) throws IOException {
        channel.register(selector, SelectionKey.OP_READ);
        ByteBuffer buffer = ByteBuffer.allocate(64);
        for (int i = 0; i < rounds; i++) {
            if (isFirst) {
                channel.write(buffer.clear());
            }
            buffer.clear();
            while (buffer.hasRemaining()) {
                // Without a reason no selection ends.
                assertThat(selector.select()).isOne();
                selector.selectedKeys().clear();
                assertThat(channel.read(buffer)).isPositive();
            }
            if (!isFirst) {
                channel.write(buffer.flip());
            }
        }
    }

    /** Keys come, change and go by several threads, while others select and wake. */
    @ParameterizedTest
    @EnumSource(names = {"TCP", "ROCE", "IWARP", "RULED_TCP"})
    void registrationsByManyThreads(Transport transport) throws Exception {
        Selector selector = transport.openSelector();
        try (ServerSocketChannel listener = transport.listen()) {
            List<Connected> pairs = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                pairs.add(Connected.with(transport, listener));
            }
            AtomicInteger selected = new AtomicInteger();
            AtomicReference<Throwable> failure = new AtomicReference<>();
            Thread selecting = Thread.ofPlatform().start(() -> {
                try {
                    while (true) {
                        selected.addAndGet(selector.select(key -> {}));
                    }
                } catch (java.nio.channels.ClosedSelectorException e) {
                    // The end.
                } catch (IOException | RuntimeException e) {
                    failure.set(e);
                }
            });
            List<Thread> threads = new ArrayList<>();
            for (Connected pair : pairs) {
                threads.add(Thread.ofPlatform().start(() -> {
                    try {
                        churn(selector, pair.channel());
                    } catch (IOException | RuntimeException e) {
                        failure.set(e);
                    }
                }));
            }
            for (Thread thread : threads) {
                thread.join();
            }
            assertThat(failure.get()).isNull();
            // While they come and go, none need be there long enough to be selected. One that stays is.
            int before = selected.get();
            SocketChannel staying = pairs.getFirst().channel();
            staying.configureBlocking(false);
            SelectionKey key = staying.register(selector, SelectionKey.OP_WRITE);
            selector.wakeup();
            Wait.until("the key is selected", () -> selected.get() > before);
            key.cancel();
            Wait.until("the cancelled keys are gone", () -> selector.keys().isEmpty(),
                    selector::wakeup);
            selector.close();
            selecting.join();
            assertThat(failure.get()).isNull();
            for (Connected pair : pairs) {
                assertThat(pair.channel().isRegistered()).isFalse();
                pair.close();
            }
        }
    }

    /** The selecting thread lets others in, although it goes on to wait at once: nobody else wakes it. */
    @ParameterizedTest
    @EnumSource(names = {"TCP", "ROCE", "RULED_TCP"})
    void channelLeavesWhileAThreadWaitsInTheSelector(Transport transport) throws Exception {
        Selector selector = transport.openSelector();
        try (Connected pair = Connected.over(transport)) {
            SocketChannel channel = pair.channel();
            AtomicInteger bytes = new AtomicInteger();
            Thread selecting = Thread.ofPlatform().start(() -> {
                try {
                    while (true) {
                        selector.select(key -> bytes.addAndGet(read(key)));
                    }
                } catch (java.nio.channels.ClosedSelectorException | IOException e) {
                    // The end.
                }
            });
            for (int i = 1; i <= 1000; i++) {
                int number = i;
                channel.configureBlocking(false);
                SelectionKey key = channel.register(selector, SelectionKey.OP_READ);
                selector.wakeup();
                pair.peer().write(ByteBuffer.allocate(1));
                Wait.until("the byte was read", () -> bytes.get() == number, () -> {});
                // By then it waits, or is about to.
                for (int j = i % 100 * 100; j > 0; j--) {
                    Thread.onSpinWait();
                }
                key.cancel();
                channel.configureBlocking(true);
                Wait.until("the key is gone", () -> channel.keyFor(selector) == null,
                        selector::wakeup);
            }
            selector.close();
            selecting.join();
        }
    }

    private static int read(SelectionKey key) {
        try {
            return ((SocketChannel) key.channel()).read(ByteBuffer.allocate(9));
        } catch (IOException | java.nio.channels.CancelledKeyException e) {
            return 0;
        }
    }

    private static void churn(Selector selector, SocketChannel channel) throws IOException {
        for (int i = 0; i < 150; i++) {
            channel.configureBlocking(false);
            SelectionKey key = channel.register(selector, 0);
            key.interestOps(SelectionKey.OP_WRITE);
            selector.wakeup();
            key.interestOpsAnd(0);
            key.interestOps(SelectionKey.OP_READ);
            key.cancel();
            channel.configureBlocking(true);
            Wait.until("the key is gone", () -> channel.keyFor(selector) == null,
                    selector::wakeup);
        }
    }
}
