// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.stream;

import io.rdma4j.testkit.Wait;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.function.BooleanSupplier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assumptions.assumeThat;

/** What every network of byte streams does, on this machine's TCP. */
public abstract class StreamContract {
    private static final InetAddress ADDRESS = InetAddress.getLoopbackAddress();
    static final InetSocketAddress ANY_PORT = new InetSocketAddress(ADDRESS, 0);
    protected static final int BIG = 16 << 20;

    protected final StreamNetwork network;
    protected final List<End> accepted = new ArrayList<>();

    protected StreamContract(StreamNetwork network) {
        this.network = network;
    }

    @AfterEach
    void close() {
        network.close();
    }

    /** One end of a stream, that reads what comes and writes what it is given. */
    protected static final class End implements Stream.Handler {
        @Nullable
        Stream stream;
        final ByteBuffer buffer = ByteBuffer.allocate(1 << 16);
        final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        public long received;
        public boolean hasEnded;
        boolean isConnected;
        public boolean isReading = true;
        /** Once. */
        boolean isThrowing;
        @Nullable
        Errno refusal;
        @Nullable
        ByteBuffer unsent;

        public Stream stream() {
            return Objects.requireNonNull(stream);
        }

        public void send(ByteBuffer bytes) {
            unsent = bytes;
            onWritable();
        }

        @Override
        public void onConnected() {
            isConnected = true;
        }

        @Override
        public void onRefused(Errno reason) {
            refusal = reason;
        }

        @Override
        public void onReadable() {
            if (isThrowing) {
                isThrowing = false;
                throw new AssertionError("a defect");
            }
            if (!isReading) {
                return;
            }
            int length = stream().read(buffer.clear());
            if (length == Stream.END) {
                hasEnded = true;
                stream().close();
            } else {
                received += length;
                bytes.write(buffer.array(), 0, length);
            }
        }

        @Override
        public void onWritable() {
            ByteBuffer bytes = unsent;
            if (bytes != null && bytes.hasRemaining()) {
                stream().write(bytes);
            }
        }
    }

    final StreamListener listen(InetSocketAddress at) throws RdmaException {
        return network.listen(at, 16, stream -> {
            End end = new End();
            end.stream = stream;
            stream.handler(end);
            accepted.add(end);
        });
    }

    final End connect(InetSocketAddress to) throws RdmaException {
        End end = new End();
        Stream stream = network.connect(null, to);
        stream.handler(end);
        end.stream = stream;
        return end;
    }

    protected final void until(String what, BooleanSupplier isTrue) throws Exception {
        Wait.until(what, () -> {
            network.poll();
            return isTrue.getAsBoolean();
        });
    }

    protected final End connected() throws Exception {
        StreamListener listener = listen(ANY_PORT);
        End end = connect(listener.local());
        until("both ends", () -> end.isConnected && accepted.size() == 1);
        return end;
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "::1"})
    void bytesPassBothWays(String address) throws Exception {
        InetAddress own = InetAddress.ofLiteral(address);
        assumeThat(NetworkInterface.getByInetAddress(own)).as("an interface with " + address)
                .isNotNull();
        StreamListener listener = listen(new InetSocketAddress(own, 0));
        End client = connect(listener.local());
        until("both ends", () -> client.isConnected && accepted.size() == 1);
        End server = accepted.getFirst();
        assertThat(server.stream().remote()).isEqualTo(client.stream().local());
        assertThat(client.stream().remote()).isEqualTo(listener.local());
        client.send(ByteBuffer.allocate(100));
        server.send(ByteBuffer.allocate(200));
        until("all bytes", () -> server.received == 100 && client.received == 200);
    }

    @Test
    void aBriefPollFindsWhatComesOnTheSameStream() throws Exception {
        End client = connected();
        End server = accepted.getFirst();
        client.send(ByteBuffer.allocate(100));
        until("the first bytes", () -> server.received == 100);
        client.send(ByteBuffer.allocate(50));
        Wait.until("the bytes behind them", () -> network.pollBriefly() && server.received == 150);
    }

    @Test
    void aStreamThatWasClosedIsNotLookedAtBriefly() throws Exception {
        End client = connected();
        End server = accepted.getFirst();
        client.send(ByteBuffer.allocate(100));
        until("the bytes", () -> server.received == 100);
        client.stream().close();
        Wait.until("the end", () -> {
            network.pollBriefly();
            return server.hasEnded;
        });
        while (network.pollBriefly()) {
            // What has just been closed is let go of.
        }
        assertThat(server.received).isEqualTo(100);
    }

    @Test
    void whatIsNotReadIsNotTaken() throws Exception {
        End client = connected();
        End server = accepted.getFirst();
        server.isReading = false;
        ByteBuffer bytes = ByteBuffer.allocate(BIG);
        client.send(bytes);
        assertThat(bytes.hasRemaining()).isTrue();
        server.isReading = true;
        until("all bytes", () -> server.received == BIG);
    }

    /** Whichever of them is the first. */
    @Test
    void aHandlerThatThrowsSilencesNoStream() throws Exception {
        StreamListener listener = listen(ANY_PORT);
        List<End> clients = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            clients.add(connect(listener.local()));
        }
        until("all ends", () -> accepted.size() == 4 && clients.stream().allMatch(
                client -> client.isConnected));
        for (End client : clients) {
            client.send(ByteBuffer.allocate(10));
        }
        accepted.forEach(server -> server.isThrowing = true);
        Wait.until("all handlers to have thrown and all bytes", () -> {
            try {
                network.poll();
            } catch (AssertionError defect) {
                assertThat(defect).hasMessage("a defect");
            }
            return accepted.stream().allMatch(server -> server.received == 10);
        });
        assertThat(accepted).noneMatch(server -> server.isThrowing);
    }

    @Test
    void theEndIsHeardBehindTheBytes() throws Exception {
        End client = connected();
        End server = accepted.getFirst();
        client.send(ByteBuffer.allocate(5000));
        client.stream().close();
        until("the end", () -> server.hasEnded);
        assertThat(server.received).isEqualTo(5000);
        assertThat(client.stream().write(ByteBuffer.allocate(1))).isEqualTo(Stream.END);
        assertThat(client.stream().read(ByteBuffer.allocate(1))).isEqualTo(Stream.END);
    }

    @Test
    void aStreamThatIsFinishedStillHears() throws Exception {
        End client = connected();
        End server = accepted.getFirst();
        server.isReading = false;
        client.send(ByteBuffer.allocate(5000));
        client.stream().finish();
        client.stream().finish();
        server.send(ByteBuffer.allocate(200));
        until("what comes behind it", () -> client.received == 200);
        assertThat(client.hasEnded).isFalse();
        server.isReading = true;
        until("the end on both sides", () -> server.hasEnded && client.hasEnded);
        assertThat(server.received).isEqualTo(5000);
    }

    @Test
    void aResetIsAnEnd() throws Exception {
        End client = connected();
        client.stream().reset();
        until("the end", () -> accepted.getFirst().hasEnded);
    }

    /** A peer that does not wait to be spoken to: its bytes are there when the connection is noticed. */
    @Test
    void bytesThatComeWithTheConnectionAreRead() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1, ADDRESS)) {
            End client = connect(new InetSocketAddress(ADDRESS, server.getLocalPort()));
            try (Socket peer = server.accept()) {
                peer.getOutputStream().write(new byte[10]);
                peer.shutdownOutput();
                until("the bytes, and the end", () -> client.received == 10 && client.hasEnded);
            }
        }
    }

    /** Really closed: its peer, which knows nothing of this network, sees it. */
    @Test
    void aClosedStreamIsClosedWhileAThreadSleeps() throws Exception {
        CountDownLatch isOver = new CountDownLatch(1);
        try (ServerSocket server = new ServerSocket(0, 1, ADDRESS)) {
            End client = connect(new InetSocketAddress(ADDRESS, server.getLocalPort()));
            until("a connection", () -> client.isConnected);
            try (Socket peer = server.accept()) {
                Thread sleeper = Thread.ofPlatform().start(() -> {
                    while (isOver.getCount() > 0) {
                        network.await(Long.MAX_VALUE);
                    }
                });
                client.stream().reset();
                network.poll();
                peer.setSoTimeout(10_000);
                assertThatExceptionOfType(IOException.class)
                        .isThrownBy(() -> peer.getInputStream().read())
                        .withMessageContaining("reset");
                isOver.countDown();
                network.wake();
                sleeper.join();
            }
        }
    }

    @Test
    void nobodyThereIsARefusal() throws Exception {
        int port;
        try (ServerSocket gone = new ServerSocket(0, 1, ADDRESS)) {
            port = gone.getLocalPort();
        }
        End client = connect(new InetSocketAddress(ADDRESS, port));
        until("a refusal", () -> client.refusal != null);
        assertThat(client.refusal).isEqualTo(Errno.ECONNREFUSED);
    }

    @Test
    void aPortHasOneListener() throws Exception {
        InetSocketAddress taken = listen(ANY_PORT).local();
        assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> listen(taken))
                .withMessageContaining("TCP port " + taken.getPort())
                .matches(e -> e.errno() == Errno.EADDRINUSE);
    }

    @Test
    void anAddressOfAnotherMachineCannotBeListenedAt() {
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> listen(new InetSocketAddress("198.51.100.7", 0)))
                .matches(e -> e.errno() == Errno.EADDRNOTAVAIL);
    }

    @Test
    void aListenerThatIsClosedAcceptsNobody() throws Exception {
        StreamListener listener = listen(ANY_PORT);
        listener.close();
        network.poll();
        End client = connect(listener.local());
        until("a refusal", () -> client.refusal != null);
    }

    @Test
    void whoSleepsIsWokenByBytesAndByOthers() throws Exception {
        End client = connected();
        while (network.poll()) {
            // Until it is quiet.
        }
        network.wake();
        network.await(Long.MAX_VALUE);
        client.send(ByteBuffer.allocate(1));
        network.await(Long.MAX_VALUE);
        until("the byte", () -> accepted.getFirst().received == 1);
    }

    @Test
    void whatIsClosedDoesNothing() {
        network.close();
        network.close();
        assertThat(network.poll()).isFalse();
        network.await(Long.MAX_VALUE);
        network.wake();
    }
}
