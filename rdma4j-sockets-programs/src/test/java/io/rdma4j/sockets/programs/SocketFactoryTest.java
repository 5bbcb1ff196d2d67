// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.programs;

import io.rdma4j.sockets.RdmaServerSocketFactory;
import io.rdma4j.sockets.RdmaSocketFactory;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.RdmaDevices;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.Objects;

import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;

import static org.assertj.core.api.Assertions.assertThat;

/** What takes a factory of sockets, or a socket: a JDBC driver, and the JDK's TLS. */
@Timeout(60)
class SocketFactoryTest {
    private static final InetAddress HOST = InetAddress.getLoopbackAddress();
    private static final int BYTES = 300_000;

    private DeviceContext device;
    private ServerSocket listener;
    private TcpSockets tcp;

    @BeforeEach
    void begin() throws IOException {
        tcp = new TcpSockets(ProcessHandle.current());
        // A device counts as long as it is open.
        device = RdmaDevices.find("roce_lo").open();
        listener = new RdmaServerSocketFactory().createServerSocket(0, 5, HOST);
    }

    @AfterEach
    void end() throws IOException {
        listener.close();
        device.close();
    }

    private long sentBytes() throws RdmaException {
        return Objects.requireNonNull(device.counters().get("sent_bytes"));
    }

    @Test
    void jdbcTakesAFactory() throws Exception {
        Thread.ofPlatform().daemon().start(new PostgresStub(listener));
        long before = sentBytes();
        String url = "jdbc:postgresql://127.0.0.1:" + listener.getLocalPort() + "/any?user=any"
                + "&sslmode=disable&gssEncMode=disable&preferQueryMode=simple"
                + "&assumeMinServerVersion=16&socketFactory=" + RdmaSocketFactory.class.getName();
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            for (int length : new int[]{1, 1000, BYTES}) {
                String sql = "select '" + "x".repeat(length) + length + "'";
                try (ResultSet row = statement.executeQuery(sql)) {
                    assertThat(row.next()).isTrue();
                    assertThat(row.getString(1)).isEqualTo(sql);
                    assertThat(row.next()).isFalse();
                }
            }
        }
        assertThat(sentBytes() - before).isGreaterThan(2L * BYTES);
        assertThat(tcp.end()).isEmpty();
    }

    @Test
    void tlsOfTheJdkLiesOnASocket() throws Exception {
        SSLContext tls = TestCertificate.make().context();
        byte[] bytes = SeededBytes.of(1, BYTES);
        Thread echo = Thread.ofVirtual().start(() -> {
            try (Socket accepted = listener.accept();
                    SSLSocket secure = (SSLSocket) tls.getSocketFactory().createSocket(accepted,
                            null, true)) {
                secure.getOutputStream().write(secure.getInputStream().readNBytes(BYTES));
            } catch (IOException ended) {
                // The client says what is missing.
            }
        });
        long before = sentBytes();
        try (Socket plain = new RdmaSocketFactory().createSocket(HOST, listener.getLocalPort());
                SSLSocket secure = (SSLSocket) tls.getSocketFactory().createSocket(plain,
                        "localhost", listener.getLocalPort(), true)) {
            // All of it goes before any comes back, so nobody waits for the other's buffers.
            secure.getOutputStream().write(bytes);
            assertThat(secure.getInputStream().readNBytes(BYTES)).isEqualTo(bytes);
            assertThat(secure.getSession().getProtocol()).startsWith("TLS");
        }
        echo.join();
        assertThat(sentBytes() - before).isGreaterThan(2L * BYTES);
        assertThat(tcp.end()).isEmpty();
    }
}
