// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.stream;

import io.rdma4j.softnic.network.stream.StreamContract;
import io.rdma4j.softnic.network.stream.StreamListener;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

/** Byte streams on Linux's sockets. */
class LinuxStreamsTest extends StreamContract {
    LinuxStreamsTest() throws RdmaException {
        super(network());
    }

    private static LinuxStreams network() throws RdmaException {
        assumeThat(LinuxStreams.obstacle()).isNull();
        return new LinuxStreams();
    }

    /** A peer that does not read takes no more than it has room for. */
    @Test
    void bytesThatThePeerHasNoRoomForAreNotAcknowledged() throws Exception {
        End client = connected();
        End server = accepted.getFirst();
        server.isReading = false;
        client.send(ByteBuffer.allocate(10));
        until("the first bytes to arrive", () -> client.stream().isAcknowledged());
        client.send(ByteBuffer.allocateDirect(BIG));
        assertThat(client.stream().isAcknowledged()).isFalse();
        server.isReading = true;
        until("all bytes", () -> server.received == 10 + BIG);
        until("the last bytes to be acknowledged", () -> client.stream().isAcknowledged());
    }

    /**
     * The epoll set reports arrived bytes only once, even if the user does not read them then; the stream tells it again.
     */
    @Test
    void whatIsLeftUnreadIsToldAgain() throws Exception {
        End client = connected();
        End server = accepted.getFirst();
        server.isReading = false;
        client.send(ByteBuffer.allocate(10));
        for (int i = 0; i < 100; i++) {
            network.await(Long.MAX_VALUE);
            network.poll();
        }
        assertThat(server.received).isZero();
        server.isReading = true;
        until("the bytes", () -> server.received == 10);
    }

    /** The stream ended while bytes were still unread, and the epoll set reports nothing more. */
    @Test
    void theEndIsHeardThoughItCameBeforeTheBytesWereRead() throws Exception {
        End client = connected();
        End server = accepted.getFirst();
        server.isReading = false;
        client.send(ByteBuffer.allocate(5000));
        client.stream().close();
        until("the end to arrive", () -> server.stream().isAcknowledged());
        for (int i = 0; i < 10; i++) {
            network.poll();
        }
        server.isReading = true;
        until("the end", () -> server.hasEnded);
        assertThat(server.received).isEqualTo(5000);
    }

    /**
     * accept(2) may fail for other reasons than those of one connection, and goes on to fail. The thread that drives the
     * network serves all connections of the device.
     */
    @Test
    @Timeout(value = 20, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void aListenerThatCanAcceptNoMoreRestsAndOthersGoOn() throws Exception {
        End client = connected();
        ListeningSockets.stop(client.stream().remote());
        for (int i = 0; i < 3; i++) {
            network.poll();
        }
        client.send(ByteBuffer.allocate(100));
        until("the bytes", () -> accepted.getFirst().received == 100);
    }

    /** It costs no processor either: it is tried again ten times a second. */
    @Test
    @Timeout(value = 20, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void aListenerThatCanAcceptNoMoreLetsTheDeviceSleep() throws Exception {
        StreamListener listener = network.listen(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 16, stream -> {});
        ListeningSockets.stop(listener.local());
        long untilNs = System.nanoTime() + Duration.ofMillis(500).toNanos();
        int rounds = 0;
        while (System.nanoTime() - untilNs < 0) {
            network.await(Duration.ofSeconds(1).toNanos());
            network.poll();
            rounds++;
        }
        assertThat(rounds).isLessThan(10);
    }
}
