// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import io.rdma4j.testkit.Wait;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;

import static org.assertj.core.api.Assertions.assertThat;

/** Sockets that nobody closes and nobody refers to any more: they are closed all the same, as over TCP. */
@Timeout(60)
class ForgottenSocketTest {
    /** {@return the accepted side; nobody has the other one} */
    private static Socket peerOfForgotten(Transport transport, ServerSocket listener)
            throws IOException {
        Socket forgotten = SocketKind.ALONE.open(transport);
        forgotten.connect(listener.getLocalSocketAddress());
        forgotten.getOutputStream().write(7);
        return listener.accept();
    }

    @ParameterizedTest
    @EnumSource(names = {"TCP", "ROCE", "IWARP", "RULED_RDMA", "RULED_TCP", "RULED_AUTO"})
    void forgottenSocketIsClosed(Transport transport) throws Exception {
        try (ServerSocket listener = SocketKind.ALONE.listen(transport);
                Socket peer = peerOfForgotten(transport, listener)) {
            assertThat(peer.getInputStream().read()).isEqualTo(7);
            peer.setSoTimeout(10);
            Wait.until("the peer sees the end", () -> hasEnded(peer), System::gc);
        }
    }

    private static boolean hasEnded(Socket peer) throws IOException {
        try {
            return peer.getInputStream().read() < 0;
        } catch (SocketTimeoutException goesOn) {
            return false;
        }
    }

    private static InetSocketAddress addressOfForgotten(Transport transport) throws IOException {
        return (InetSocketAddress) SocketKind.ALONE.listen(transport).getLocalSocketAddress();
    }

    @ParameterizedTest
    @EnumSource(names = {"TCP", "ROCE", "IWARP", "RULED_RDMA", "RULED_TCP", "RULED_AUTO"})
    void forgottenServerSocketIsClosed(Transport transport) throws Exception {
        InetSocketAddress address = addressOfForgotten(transport);
        Wait.until("nobody listens", () -> isRefused(transport, address), System::gc);
    }

    private static boolean isRefused(Transport transport, InetSocketAddress address)
            throws IOException {
        try (Socket client = SocketKind.ALONE.open(transport)) {
            client.connect(address);
            return false;
        } catch (ConnectException refused) {
            return true;
        }
    }
}
