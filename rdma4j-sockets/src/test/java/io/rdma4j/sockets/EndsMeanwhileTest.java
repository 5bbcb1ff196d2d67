// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import io.rdma4j.testkit.Wait;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NetworkChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.concurrent.atomic.AtomicReference;
import java.util.logging.Logger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Channels that are closed, or whose thread is interrupted, in the middle of a call that succeeds: nothing of it is left. */
class EndsMeanwhileTest {
    private static final Logger OF_LISTENERS = Logger
            .getLogger(ListenerPair.class.getName());
    private static final int PATIENCE_MS = 20_000;
    /** The moments that count are short, so they are looked for. */
    private static final int TRIES = 50;
    private static final long STEP_NS = 12_000;

    private interface Call {
        void run() throws IOException;
    }

    /** Starts a call that another thread may end. */
    private static Thread begin(Call call) {
        return Thread.ofPlatform().start(() -> {
            try {
                call.run();
            } catch (ClosedChannelException e) {
                // That is the end.
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    // ---------------------------------------------------------------- interrupts

    @Test
    void connectionThatAnInterruptKeepsFromItsThreadEnds() throws Exception {
        for (int i = 0; i < TRIES; i++) {
            try (RdmaServerSocketChannel listener = (RdmaServerSocketChannel) Transport.ROCE
                    .listen(); SocketChannel client = Transport.ROCE.open()) {
                client.connect(listener.getLocalAddress());
                Wait.until("a connection can be taken", () -> hasAny(listener));
                AtomicReference<SocketChannel> taken = new AtomicReference<>();
                Thread taker = begin(() -> taken.set(listener.accept()));
                while (hasAny(listener) && taker.isAlive()) {
                    Thread.onSpinWait();
                }
                interrupt(taker, taken);
                assertHasEnded(client.socket());
            }
        }
    }

    private static boolean hasAny(RdmaServerSocketChannel listener) {
        return listener.readiness().readyOps(SelectionKey.OP_ACCEPT) != 0;
    }

    @ParameterizedTest
    @EnumSource(names = {"ROCE", "TCP"})
    void connectionThatAnInterruptKeepsFromAThreadThatWaitsForBothKindsEnds(Transport ofClient)
            throws Exception {
        for (int i = 0; i < TRIES; i++) {
            try (ServerSocketChannel listener = Transport.RULED_AUTO.listen();
                    SocketChannel client = ofClient.open()) {
                AtomicReference<SocketChannel> taken = new AtomicReference<>();
                Thread taker = begin(() -> taken.set(listener.accept()));
                Wait.until("the thread waits",
                        () -> taker.getState() == Thread.State.TIMED_WAITING
                                || taker.getState() == Thread.State.WAITING);
                client.connect(listener.getLocalAddress());
                spin(i);
                interrupt(taker, taken);
                assertHasEnded(client.socket());
            }
        }
    }

    /** Interrupts a thread, and closes what it has got if that was too late. */
    private static void interrupt(Thread taker, AtomicReference<SocketChannel> taken)
            throws Exception {
        taker.interrupt();
        taker.join();
        SocketChannel accepted = taken.get();
        if (accepted != null) {
            accepted.close();
        }
    }

    private static void assertHasEnded(Socket client) throws IOException {
        client.setSoTimeout(PATIENCE_MS);
        try {
            assertThat(client.getInputStream().read()).isEqualTo(-1);
        } catch (SocketException reset) {
            // That is an end as well.
        }
    }

    // ---------------------------------------------------------------- closing

    /** It says that it listens over TCP alone, and is closed by who hears that. */
    @Test
    void listenerThatIsClosedBeforeItHasBoundGivesThePortBack() throws Exception {
        InetSocketAddress address = Transport.RULED_AUTO.unusedAddress();
        try (ServerSocketChannel overRdma = Transport.ROCE.openListener().bind(address);
                ServerSocketChannel listener = Transport.RULED_AUTO.openListener()) {
            OF_LISTENERS.setFilter(line -> {
                close(listener);
                return false;
            });
            assertThatExceptionOfType(AsynchronousCloseException.class)
                    .isThrownBy(() -> listener.bind(overRdma.getLocalAddress()));
            Transport.TCP.openListener().bind(address).close();
        } finally {
            OF_LISTENERS.setFilter(null);
        }
    }

    private static void close(NetworkChannel channel) {
        try {
            channel.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"RULED_RDMA", "RULED_TCP", "RULED_AUTO"})
    void listenerThatIsClosedWhileItBindsGivesThePortBack(Transport transport) throws Exception {
        for (int i = 0; i < TRIES; i++) {
            InetSocketAddress address = transport.unusedAddress();
            try (ServerSocketChannel listener = transport.openListener()) {
                closeDuring(() -> listener.bind(address), listener, i);
            }
            transport.openListener().bind(address).close();
        }
    }

    @Test
    void clientThatIsClosedWhileItBindsGivesThePortBack() throws Exception {
        for (int i = 0; i < TRIES; i++) {
            InetSocketAddress address = Transport.RULED_AUTO.unusedAddress();
            try (SocketChannel client = Transport.RULED_AUTO.open()) {
                closeDuring(() -> client.bind(address), client, i);
            }
            Transport.TCP.openListener().bind(address).close();
        }
    }

    @Test
    void connectionOfAClientThatIsClosedWhileItBeginsToConnectEnds() throws Exception {
        for (int i = 0; i < TRIES; i++) {
            try (ServerSocketChannel listener = Transport.TCP.listen();
                    SocketChannel client = Transport.RULED_FALLBACK.open()) {
                client.configureBlocking(false);
                InetSocketAddress to = (InetSocketAddress) listener.getLocalAddress();
                closeDuring(() -> client.connect(to), client, i);
                Wait.until("it does not connect any more", () -> !isConnecting());
                // What has reached the listener nevertheless is before this one.
                try (SocketChannel last = SocketChannel.open(listener.getLocalAddress());
                        SocketChannel first = listener.accept()) {
                    if (!first.getRemoteAddress().equals(last.getLocalAddress())) {
                        assertHasEnded(first.socket());
                    }
                }
            }
        }
    }

    private static boolean isConnecting() {
        return Thread.getAllStackTraces().keySet().stream()
                .anyMatch(thread -> thread.getName().equals("rdma4j-connect"));
    }

    /** @param step the higher, the later it is closed */
    private static void closeDuring(Call call, NetworkChannel channel, int step)
            throws Exception {
        Thread caller = begin(call);
        spin(step);
        channel.close();
        caller.join();
    }

    private static void spin(int step) {
        long endNs = System.nanoTime() + step * STEP_NS;
        while (System.nanoTime() < endNs) {
            Thread.onSpinWait();
        }
    }
}
