// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.ProxySelector;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Plain sockets that go by rules ask for proxies over TCP as the JDK's do. */
@Isolated("the selector of proxies is the JVM's")
class SocksProxiesTest {
    private final ProxySelector before = ProxySelector.getDefault();
    private final List<String> asked = new ArrayList<>();
    private final List<SocketAddress> failed = new ArrayList<>();
    private List<Proxy> proxies = List.of();

    @BeforeEach
    void select() {
        ProxySelector.setDefault(new ProxySelector() {
            @Override
            public List<Proxy> select(URI uri) {
                asked.add(uri.toString());
                return proxies;
            }

            @Override
            public void connectFailed(URI uri, SocketAddress address, IOException why) {
                failed.add(address);
            }
        });
    }

    @AfterEach
    void reset() {
        ProxySelector.setDefault(before);
    }

    private static Proxy proxyThatIsNone() throws IOException {
        return new Proxy(Proxy.Type.SOCKS, Transport.TCP.unusedAddress());
    }

    @Test
    void proxyThatDoesNotWorkIsSaidAndTheNextIsTried() throws IOException {
        Proxy none = proxyThatIsNone();
        proxies = List.of(none, Proxy.NO_PROXY);
        try (ServerSocket listener = new ServerSocket()) {
            listener.bind(Transport.loopback(0));
            InetSocketAddress to = (InetSocketAddress) listener.getLocalSocketAddress();
            try (Socket socket = SocketKind.ALONE.open(Transport.RULED_TCP)) {
                socket.connect(to, 10_000);
                assertThat(socket.getPort()).isEqualTo(to.getPort());
            }
            assertThat(asked).first().isEqualTo("socket://" + to.getHostString() + ":"
                    + to.getPort());
        }
        assertThat(failed).contains(none.address());
    }

    @Test
    void withoutAProxyThatWorksThereIsNoConnection() throws IOException {
        proxies = List.of(proxyThatIsNone());
        try (ServerSocket listener = new ServerSocket()) {
            listener.bind(Transport.loopback(0));
            try (Socket socket = SocketKind.ALONE.open(Transport.RULED_TCP)) {
                assertThatThrownBy(() -> socket.connect(listener.getLocalSocketAddress(), 10_000))
                        .isInstanceOf(IOException.class);
            }
        }
    }

    @Test
    void overRdmaNobodyIsAsked() throws IOException {
        proxies = List.of(proxyThatIsNone());
        try (ServerSocket listener = SocketKind.ALONE.listen(Transport.RULED_RDMA);
                Socket socket = SocketKind.ALONE.open(Transport.RULED_RDMA)) {
            socket.connect(listener.getLocalSocketAddress(), 10_000);
            assertThat(socket.isConnected()).isTrue();
        }
        assertThat(asked).isEmpty();
    }
}
