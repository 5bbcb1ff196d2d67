// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.stream;

import io.rdma4j.verbs.Errno;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;
import java.net.SocketException;

import static org.assertj.core.api.Assertions.assertThat;

/** What the JDK's exceptions mean where the system's words are those of another language. */
class TranslatedErrorsTest {
    private static final long SHORT_NS = 1_500_000_000;
    private static final long LONG_NS = 127_000_000_000L;

    @Test
    void whoDoesNotConnectIsKnownByTheKindOfException() {
        assertThat(NioStream.errno(new ConnectException("Verbindungsaufbau abgelehnt"), SHORT_NS))
                .isEqualTo(Errno.ECONNREFUSED);
        assertThat(NioStream.errno(
                new ConnectException("Die Wartezeit für die Verbindung ist abgelaufen"), LONG_NS))
                .isEqualTo(Errno.ETIMEDOUT);
        assertThat(NioStream.errno(
                new NoRouteToHostException("Keine Route zum Zielrechner"), SHORT_NS))
                .isEqualTo(Errno.EHOSTUNREACH);
        assertThat(NioStream.errno(
                new SocketException("Das Netzwerk ist nicht erreichbar"), SHORT_NS))
                .isEqualTo(Errno.ENETUNREACH);
    }

    @Test
    void theSystemsOwnWordsComeFirst() {
        assertThat(NioStream.errno(new ConnectException("Connection timed out"), SHORT_NS))
                .isEqualTo(Errno.ETIMEDOUT);
        assertThat(NioStream.errno(new ConnectException("Connection refused"), LONG_NS))
                .isEqualTo(Errno.ECONNREFUSED);
        assertThat(NioStream.errno(new SocketException("Operation not permitted"), SHORT_NS))
                .isEqualTo(Errno.EPERM);
    }

    private static Errno refused(String address, int port, IOException cause) {
        return StreamRefusal.of("listen", new InetSocketAddress(address, port), cause).errno();
    }

    @Test
    void portThatCannotBeHadIsKnownByWhoseTheAddressIs() {
        BindException inUse = new BindException("Die Adresse wird bereits verwendet");
        assertThat(refused("127.0.0.1", 7174, inUse)).isEqualTo(Errno.EADDRINUSE);
        assertThat(refused("127.0.0.1", 0, inUse)).as("no port is left")
                .isEqualTo(Errno.EADDRNOTAVAIL);
        assertThat(refused("192.0.2.77", 7174,
                new BindException("Die angeforderte Adresse kann nicht zugewiesen werden")))
                .isEqualTo(Errno.EADDRNOTAVAIL);
        assertThat(refused("127.0.0.1", 80, new BindException("Permission denied")))
                .isEqualTo(Errno.EACCES);
        assertThat(refused("127.0.0.1", 7174, new SocketException("Too many open files")))
                .isEqualTo(Errno.EMFILE);
    }
}
