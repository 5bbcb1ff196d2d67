// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.udp;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/** The thread of all sockets. */
class UdpWatchTest {
    private static UdpSocket bound() throws IOException {
        return UdpSocket.bind(null, false,
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    }

    @Test
    void errorOfOneSocketLeavesTheOthersServed() throws Exception {
        UdpWatch watch = new UdpWatch();
        UdpSocket failing = bound();
        UdpSocket other = bound();
        CountDownLatch hasFailed = new CountDownLatch(1);
        CountDownLatch isReached = new CountDownLatch(1);
        watch.add(failing, () -> {
            try {
                failing.receive(ByteBuffer.allocate(1));
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
            hasFailed.countDown();
            throw new OutOfMemoryError("of the test");
        });
        other.send(ByteBuffer.allocate(1), failing.local());
        assertThat(hasFailed.await(10, TimeUnit.SECONDS)).isTrue();
        watch.add(other, isReached::countDown);
        failing.send(ByteBuffer.allocate(1), other.local());
        assertThat(isReached.await(10, TimeUnit.SECONDS)).isTrue();
        CountDownLatch areClosed = new CountDownLatch(2);
        watch.close(failing, areClosed::countDown);
        watch.close(other, areClosed::countDown);
        assertThat(areClosed.await(10, TimeUnit.SECONDS)).isTrue();
    }
}
