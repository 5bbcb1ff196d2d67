// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.agent;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Arrays;
import java.util.Random;

/** A program that knows nothing of RDMA: a channel and a socket get back what they have sent. */
final class EchoProgram {
    private static final int LENGTH = 1_000_000;

    private EchoProgram() {}

    public static void main(String[] arguments) throws Exception {
        try (ServerSocketChannel listener = ServerSocketChannel.open()
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
            Thread server = Thread.ofPlatform().start(() -> serve(listener));
            InetSocketAddress address = (InetSocketAddress) listener.getLocalAddress();
            byte[] sent = new byte[LENGTH];
            new Random(1).nextBytes(sent);
            try (SocketChannel channel = SocketChannel.open(address)) {
                channel.write(ByteBuffer.wrap(sent));
                report(channel, sent, Channels.newInputStream(channel).readNBytes(LENGTH));
            }
            try (Socket socket = new Socket(address.getAddress(), address.getPort())) {
                socket.getOutputStream().write(sent);
                report(socket, sent, socket.getInputStream().readNBytes(LENGTH));
            }
            server.join();
        }
    }

    private static void report(Object by, byte[] sent, byte[] received) {
        System.out.println(by.getClass().getName() + " "
                + (Arrays.equals(sent, received) ? "has all bytes" : "has others"));
    }

    private static void serve(ServerSocketChannel listener) {
        try {
            for (int i = 0; i < 2; i++) {
                try (SocketChannel accepted = listener.accept()) {
                    System.out.println("accepted " + accepted.getClass().getName());
                    byte[] all = Channels.newInputStream(accepted).readNBytes(LENGTH);
                    accepted.write(ByteBuffer.wrap(all));
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
