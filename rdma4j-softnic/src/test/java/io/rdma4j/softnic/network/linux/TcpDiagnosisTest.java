package io.rdma4j.softnic.network.linux;

import io.rdma4j.testkit.Wait;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

import static org.assertj.core.api.Assertions.assertThat;

@EnabledOnOs(OS.LINUX)
class TcpDiagnosisTest {
    private static boolean isAcknowledged(SocketChannel channel) throws Exception {
        return TcpDiagnosis.isAcknowledged((InetSocketAddress) channel.getLocalAddress(),
                (InetSocketAddress) channel.getRemoteAddress());
    }

    /** A peer that does not read takes no more than it has room for. */
    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "::1"})
    void bytesThatThePeerHasNoRoomForAreNotAcknowledged(String address) throws Exception {
        try (ServerSocketChannel server = ServerSocketChannel.open()
                .bind(new InetSocketAddress(InetAddress.ofLiteral(address), 0));
                SocketChannel client = SocketChannel.open(server.getLocalAddress());
                SocketChannel accepted = server.accept()) {
            client.write(ByteBuffer.allocate(10));
            Wait.until("the first bytes to arrive", () -> isAcknowledged(client));
            client.configureBlocking(false);
            long written = 10;
            int length;
            do {
                length = client.write(ByteBuffer.allocate(1 << 20));
                written += length;
            } while (length > 0);
            assertThat(isAcknowledged(client)).isFalse();
            ByteBuffer buffer = ByteBuffer.allocate(1 << 20);
            for (long read = 0; read < written;) {
                read += accepted.read(buffer.clear());
            }
            Wait.until("the last bytes to arrive", () -> isAcknowledged(client));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "::1"})
    void ofAConnectionThatIsNotThereNothingIsKnown(String address) {
        InetSocketAddress nobody = new InetSocketAddress(InetAddress.ofLiteral(address), 1);
        assertThat(TcpDiagnosis.unacknowledged(nobody, nobody)).isNegative();
        assertThat(TcpDiagnosis.isAcknowledged(nobody, nobody)).isTrue();
    }
}
