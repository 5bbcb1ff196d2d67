// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.doctor;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/**
 * The TCP connection by which two doctors agree on what to try: lines of words. A line begins with a keyword; where an answer
 * is due, one that begins with {@link #REFUSED} says instead why there is none. For one thread.
 */
final class TrialChannel implements AutoCloseable {
    /** Instead of an answer; the rest of the line says why. */
    static final String REFUSED = "refused";

    private static final int LONGEST_LINE = 1000;

    private final Socket socket;
    private final InputStream in;
    private final Deadline deadline;

    TrialChannel(Socket socket, Deadline deadline) throws IOException {
        this.socket = socket;
        this.deadline = deadline;
        in = new BufferedInputStream(socket.getInputStream());
        socket.setTcpNoDelay(true);
    }

    /** {@return the address of this end} */
    InetAddress localAddress() {
        return socket.getLocalAddress();
    }

    /** {@return the address of the peer's end, as this side sees it} */
    InetAddress remoteAddress() {
        return socket.getInetAddress();
    }

    Deadline deadline() {
        return deadline;
    }

    /** Sends a line. */
    void send(String line) throws IOException {
        String sent = line.replaceAll("\\s+", " ");
        byte[] bytes = sent.substring(0, Math.min(sent.length(), LONGEST_LINE / 4)).concat("\n")
                .getBytes(StandardCharsets.UTF_8);
        socket.getOutputStream().write(bytes);
    }

    /** {@return the words of the peer's next line} */
    String[] receive(Duration patience) throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        long endNs = System.nanoTime() + deadline.atMost(patience).toNanos();
        for (int next = read(endNs); next != '\n'; next = read(endNs)) {
            if (next < 0 || line.size() == LONGEST_LINE) {
                throw new IOException(next < 0
                        ? "the peer hung up; its own output says why"
                        : "the peer does not speak as a doctor does");
            }
            line.write(next);
        }
        return line.toString(StandardCharsets.UTF_8).split(" ", -1);
    }

    private int read(long endNs) throws IOException {
        long leftNs = endNs - System.nanoTime();
        if (leftNs <= 0) {
            throw silence();
        }
        socket.setSoTimeout((int) Math.max(1, leftNs / 1_000_000));
        try {
            return in.read();
        } catch (SocketTimeoutException e) {
            throw silence();
        }
    }

    private static IOException silence() {
        return new IOException("the peer's doctor says nothing more");
    }

    /**
     * {@return the words of the peer's answer}
     *
     * @param keyword its first word
     * @param words how many words it has at least
     * @throws IOException if none comes, or the peer says why it has none
     */
    String[] answer(String keyword, int words, Duration patience) throws IOException {
        String[] received = receive(patience);
        if (received[0].equals(REFUSED)) {
            throw new IOException("the other side: "
                    + String.join(" ", received).substring(REFUSED.length()).strip());
        }
        if (!received[0].equals(keyword) || received.length < words) {
            throw new IOException("the peer does not speak as a doctor of this version does");
        }
        return received;
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
