// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import java.io.IOException;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/**
 * A program with one thread and two connections. In each round it writes bytes to the first one by one, and polls the second without a pause until there is an
 * answer. Its arguments are a transport and a port.
 */
final class PollingPeer {
    static final int ROUNDS = 20;
    /** Of which the last are gathered while the first are on their way. */
    static final int BYTES = 5;

    private PollingPeer() {}

    public static void main(String[] arguments) throws IOException {
        Transport transport = Transport.valueOf(arguments[0]);
        SocketAddress peer = Transport.loopback(Integer.parseInt(arguments[1]));
        try (SocketChannel data = transport.open(); SocketChannel answers = transport.open()) {
            data.connect(peer);
            answers.connect(peer);
            data.configureBlocking(false);
            answers.configureBlocking(false);
            ByteBuffer one = ByteBuffer.allocate(1);
            for (int i = 0; i < ROUNDS; i++) {
                for (int sent = 0; sent < BYTES;) {
                    sent += data.write(one.clear());
                }
                while (answers.read(one.clear()) == 0) {
                    Thread.onSpinWait();
                }
            }
        }
    }
}
