// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import io.rdma4j.cm.CmId;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.testkit.Wait;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendWorkRequest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.time.Duration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Peers that speak the connection manager and the verbs, and are no honest rsockets. */
class HostilePeerTest {
    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final int BYTES = 4096;

    /** A peer by hand. It is given 16 credits and a buffer of one page, by data that say so. */
    static CmId connect(ServerSocketChannel listener, byte[] privateData,
            MemoryRegion[] made) throws IOException {
        CmId id = CmId.create(PortSpace.TCP);
        id.device("roce_lo");
        id.resolveAddress((InetSocketAddress) listener.getLocalAddress(), PATIENCE);
        id.resolveRoute(PATIENCE);
        id.createQueuePair(new QueuePairInitAttributes()
                .capabilities(new QueuePairCapabilities(64, 64, 1, 1, 64)));
        MemoryRegion region = id.protectionDomain().allocateRegion(BYTES, AccessFlag.LOCAL_WRITE,
                AccessFlag.REMOTE_WRITE);
        made[0] = region;
        for (int i = 0; i < 32; i++) {
            id.queuePair().postReceive(new ReceiveWorkRequest());
        }
        ByteBuffer data = ByteBuffer.wrap(privateData);
        if (data.capacity() >= 40) {
            data.putLong(8, region.address()).putInt(16, region.rkey()).putLong(24,
                    region.address() + 64).putInt(32, region.rkey());
        }
        id.connect(new ConnectionParameters().privateData(privateData).rnrRetryCount(7));
        return id;
    }

    static byte[] honest() {
        return ByteBuffer.allocate(40).put((byte) 1).put((byte) 2).putShort((short) 16)
                .putInt(20, 2)
                .putInt(36, 2048).array();
    }

    @ParameterizedTest
    @CsvSource({"0x60000000, no message 60000000", "0x80000000, gives credits up to message 0",
        "0x00200000, has written 2097152 bytes where it was given",
        "0xe0000009, no control message 9",
        "0xc0000000, mapping 0 where there is room for 0"})
    void lieIsAnExceptionAndNoEnd(String word, String said) throws Exception {
        try (ServerSocketChannel listener = Transport.ROCE.listen()) {
            MemoryRegion[] region = new MemoryRegion[1];
            try (CmId peer = connect(listener, honest(), region);
                    RdmaSocketChannel channel = (RdmaSocketChannel) listener.accept()) {
                peer.queuePair().postSend(new SendWorkRequest().writeWithImmediate(0, 0,
                        Integer.parseUnsignedInt(word.substring(2), 16)));
                assertThatThrownBy(() -> channel.read(ByteBuffer.allocate(10)))
                        .isInstanceOf(IOException.class)
                        .hasMessageContaining("the peer broke the rsocket protocol: ")
                        .hasMessageContaining(said);
                assertThatThrownBy(() -> channel.write(ByteBuffer.allocate(10)))
                        .isInstanceOf(IOException.class).hasMessageContaining(said);
                peer.closeQueuePair();
            } finally {
                region[0].close();
            }
        }
    }

    /** Its memory holds a page, and it has said that it holds more. */
    @Test
    void bufferThatThePeerDoesNotHaveIsAnException() throws Exception {
        byte[] data = honest();
        ByteBuffer.wrap(data).putInt(36, 1 << 20);
        try (ServerSocketChannel listener = Transport.ROCE.listen()) {
            MemoryRegion[] region = new MemoryRegion[1];
            try (CmId peer = connect(listener, data, region);
                    RdmaSocketChannel channel = (RdmaSocketChannel) listener.accept()) {
                assertThatThrownBy(() -> Wait.until("a write fails",
                        () -> channel.write(ByteBuffer.allocate(10_000)) < 0))
                        .isInstanceOf(IOException.class).hasMessageContaining("Connection lost");
                peer.closeQueuePair();
            } finally {
                region[0].close();
            }
        }
    }

    @Test
    void whatIsNoRsocketIsRejectedAndOthersAreAccepted() throws Exception {
        try (ServerSocketChannel listener = Transport.ROCE.listen()) {
            for (byte[] data : new byte[][]{new byte[0], new byte[40]}) {
                MemoryRegion[] region = new MemoryRegion[1];
                assertThatThrownBy(() -> connect(listener, data, region))
                        .isInstanceOf(IOException.class).hasMessageContaining("rejected");
                region[0].close();
            }
            try (Connected pair = Connected.with(Transport.ROCE, listener)) {
                pair.peer().write(ByteBuffer.allocate(3));
                assertThat(pair.channel().read(ByteBuffer.allocate(10))).isEqualTo(3);
            }
        }
    }

    /** It neither reads nor closes; the other side can still close. */
    @Test
    void peerThatNeverReadsDoesNotHoldUpClosing() throws Exception {
        try (Connected pair = Connected.over(Transport.ROCE)) {
            pair.channel().configureBlocking(false);
            ByteBuffer buffer = ByteBuffer.allocate(1 << 20);
            Wait.until("the peer's buffer is full", () -> pair.channel().write(buffer) == 0
                    && buffer.position() >= 1 << 17);
            pair.channel().configureBlocking(true);
            long startNs = System.nanoTime();
            pair.channel().close();
            assertThat(Duration.ofNanos(System.nanoTime() - startNs))
                    .isLessThan(Duration.ofSeconds(5));
        }
    }

    /** It has said that it neither sends nor receives more, and reads later what it has got. */
    @Test
    void peerThatNeverClosesDoesNotHoldUpClosing() throws Exception {
        try (Connected pair = Connected.over(Transport.ROCE)) {
            pair.channel().write(ByteBuffer.allocate(7));
            pair.channel().shutdownOutput();
            pair.peer().shutdownOutput();
            assertThat(pair.channel().read(ByteBuffer.allocate(9))).isEqualTo(-1);
            long startNs = System.nanoTime();
            pair.channel().close();
            assertThat(Duration.ofNanos(System.nanoTime() - startNs))
                    .isLessThan(Duration.ofSeconds(2));
            assertThat(pair.peer().read(ByteBuffer.allocate(9))).isEqualTo(7);
            assertThat(pair.peer().read(ByteBuffer.allocate(9))).isEqualTo(-1);
        }
    }
}
