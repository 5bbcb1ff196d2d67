// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.programs;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.http.HttpClient;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

import javax.net.ssl.SSLSocketFactory;

/** Makes channels and, as its argument says, TLS above one, or sockets and asynchronous channels; it knows nothing of RDMA. */
public final class PlainSocketProgram {
    private PlainSocketProgram() {}

    /** @param arguments {@code channels}, {@code tls} or {@code sockets} */
    public static void main(String[] arguments) throws IOException {
        InetAddress loopback = InetAddress.getLoopbackAddress();
        try (ServerSocketChannel server = ServerSocketChannel.open()
                .bind(new InetSocketAddress(loopback, 0));
                SocketChannel channel = SocketChannel.open(server.getLocalAddress())) {
            System.out.println("connected " + channel.socket().isConnected());
            if (arguments[0].equals("tls")) {
                // Makes a socket, to ask it for parameters.
                HttpClient.newHttpClient().close();
                SSLSocketFactory factory = (SSLSocketFactory) SSLSocketFactory.getDefault();
                factory.createSocket(channel.socket(), "localhost", 1, false).close();
            }
        }
        if (arguments[0].equals("sockets")) {
            try (ServerSocket server = new ServerSocket(0, 1, loopback);
                    Socket socket = new Socket(loopback, server.getLocalPort());
                    AsynchronousSocketChannel _ = AsynchronousSocketChannel.open()) {
                socket.getOutputStream().write(1);
                System.out.println("connected " + socket.isConnected());
            }
        }
    }
}
