// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import io.rdma4j.testkit.Wait;
import io.rdma4j.verbs.WaitSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Threads that wait in a channel while others close it, half of it, or interrupt them; and ends that come from the peer: over RDMA
 * as over TCP, in platform threads and in virtual ones.
 */
class ThreadContractTest {
    /** What a thread does that waits. */
    interface Blocking {
        Object call() throws Exception;
    }

    /** What ends its wait. */
    interface Ending {
        void end(Thread waiting) throws Exception;
    }

    /** {@return how the wait of a thread ends, and whether it is interrupted afterwards} */
    static String outcome(boolean isVirtual, Blocking blocking, Ending ending)
            throws Exception {
        AtomicReference<String> seen = new AtomicReference<>("");
        Thread thread = (isVirtual ? Thread.ofVirtual() : Thread.ofPlatform()).unstarted(() -> {
            String result;
            try {
                result = String.valueOf(blocking.call());
            } catch (Exception e) {
                result = e.getClass().getName();
            }
            seen.set(result + (Thread.currentThread().isInterrupted() ? ", interrupted" : ""));
        });
        thread.start();
        Wait.until("the thread waits", () -> switch (thread.getState()) {
            case WAITING, TIMED_WAITING -> true;
            // The JDK's channels wait in a system call, and so does a device that the thread runs.
            case RUNNABLE -> isInSystemCall(thread);
            default -> false;
        });
        ending.end(thread);
        thread.join();
        return Objects.requireNonNull(seen.get());
    }

    static boolean isInSystemCall(Thread thread) {
        StackTraceElement[] stack = thread.getStackTrace();
        boolean runsDevice = Arrays.stream(stack)
                .anyMatch(frame -> frame.getClassName().equals(WaitSet.class.getName()));
        return runsDevice || (stack.length > 0 && stack[0].isNativeMethod()
                && List.of("poll", "accept", "connect0", "pollConnect", "read0", "receive0",
                        "write0",
                        "wait")
                        .contains(stack[0].getMethodName()));
    }

    @ParameterizedTest
    @CsvSource({"ROCE, false", "ROCE, true", "IWARP, false", "IWARP, true"})
    void waitsEndAsOverTcp(Transport transport, boolean isVirtual) throws Exception {
        assertThat(waits(transport, isVirtual)).isEqualTo(waits(Transport.TCP, isVirtual));
    }

    private static List<String> waits(Transport transport, boolean isVirtual) throws Exception {
        List<String> seen = new ArrayList<>();
        try (Connected pair = Connected.over(transport)) {
            seen.add("read, closed: " + outcome(isVirtual, () -> read(pair.channel()),
                    waiting -> pair.channel().close()));
            seen.add("peer: " + read(pair.peer()));
        }
        try (Connected pair = Connected.over(transport)) {
            seen.add("read, interrupted: " + outcome(isVirtual, () -> read(pair.channel()),
                    Thread::interrupt));
            seen.add("open: " + pair.channel().isOpen() + ", peer: " + read(pair.peer()));
        }
        try (Connected pair = Connected.over(transport)) {
            seen.add("read, input shut: " + outcome(isVirtual, () -> read(pair.channel()),
                    waiting -> pair.channel().shutdownInput()));
            seen.add("write then: " + pair.channel().write(ByteBuffer.allocate(9)));
        }
        try (Connected pair = Connected.over(transport)) {
            seen.add("read, peer's output shut: " + outcome(isVirtual,
                    () -> read(pair.channel()), waiting -> pair.peer().shutdownOutput()));
            seen.add("write then: " + pair.channel().write(ByteBuffer.allocate(9)) + " "
                    + read(pair.peer()));
        }
        try (Connected pair = Connected.over(transport)) {
            seen.add("read, peer closed: " + outcome(isVirtual, () -> read(pair.channel()),
                    waiting -> pair.peer().close()));
        }
        try (Connected pair = Connected.over(transport)) {
            seen.add("read, bytes came: " + outcome(isVirtual, () -> read(pair.channel()),
                    waiting -> pair.peer().write(ByteBuffer.allocate(7))));
        }
        try (Connected pair = Connected.over(transport)) {
            // A write that was partial returns, and the next one finds the channel closed.
            seen.add("write, closed: " + outcome(isVirtual, () -> fill(pair.channel()),
                    waiting -> pair.channel().close()).replace("AsynchronousClose",
                            "ClosedChannel"));
        }
        try (Connected pair = Connected.over(transport)) {
            seen.add("write, interrupted: " + outcome(isVirtual, () -> fill(pair.channel()),
                    Thread::interrupt));
        }
        try (Connected pair = Connected.over(transport)) {
            seen.add("write, output shut: " + outcome(isVirtual, () -> fill(pair.channel()),
                    waiting -> pair.channel().shutdownOutput()));
        }
        ServerSocketChannel closing = transport.listen();
        seen.add("accept, closed: " + outcome(isVirtual, closing::accept,
                waiting -> closing.close()));
        try (ServerSocketChannel listener = transport.listen()) {
            seen.add("accept, interrupted: " + outcome(isVirtual, listener::accept,
                    Thread::interrupt));
            seen.add("open: " + listener.isOpen());
        }
        return seen;
    }

    @ParameterizedTest
    @CsvSource({"ROCE, false", "ROCE, true", "IWARP, false", "IWARP, true", "RULED_TCP, false",
        "RULED_RDMA, true"})
    void connectingEndsAsOverTcp(Transport transport, boolean isVirtual) throws Exception {
        assertThat(connects(transport, isVirtual)).isEqualTo(connects(Transport.TCP, isVirtual));
    }

    private static List<String> connects(Transport transport, boolean isVirtual)
            throws Exception {
        List<String> seen = new ArrayList<>();
        Ending interruption = Thread::interrupt;
        try (SilentPeer peer = SilentPeer.of(transport)) {
            for (boolean isFinished : new boolean[]{false, true}) {
                for (boolean isInterrupted : new boolean[]{false, true}) {
                    SocketChannel channel = transport.open();
                    if (isFinished) {
                        channel.configureBlocking(false);
                        seen.add("begun: " + channel.connect(peer.address()));
                        channel.configureBlocking(true);
                    }
                    seen.add((isFinished ? "finishConnect" : "connect")
                            + (isInterrupted ? ", interrupted: " : ", closed: ")
                            + outcome(isVirtual, () -> isFinished
                                    ? channel.finishConnect()
                                    : channel.connect(peer.address()),
                                    isInterrupted ? interruption : waiting -> channel.close()));
                    seen.add("open: " + channel.isOpen());
                }
            }
            try (SocketChannel channel = transport.open()) {
                Socket socket = channel.socket();
                assertThatThrownBy(() -> socket.connect(peer.address(), 50))
                        .isInstanceOf(java.net.SocketTimeoutException.class);
                seen.add("open after its time: " + channel.isOpen());
            }
        }
        return seen;
    }

    private static int read(SocketChannel from) throws IOException {
        return from.read(ByteBuffer.allocate(100));
    }

    /** Writes until nothing ends that but an exception. */
    private static Object fill(SocketChannel to) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocate(10_000_000);
        while (true) {
            to.write(buffer.clear());
        }
    }

    @ParameterizedTest
    @EnumSource
    void threadThatIsInterruptedBeforeDoesNotWait(Transport transport) throws Exception {
        try (Connected pair = Connected.over(transport)) {
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> read(pair.channel()))
                    .isInstanceOf(java.nio.channels.ClosedByInterruptException.class);
            assertThat(Thread.interrupted()).isTrue();
            assertThat(pair.channel().isOpen()).isFalse();
        }
    }

    /** A channel whose socket was interrupted is closed, for whoever asks channel or socket. */
    @ParameterizedTest
    @EnumSource
    void readerOfAChannelsSocketThatIsInterruptedClosesTheChannel(Transport transport)
            throws Exception {
        for (int timeoutMs : new int[]{0, 20_000}) {
            for (boolean isVirtual : new boolean[]{false, true}) {
                try (Connected pair = Connected.over(transport)) {
                    Socket socket = pair.channel().socket();
                    socket.setSoTimeout(timeoutMs);
                    assertThat(outcome(isVirtual, () -> socket.getInputStream().read(),
                            Thread::interrupt)).isEqualTo(
                                    "java.nio.channels.ClosedByInterruptException, interrupted");
                    assertThat(pair.channel().isOpen()).isFalse();
                    assertThat(socket.isClosed()).isTrue();
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void secondReaderWaitsForTheFirst(Transport transport) throws Exception {
        try (Connected pair = Connected.over(transport)) {
            AtomicReference<String> first = new AtomicReference<>();
            Thread reader = Thread.ofVirtual().start(() -> {
                try {
                    first.set("" + read(pair.channel()));
                } catch (IOException e) {
                    first.set(e.getClass().getSimpleName());
                }
            });
            Wait.until("the first reads", () -> reader.getState() == Thread.State.WAITING);
            String second = outcome(false, () -> read(pair.channel()),
                    waiting -> pair.channel().close());
            reader.join();
            assertThat(first.get()).isEqualTo("AsynchronousCloseException");
            assertThat(second).isEqualTo("java.nio.channels.ClosedChannelException");
        }
    }

    /** Both reader and writer are woken. */
    @ParameterizedTest
    @EnumSource
    void readerAndWriterWaitAtOnce(Transport transport) throws Exception {
        try (Connected pair = Connected.over(transport)) {
            AtomicReference<String> writer = new AtomicReference<>();
            Thread writing = Thread.ofVirtual().start(() -> {
                try {
                    fill(pair.channel());
                } catch (IOException e) {
                    writer.set(e.getClass().getSimpleName());
                }
            });
            Wait.until("it writes", () -> writing.getState() == Thread.State.WAITING);
            assertThat(outcome(true, () -> read(pair.channel()),
                    waiting -> pair.peer().write(ByteBuffer.allocate(3)))).isEqualTo("3");
            assertThat(outcome(true, () -> read(pair.channel()),
                    waiting -> pair.channel().close()))
                    .isEqualTo("java.nio.channels.AsynchronousCloseException");
            writing.join();
            // If it has written some of its bytes, its next call finds the channel closed.
            assertThat(writer.get()).isIn("ClosedChannelException", "AsynchronousCloseException");
        }
    }

    @ParameterizedTest
    @EnumSource
    void peerThatLingersForNoTimeResets(Transport transport) throws Exception {
        try (Connected pair = Connected.over(transport)) {
            pair.peer().setOption(StandardSocketOptions.SO_LINGER, 0);
            pair.peer().close();
            assertThatThrownBy(() -> read(pair.channel())).isInstanceOf(SocketException.class)
                    .hasMessageContaining("Connection reset");
            assertThatThrownBy(() -> read(pair.channel())).isInstanceOf(SocketException.class);
        }
    }

    @ParameterizedTest
    @EnumSource
    void writesToAPeerThatHasClosedFailInTheEnd(Transport transport) throws Exception {
        try (Connected pair = Connected.over(transport)) {
            pair.peer().close();
            assertThat(read(pair.channel())).isEqualTo(-1);
            assertThatThrownBy(() -> Wait.until("a write fails",
                    () -> pair.channel().write(ByteBuffer.allocate(1000)) < 0))
                    .isInstanceOf(IOException.class);
            assertThat(pair.channel().isOpen()).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource
    void whatWasWrittenBeforeTheCloseIsRead(Transport transport) throws Exception {
        try (Connected pair = Connected.over(transport)) {
            pair.peer().write(ByteBuffer.allocate(50_000));
            pair.peer().close();
            long received = 0;
            for (int count = 0; count >= 0; count = read(pair.channel())) {
                received += count;
            }
            assertThat(received).isEqualTo(50_000);
        }
    }

    @ParameterizedTest
    @CsvSource({"TCP, true", "TCP, false", "ROCE, true", "ROCE, false", "IWARP, true",
        "IWARP, false"})
    void refusedConnectionClosesTheChannel(Transport transport, boolean isBlocking)
            throws Exception {
        InetSocketAddress nobody = transport.unusedAddress();
        try (SocketChannel channel = transport.open()) {
            channel.configureBlocking(isBlocking);
            assertThatThrownBy(() -> {
                channel.connect(nobody);
                Wait.until("it is refused", channel::finishConnect);
            }).isInstanceOf(java.net.ConnectException.class).hasMessageContaining("refused");
            assertThat(channel.isOpen()).isFalse();
        }
    }

    @ParameterizedTest
    @EnumSource
    void connectionsAreAcceptedInOrderAndBeforeAnybodyAsks(Transport transport)
            throws Exception {
        List<SocketChannel> clients = new ArrayList<>();
        try (ServerSocketChannel listener = transport.listen()) {
            for (int i = 0; i < 5; i++) {
                SocketChannel client = transport.open();
                clients.add(client);
                assertThat(client.connect(listener.getLocalAddress())).isTrue();
                client.write(ByteBuffer.allocate(1 + i));
            }
            for (int i = 0; i < 5; i++) {
                try (SocketChannel accepted = listener.accept()) {
                    assertThat(read(accepted)).isEqualTo(1 + i);
                    assertThat(accepted.getRemoteAddress())
                            .isEqualTo(clients.get(i).getLocalAddress());
                }
            }
            listener.configureBlocking(false);
            assertThat(listener.accept()).isNull();
        } finally {
            for (SocketChannel client : clients) {
                client.close();
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void channelThatDoesNotBlockConnectsMeanwhile(Transport transport) throws Exception {
        try (ServerSocketChannel listener = transport.listen();
                SocketChannel client = transport.open()) {
            client.configureBlocking(false);
            if (!client.connect(listener.getLocalAddress())) {
                assertThat(client.isConnectionPending()).isTrue();
                assertThatThrownBy(() -> client.connect(listener.getLocalAddress()))
                        .isInstanceOf(java.nio.channels.ConnectionPendingException.class);
                assertThatThrownBy(() -> read(client))
                        .isInstanceOf(java.nio.channels.NotYetConnectedException.class);
                Wait.until("it is connected", client::finishConnect);
            }
            assertThat(client.isConnected()).isTrue();
            assertThat(read(client)).isZero();
            try (SocketChannel accepted = listener.accept()) {
                accepted.write(ByteBuffer.allocate(4));
                Wait.until("bytes come", () -> read(client) == 4);
            }
        }
    }

    /** A full peer makes writes that do not block partial, and goes on where they have stopped. */
    @ParameterizedTest
    @EnumSource
    void writesThatDoNotBlockArePartial(Transport transport) throws Exception {
        try (Connected pair = Connected.over(transport)) {
            pair.channel().configureBlocking(false);
            ByteBuffer buffer = ByteBuffer.allocate(30_000_000);
            long written = pair.channel().write(buffer);
            while (true) {
                int more = pair.channel().write(buffer);
                if (more == 0) {
                    break;
                }
                written += more;
            }
            assertThat(buffer.position()).isEqualTo((int) written);
            assertThat(buffer.hasRemaining()).isTrue();
            long[] received = {0};
            Wait.until("everything has come", () -> received[0] == buffer.limit(), () -> {
                pair.channel().write(buffer);
                if (received[0] < buffer.position()) {
                    received[0] += pair.peer().read(ByteBuffer.allocate(1 << 20));
                }
            });
        }
    }

    /** The second half of the peer's buffer comes while nobody reads, writes or waits there. */
    @Test
    void nothingDependsOnThePeersApplication() throws Exception {
        try (Connected pair = Connected.over(Transport.ROCE)) {
            pair.channel().configureBlocking(false);
            ByteBuffer buffer = ByteBuffer.allocate(1 << 17);
            Wait.until("the whole receive buffer is full", () -> {
                pair.channel().write(buffer);
                return !buffer.hasRemaining();
            });
        }
    }
}
