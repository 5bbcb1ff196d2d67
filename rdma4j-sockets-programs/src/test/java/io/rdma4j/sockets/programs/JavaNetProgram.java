// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.programs;

import com.sun.net.httpserver.HttpServer;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.util.Arrays;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import javax.net.ssl.SSLContext;

/**
 * Programs of {@code java.net} alone: sockets, server sockets, TLS of both, and {@code HttpURLConnection}. It knows nothing of RDMA, and every socket is made by its constructor or
 * inside the JDK.
 */
public final class JavaNetProgram {
    private static final InetAddress HOST = InetAddress.getLoopbackAddress();
    private static final int BYTES = 300_000;

    private JavaNetProgram() {}

    /** @param arguments none */
    public static void main(String[] arguments) throws Exception {
        try (ServerSocket listener = new ServerSocket(0, 5, HOST)) {
            echo(listener, new Socket(HOST, listener.getLocalPort()), "constructor");
            Socket bound = new Socket();
            bound.bind(new InetSocketAddress(HOST, 0));
            int port = bound.getLocalPort();
            bound.setTcpNoDelay(true);
            bound.setSoTimeout(10_000);
            bound.connect(listener.getLocalSocketAddress(), 10_000);
            require(bound.getLocalPort() == port && bound.getTcpNoDelay()
                    && bound.getSoTimeout() == 10_000 && bound.getSoLinger() == -1
                    && bound.getLocalAddress().equals(HOST), "its port and its options are kept");
            echo(listener, bound, "bound");
            times(listener);
            interrupts(listener);
            closes(listener);
        }
        SSLContext tls = TestCertificate.make().context();
        try (ServerSocket listener = tls.getServerSocketFactory().createServerSocket(0, 5, HOST)) {
            echo(listener, tls.getSocketFactory().createSocket(HOST, listener.getLocalPort()),
                    "tls");
        }
        http();
        System.out.println("all of java.net");
    }

    private static void require(boolean isSo, String what) {
        if (!isSo) {
            throw new IllegalStateException("not so: " + what);
        }
    }

    /** The client ends its half, then the server sends everything back: nobody waits for the other's buffers. */
    private static void echo(ServerSocket listener, Socket client, String name) throws Exception {
        byte[] bytes = SeededBytes.of(name.length(), BYTES);
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
                Socket connected = client) {
            Future<?> server = threads.submit(() -> {
                try (Socket accepted = listener.accept()) {
                    require(accepted.getPort() > 0, "an accepted socket knows its peer");
                    accepted.getOutputStream().write(accepted.getInputStream().readAllBytes());
                    return null;
                }
            });
            connected.getOutputStream().write(bytes);
            connected.shutdownOutput();
            require(Arrays.equals(connected.getInputStream().readAllBytes(), bytes),
                    "what comes back is what was sent");
            server.get();
        }
        System.out.println(name + " " + BYTES);
    }

    private static void times(ServerSocket listener) throws IOException {
        listener.setSoTimeout(50);
        try {
            listener.accept().close();
            throw new IllegalStateException("nobody has connected");
        } catch (SocketTimeoutException expected) {
            listener.setSoTimeout(0);
        }
        try (Socket client = new Socket(HOST, listener.getLocalPort());
                Socket accepted = listener.accept()) {
            client.setSoTimeout(50);
            try {
                int value = client.getInputStream().read();
                throw new IllegalStateException("nobody has sent " + value);
            } catch (SocketTimeoutException expected) {
                accepted.getOutputStream().write(7);
            }
            client.setSoTimeout(10_000);
            require(client.getInputStream().read() == 7, "it can be read after a timeout");
        }
        try (ServerSocket own = new ServerSocket(0, 5, HOST) {
            @Override
            public Socket accept() throws IOException {
                Socket made = new Socket();
                made.setSoTimeout(40);
                implAccept(made);
                return made;
            }
        };
                Socket _ = new Socket(HOST, own.getLocalPort());
                Socket accepted = own.accept()) {
            require(own.getReceiveBufferSize() > 0 && accepted.getSoTimeout() == 40,
                    "what was set before it was accepted is kept");
            int value = accepted.getInputStream().read();
            throw new IllegalStateException("nobody has sent " + value);
        } catch (SocketTimeoutException expected) {
            System.out.println("timeouts");
        }
    }

    /** An interruption does not close a socket, unlike a channel. */
    private static void interrupts(ServerSocket listener) throws Exception {
        try (Socket client = new Socket(HOST, listener.getLocalPort());
                Socket accepted = listener.accept()) {
            Thread.currentThread().interrupt();
            accepted.getOutputStream().write(5);
            require(client.getInputStream().read() == 5 && Thread.interrupted(),
                    "an interrupted thread reads");
        }
        System.out.println("interruption");
    }

    private static void closes(ServerSocket listener) throws Exception {
        Socket client = new Socket(HOST, listener.getLocalPort());
        try (Socket accepted = listener.accept();
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            InputStream in = client.getInputStream();
            Future<String> reading = threads.submit(() -> {
                try {
                    return "read " + in.read();
                } catch (SocketException ended) {
                    return ended.getMessage();
                }
            });
            Thread.sleep(50);
            client.close();
            require(reading.get().equals("Socket closed"), "closing ends a read: "
                    + reading.get());
            require(accepted.getInputStream().read() < 0, "the peer sees the end");
        }
        System.out.println("closing");
    }

    private static void http() throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(HOST, 0), 5);
        byte[] body = SeededBytes.of(3, BYTES);
        server.createContext("/", exchange -> {
            try (exchange) {
                exchange.sendResponseHeaders(200, body.length);
                exchange.getResponseBody().write(body);
            }
        });
        server.start();
        try (InputStream in = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/")
                .toURL().openStream()) {
            require(Arrays.equals(in.readAllBytes(), body), "the body is whole");
        } finally {
            server.stop(0);
        }
        System.out.println("http " + BYTES);
    }
}
