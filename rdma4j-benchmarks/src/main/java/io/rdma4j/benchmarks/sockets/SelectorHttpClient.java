// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.sockets;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One thread that asks on all connections with one selector, as programs do that load a server. It does little, so that what is
 * measured is the server.
 */
final class SelectorHttpClient implements HttpProgram.Client {
    @Override
    public void start(int port, int connections, HttpAnswers answers) throws IOException {
        Selector selector = Selector.open();
        for (int i = 0; i < connections; i++) {
            SocketChannel channel = SocketChannel
                    .open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
            channel.configureBlocking(false);
            Connection connection = new Connection(channel, port, answers);
            channel.register(selector, SelectionKey.OP_READ, connection);
            connection.ask();
        }
        Thread.ofPlatform().daemon().start(() -> serve(selector, answers));
    }

    private static void serve(Selector selector, HttpAnswers answers) {
        try (selector) {
            while (true) {
                int _ = selector.select(key -> ((Connection) key.attachment()).read());
            }
        } catch (IOException | UncheckedIOException e) {
            answers.fail(e);
        }
    }

    /** A connection, and what has come of the next answer. */
    private static final class Connection {
        private static final int LONGEST_ANSWER = 16 << 10;
        private static final String END_OF_HEADERS = "\r\n\r\n";
        /** The status, and the length of the body. */
        private static final Pattern HEADERS = Pattern.compile(
                "HTTP/1\\.1 (\\d{3}) .*\r\ncontent-length: *(\\d+)\r\n.*",
                Pattern.CASE_INSENSITIVE | Pattern.DOTALL);

        private final SocketChannel channel;
        private final HttpAnswers answers;
        private final ByteBuffer request;
        private final byte[] bytes = new byte[LONGEST_ANSWER];
        private final ByteBuffer received = ByteBuffer.wrap(bytes);

        Connection(SocketChannel channel, int port, HttpAnswers answers) {
            this.channel = channel;
            this.answers = answers;
            request = ByteBuffer.wrap(("GET / HTTP/1.1\r\nHost: 127.0.0.1:" + port
                    + "\r\nUser-Agent: rdma4j\r\n\r\n").getBytes(StandardCharsets.US_ASCII));
        }

        void ask() throws IOException {
            channel.write(request.rewind());
            if (request.hasRemaining()) {
                throw new IOException("a connection does not take a request, on which it waits");
            }
        }

        void read() {
            try {
                if (channel.read(received) < 0) {
                    throw new IOException("a connection has ended");
                }
                if (hasAnswer()) {
                    received.clear();
                    ask();
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        private boolean hasAnswer() throws IOException {
            String text = new String(bytes, 0, received.position(), StandardCharsets.ISO_8859_1);
            int end = text.indexOf(END_OF_HEADERS);
            if (end < 0) {
                return false;
            }
            int begin = end + END_OF_HEADERS.length();
            Matcher headers = HEADERS.matcher(text).region(0, begin);
            if (!headers.matches()) {
                throw new IOException("an answer without a length: " + text.substring(0, end));
            }
            int length = Integer.parseInt(headers.group(2));
            if (text.length() - begin < length) {
                return false;
            }
            answers.add(Integer.parseInt(headers.group(1)), text.length() - begin);
            return true;
        }
    }
}
