// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import io.rdma4j.testkit.Wait;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.net.Socket;
import java.net.SocketException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;

import static org.assertj.core.api.Assertions.assertThat;

/** What is accepted over TCP for a listener that accepts over RDMA as well. */
class AcceptorTest {
    /** More than it keeps; the rest waits in the backlog of the system. */
    private static final int CLIENTS = 6;
    private static final int PATIENCE_MS = 10_000;

    /** {@return whether the acceptor's thread waits for room} */
    private static boolean hasNoRoom(Thread acceptor) {
        return acceptor.getState() == Thread.State.WAITING
                && Arrays.stream(acceptor.getStackTrace())
                        .anyMatch(frame -> frame.getClassName().equals(Semaphore.class.getName()));
    }

    @Test
    void connectionsThatNobodyHasTakenEndWithTheListener() throws Exception {
        List<SocketChannel> clients = new ArrayList<>();
        AtomicReference<Thread> own = new AtomicReference<>();
        try (ServerSocketChannel listener = Transport.TCP.listen()) {
            Acceptor<SocketChannel> acceptor = new Acceptor<>(Acceptor.Source.of(listener),
                    () -> own.set(Thread.currentThread()));
            acceptor.start();
            for (int i = 0; i < CLIENTS; i++) {
                clients.add(SocketChannel.open(listener.getLocalAddress()));
            }
            Wait.until("it has no room for a further connection", () -> {
                Thread thread = own.get();
                return thread != null && hasNoRoom(thread);
            });
            acceptor.close();
            for (SocketChannel client : clients) {
                assertHasEnded(client.socket());
            }
        } finally {
            for (SocketChannel client : clients) {
                client.close();
            }
        }
    }

    private static void assertHasEnded(Socket client) throws IOException {
        client.setSoTimeout(PATIENCE_MS);
        try {
            assertThat(client.getInputStream().read()).isEqualTo(-1);
        } catch (SocketException reset) {
            // By the system, which had it in its backlog.
        }
    }
}
