// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import io.rdma4j.jdk.JdkProvider;
import io.rdma4j.testkit.Wait;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.Pipe;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** The JDK's own channels in a selector for channels over RDMA: alone, and beside those. */
@Timeout(60)
class MixedSelectorTest {
    /** What can be selected for reading, and what makes it ready. */
    private record Line(SelectionKey key, Step send, Step receive, AutoCloseable end) {}

    private interface Step {
        void run() throws IOException;
    }

    private static Line over(Transport transport, Selector selector) throws IOException {
        Connected pair = Connected.over(transport);
        pair.channel().configureBlocking(false);
        SelectionKey key = pair.channel().register(selector, SelectionKey.OP_READ);
        return new Line(key, () -> pair.peer().write(ByteBuffer.allocate(1)),
                () -> takeOne(pair.channel().read(ByteBuffer.allocate(1))), pair);
    }

    private static void takeOne(int count) {
        assertThat(count).isOne();
    }

    private static Line ofPipe(Selector selector) throws IOException {
        Pipe pipe = new RdmaSelectorProvider().openPipe();
        pipe.source().configureBlocking(false);
        SelectionKey key = pipe.source().register(selector, SelectionKey.OP_READ);
        return new Line(key, () -> pipe.sink().write(ByteBuffer.allocate(1)),
                () -> takeOne(pipe.source().read(ByteBuffer.allocate(1))), () -> {
                    pipe.sink().close();
                    pipe.source().close();
                });
    }

    private static Line ofDatagrams(Selector selector) throws IOException {
        DatagramChannel receiver = new RdmaSelectorProvider().openDatagramChannel()
                .bind(Transport.loopback(0));
        receiver.configureBlocking(false);
        DatagramChannel sender = new RdmaSelectorProvider().openDatagramChannel();
        InetSocketAddress to = (InetSocketAddress) receiver.getLocalAddress();
        SelectionKey key = receiver.register(selector, SelectionKey.OP_READ);
        return new Line(key, () -> sender.send(ByteBuffer.allocate(1), to),
                () -> assertThat(receiver.receive(ByteBuffer.allocate(1))).isNotNull(), () -> {
                    receiver.close();
                    sender.close();
                });
    }

    private static List<Line> lines(Selector selector, boolean hasRdma) throws IOException {
        List<Line> lines = new ArrayList<>();
        lines.add(ofPipe(selector));
        lines.add(ofDatagrams(selector));
        lines.add(over(Transport.TCP, selector));
        if (hasRdma) {
            lines.add(over(Transport.ROCE, selector));
            lines.add(over(Transport.IWARP, selector));
        }
        return lines;
    }

    private static void end(List<Line> lines) throws Exception {
        for (Line line : lines) {
            line.end().close();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void eachIsSelectedAtOnce(boolean hasRdma) throws Exception {
        try (Selector selector = RdmaSockets.openSelector()) {
            List<Line> lines = lines(selector, hasRdma);
            assertThat(selector.selectNow()).isZero();
            for (Line line : lines) {
                line.send().run();
                assertThat(selector.select()).isOne();
                assertThat(selector.selectedKeys()).containsExactly(line.key());
                assertThat(line.key().isReadable()).isTrue();
                selector.selectedKeys().clear();
                assertThat(selector.selectNow()).isOne();
                selector.selectedKeys().clear();
                line.receive().run();
                assertThat(selector.selectNow()).isZero();
                assertThat(selector.select(1)).isZero();
            }
            end(lines);
        }
    }

    /** What was sent is seen by the next look at the JDK's channels, though a thread waits for them meanwhile. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void looksAreNotLate(boolean hasRdma) throws Exception {
        try (Selector selector = RdmaSockets.openSelector()) {
            List<Line> lines = lines(selector, hasRdma);
            Line pipe = lines.getFirst();
            for (int i = 0; i < 200; i++) {
                assertThat(selector.select(1)).isZero();
                pipe.send().run();
                assertThat(selector.selectNow()).isOne();
                selector.selectedKeys().clear();
                pipe.receive().run();
            }
            end(lines);
        }
    }

    /** One thread sends on any of them, in any order; the other sees each once. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void oneThreadWaitsForAll(boolean hasRdma) throws Exception {
        int messages = 2_000;
        try (Selector selector = RdmaSockets.openSelector()) {
            List<Line> lines = lines(selector, hasRdma);
            AtomicReference<Exception> failure = new AtomicReference<>();
            // UDP drops what its buffer has no room for.
            Semaphore room = new Semaphore(50);
            Thread sender = Thread.ofPlatform().start(() -> {
                try {
                    Random random = new Random(1);
                    for (int i = 0; i < messages; i++) {
                        room.acquireUninterruptibly();
                        lines.get(random.nextInt(lines.size())).send().run();
                    }
                } catch (IOException | RuntimeException e) {
                    failure.set(e);
                }
            });
            for (int received = 0; received < messages;) {
                // No selection ends without a reason, and none is without end.
                assertThat(selector.select()).isPositive();
                for (SelectionKey key : selector.selectedKeys()) {
                    for (Line line : lines) {
                        if (line.key().equals(key)) {
                            line.receive().run();
                            received++;
                            room.release();
                        }
                    }
                }
                selector.selectedKeys().clear();
            }
            sender.join();
            assertThat(failure.get()).isNull();
            assertThat(selector.selectNow()).isZero();
            end(lines);
        }
    }

    /** How each way ends a wait among the JDK's channels. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void wakeUpsAndInterruptsEndTheWait(boolean hasRdma) throws Exception {
        try (Selector selector = RdmaSockets.openSelector()) {
            List<Line> lines = lines(selector, hasRdma);
            AtomicReference<Object> seen = new AtomicReference<>();
            for (int i = 0; i < 200; i++) {
                Thread thread = Thread.ofPlatform().start(() -> {
                    try {
                        seen.set(selector.select() + " " + Thread.currentThread().isInterrupted());
                    } catch (IOException | RuntimeException e) {
                        seen.set(e);
                    }
                });
                boolean isInterrupt = i % 2 == 1;
                if (isInterrupt) {
                    thread.interrupt();
                } else {
                    selector.wakeup();
                }
                thread.join();
                assertThat(seen.get()).isEqualTo("0 " + isInterrupt);
            }
            end(lines);
        }
    }

    /** The last of the JDK's channels goes, and the one over RDMA is ready as it was. */
    @Test
    void channelOverRdmaIsLeftAlone() throws Exception {
        try (Selector selector = RdmaSockets.openSelector();
                Connected rdma = Connected.over(Transport.ROCE)) {
            rdma.channel().configureBlocking(false);
            rdma.channel().register(selector, SelectionKey.OP_READ);
            Line pipe = ofPipe(selector);
            rdma.peer().write(ByteBuffer.allocate(1));
            Wait.until("it is ready without a wait", () -> selector.selectNow() == 1);
            selector.selectedKeys().clear();
            pipe.key().cancel();
            assertThat(selector.select(5_000)).isOne();
            selector.selectedKeys().clear();
            assertThat(rdma.channel().read(ByteBuffer.allocate(9))).isOne();
            assertThat(selector.select(1)).isZero();
            pipe.end().close();
        }
    }

    /** The last channel over RDMA is closed, which marks its key, and the thread waits for the JDK's without looking again and again. */
    @Test
    void closedChannelOverRdmaLeavesAThreadThatWaits() throws Exception {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        try (Selector selector = RdmaSockets.openSelector();
                Connected rdma = Connected.over(Transport.ROCE)) {
            Line pipe = ofPipe(selector);
            register(rdma, selector);
            assertThat(selector.select(1)).isZero();
            rdma.channel().close();
            assertThat(selector.select(1)).isZero();
            long startNs = System.nanoTime();
            long cpuNs = threads.getCurrentThreadCpuTime();
            assertThat(selector.select(500)).isZero();
            assertThat(threads.getCurrentThreadCpuTime() - cpuNs)
                    .isLessThan((System.nanoTime() - startNs) / 50);
            assertThat(selector.keys()).hasSize(1);
            pipe.end().close();
        }
    }

    @Test
    void interestAndCancellation() throws Exception {
        try (Selector selector = RdmaSockets.openSelector();
                Connected rdma = Connected.over(Transport.ROCE)) {
            Pipe pipe = new RdmaSelectorProvider().openPipe();
            pipe.source().configureBlocking(false);
            rdma.channel().configureBlocking(false);
            rdma.channel().register(selector, SelectionKey.OP_READ);
            for (int i = 0; i < 20; i++) {
                SelectionKey key = pipe.source().register(selector, 0);
                pipe.sink().write(ByteBuffer.allocate(1));
                assertThat(selector.select(1)).isZero();
                key.interestOps(SelectionKey.OP_READ);
                assertThat(selector.select()).isOne();
                assertThat(key.readyOps()).isEqualTo(SelectionKey.OP_READ);
                key.interestOps(0);
                selector.selectedKeys().clear();
                assertThat(selector.select(1)).isZero();
                key.cancel();
                assertThat(selector.selectNow()).isZero();
                assertThat(pipe.source().isRegistered()).isFalse();
                pipe.source().configureBlocking(true);
                assertThat(pipe.source().read(ByteBuffer.allocate(1))).isOne();
                pipe.source().configureBlocking(false);
            }
            pipe.sink().close();
            pipe.source().close();
        }
    }

    /** A channel that stands before one of the JDK's, once it knows that. */
    private static final class Front extends BareChannel {
        private volatile @Nullable SocketChannel behind;
        private final ChannelReadiness readiness = new ChannelReadiness() {
            @Override
            int readyOps(int operations) {
                return 0;
            }

            @Override
            @Nullable
            SelectableChannel delegate() {
                return behind;
            }
        };

        void standBefore(SocketChannel channel) throws IOException {
            channel.configureBlocking(isBlocking());
            behind = channel;
            readiness.onRedirected();
        }

        @Override
        public ChannelReadiness readiness() {
            return readiness;
        }

        @Override
        protected void implConfigureBlocking(boolean isBlocking) throws IOException {
            readiness.releaseDelegate();
            SocketChannel present = behind;
            if (present != null) {
                present.configureBlocking(isBlocking);
            }
        }

        @Override
        protected void implCloseSelectableChannel() throws IOException {
            SocketChannel present = behind;
            if (present != null) {
                present.close();
            }
        }
    }

    /** It may block as soon as its key is cancelled, though nobody has told that the key of the channel behind it. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void channelBehindAnother(boolean hasRdma) throws Exception {
        try (Selector selector = RdmaSockets.openSelector();
                Connected rdma = Connected.over(Transport.ROCE);
                Connected pair = Connected.over(Transport.TCP)) {
            if (hasRdma) {
                rdma.channel().configureBlocking(false);
                rdma.channel().register(selector, SelectionKey.OP_READ);
            }
            Front front = new Front();
            front.configureBlocking(false);
            SelectionKey key = front.register(selector, SelectionKey.OP_READ);
            OneSelection selecting = OneSelection.waiting(selector);
            front.standBefore(pair.channel());
            pair.peer().write(ByteBuffer.allocate(1));
            selecting.assertFinds(1);
            for (int i = 0; i < 10; i++) {
                assertThat(selector.selectedKeys()).containsExactly(key);
                selector.selectedKeys().clear();
                key.cancel();
                front.configureBlocking(true);
                assertThat(pair.channel().read(ByteBuffer.allocate(1))).isOne();
                front.configureBlocking(false);
                assertThat(selector.selectNow()).isZero();
                key = front.register(selector, SelectionKey.OP_READ);
                assertThat(selector.select(1)).isZero();
                pair.peer().write(ByteBuffer.allocate(1));
                assertThat(selector.select()).isOne();
            }
            front.close();
        }
    }

    /** A channel becomes ready after it was looked at, and before the thread waits among the JDK's, because another one leads. */
    @Test
    void readyBetweenTheLookAndTheWait() throws Exception {
        try (Selector selector = RdmaSockets.openSelector();
                SwitchedChannel first = new SwitchedChannel();
                SwitchedChannel second = new SwitchedChannel()) {
            Line pipe = ofPipe(selector);
            SelectionKey key = first.register(selector, SelectionKey.OP_READ);
            second.register(selector, SelectionKey.OP_READ);
            second.onLook = () -> {
                if (!first.isReady) {
                    first.becomeReady();
                }
            };
            // A virtual thread never leads.
            OneSelection selecting = OneSelection.begin(selector, Thread.ofVirtual());
            selecting.assertFinds(1);
            assertThat(selector.selectedKeys()).containsExactly(key);
            pipe.end().close();
        }
    }

    /** The interest goes, and comes again while the thread still waits. What became ready meanwhile counts. */
    @Test
    void interestThatGoesAndComes() throws Exception {
        try (Selector selector = RdmaSockets.openSelector();
                SwitchedChannel channel = new SwitchedChannel();
                SwitchedChannel other = new SwitchedChannel()) {
            SelectionKey key = channel.register(selector, SelectionKey.OP_READ);
            other.register(selector, SelectionKey.OP_READ);
            OneSelection selecting = OneSelection.waiting(selector);
            key.interestOps(0);
            channel.becomeReady();
            CountDownLatch isPast = new CountDownLatch(1);
            other.onLook = isPast::countDown;
            other.mark();
            // The one that was marked before it has been looked at, too.
            isPast.await();
            key.interestOps(SelectionKey.OP_READ);
            selecting.assertFinds(1);
            assertThat(selector.selectedKeys()).containsExactly(key);
        }
    }

    /** A channel goes before the selector has taken it over, while a thread waits for others over TCP and over RDMA. */
    @Test
    void keyThatIsCancelledBeforeTheFirstSelection() throws Exception {
        try (Selector selector = RdmaSockets.openSelector();
                Connected rdma = Connected.over(Transport.RULED_RDMA);
                Connected tcp = Connected.over(Transport.RULED_TCP);
                Connected passing = Connected.over(Transport.RULED_TCP)) {
            register(rdma, selector);
            SelectionKey key = register(tcp, selector);
            for (int i = 0; i < 10; i++) {
                OneSelection selecting = OneSelection.waiting(selector);
                SelectionKey gone = register(passing, selector);
                gone.cancel();
                passing.channel().configureBlocking(true);
                passing.peer().write(ByteBuffer.allocate(1));
                assertThat(passing.channel().read(ByteBuffer.allocate(1))).isOne();
                tcp.peer().write(ByteBuffer.allocate(1));
                selecting.assertFinds(1);
                assertThat(selector.selectedKeys()).containsExactly(key);
                selector.selectedKeys().clear();
                assertThat(tcp.channel().read(ByteBuffer.allocate(9))).isOne();
                assertThat(selector.selectNow()).isZero();
                assertThat(selector.keys()).hasSize(2);
            }
        }
    }

    private static SelectionKey register(Connected pair, Selector selector) throws IOException {
        pair.channel().configureBlocking(false);
        return pair.channel().register(selector, SelectionKey.OP_READ);
    }

    /** The system has no descriptors for the selector of the JDK's, and then it has. */
    @Test
    void channelIsWaitedForThoughTheFirstSelectionHasFailed() throws Exception {
        AtomicBoolean isPossible = new AtomicBoolean();
        RdmaSelector.Opening opening = () -> {
            if (!isPossible.get()) {
                throw new IOException("Too many open files");
            }
            return JdkProvider.provider().openSelector();
        };
        try (Selector selector = new RdmaSelector(new RdmaSelectorProvider(), opening)) {
            Line pipe = ofPipe(selector);
            pipe.send().run();
            for (int i = 0; i < 2; i++) {
                assertThatThrownBy(selector::selectNow).isInstanceOf(IOException.class)
                        .hasMessage("Too many open files");
            }
            isPossible.set(true);
            assertThat(selector.selectNow()).isOne();
            assertThat(selector.selectedKeys()).containsExactly(pipe.key());
            pipe.end().close();
        }
    }

    /** Who selects waits for both kinds of channels itself. */
    @Test
    void selectorHasNoThread() throws Exception {
        Selector selector = RdmaSockets.openSelector();
        List<Line> lines = lines(selector, true);
        Set<Thread> known = allThreads();
        for (int i = 0; i < 3; i++) {
            assertThat(selector.select(20)).isZero();
            assertThat(allThreads()).isSubsetOf(known);
        }
        selector.close();
        for (Line line : lines) {
            assertThat(line.key().isValid()).isFalse();
            assertThat(line.key().channel().isRegistered()).isFalse();
        }
        end(lines);
    }

    /** It is woken where the packets arrive, by each of them, and by no other thread. */
    @ParameterizedTest
    @EnumSource(names = {"ROCE", "IWARP"})
    @EnabledOnOs(OS.LINUX)
    void selectingThreadSleepsInTheNetwork(Transport transport) throws Exception {
        Selector selector = RdmaSockets.openSelector();
        List<Line> lines = List.of(over(transport, selector), ofPipe(selector),
                over(Transport.TCP, selector));
        BlockingQueue<Object> seen = new LinkedBlockingQueue<>();
        Thread selecting = Thread.ofPlatform().start(() -> {
            try {
                while (selector.isOpen()) {
                    selector.select(key -> seen.add(received(key, lines)));
                }
            } catch (IOException | RuntimeException e) {
                seen.add(e);
            }
        });
        // The daemon thread leads until it sees that this one comes back: at first, and each time the system has kept this one waiting.
        for (int i = 0; i < 30; i++) {
            Line line = lines.get(i % lines.size());
            Wait.until("it sleeps in the network", () -> isInNetwork(selecting), selector::wakeup);
            line.send().run();
            assertThat(seen.take()).isSameAs(line);
        }
        try (Connected passing = Connected.over(Transport.RULED_TCP)) {
            for (int i = 0; i < 30; i++) {
                SelectionKey gone = register(passing, selector);
                selector.wakeup();
                Wait.until("it sleeps there again", () -> isInNetwork(selecting),
                        selector::wakeup);
                gone.cancel();
                passing.channel().configureBlocking(true);
                Wait.until("the key is gone", () -> passing.channel().keyFor(selector) == null,
                        selector::wakeup);
            }
        }
        selector.close();
        selecting.join();
        end(lines);
    }

    /** {@return the line that a key is of, of which one message was received} */
    private static Line received(SelectionKey key, List<Line> lines) {
        for (Line line : lines) {
            if (line.key().equals(key)) {
                try {
                    line.receive().run();
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
                return line;
            }
        }
        throw new AssertionError("no line has " + key);
    }

    private static boolean isInNetwork(Thread thread) {
        return Arrays.stream(thread.getStackTrace())
                .anyMatch(each -> each.getClassName().endsWith(".SocketPoller"));
    }

    private static Set<Thread> allThreads() {
        return Thread.getAllStackTraces().keySet();
    }
}
