package io.rdma4j.tools.perftest;

import io.rdma4j.verbs.Mtu;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.function.LongSupplier;

/**
 * The TCP conversation of perftest: the same number of bytes from either side, the client's first.
 *
 * <p>Every exchange is also a meeting point. A side may wait at one for as long as the peer measures; it gives up when
 * the peer says nothing for as long as patience lasts and no packet of it arrives either.
 */
final class SideChannel implements AutoCloseable {
    /** What the C programs of the same exchange call themselves. */
    private static final String VERSION = "6.06";
    private static final double OLDEST = 5.7;
    private static final int VERSION_BYTES = 16;
    private static final int MTU_BYTES = 2;
    /** What a side may use of its buffers around. The larger value of both sides holds. */
    private static final int CYCLE_BYTES = 4096;
    private static final int CACHE_LINE_BYTES = 64;
    private static final byte[] DONE = "done\0".getBytes(StandardCharsets.US_ASCII);

    private final Socket socket;
    private final boolean isClient;
    private LongSupplier arrived = () -> 0;
    private int cycleBytes = CYCLE_BYTES;

    SideChannel(Socket socket, boolean isClient) {
        this.socket = socket;
        this.isClient = isClient;
    }

    /** From now on a peer that says nothing is alive while this number grows. */
    void watch(LongSupplier packetsArrived) {
        arrived = packetsArrived;
    }

    /** {@return the server's address and port, as they are used here} */
    InetSocketAddress server() {
        return isClient
                ? new InetSocketAddress(socket.getInetAddress(), socket.getPort())
                : new InetSocketAddress(socket.getLocalAddress(), socket.getLocalPort());
    }

    // ---------------------------------------------------------------- what is said

    /**
     * Tells each other what is spoken, and how large buffers and packets are.
     *
     * @return the path MTU that both sides can
     */
    Mtu greet(Mtu own) throws IOException {
        checkVersion(exchange(
                Arrays.copyOf(VERSION.getBytes(StandardCharsets.US_ASCII), VERSION_BYTES)));
        cycleBytes = Math.max(cycleBytes, exchangeInt(CYCLE_BYTES));
        exchangeInt(CACHE_LINE_BYTES);
        byte[] code = {(byte) ('0' + own.code()), 0};
        Mtu remote = Mtu.ofCode(exchange(Arrays.copyOf(code, MTU_BYTES))[0] - '0');
        if (remote == null) {
            throw new IOException("the peer tells no path MTU; is it the same tool on both sides?");
        }
        return Mtu.min(own, remote);
    }

    private static void checkVersion(byte[] told) throws IOException {
        String text = new String(told, StandardCharsets.ISO_8859_1);
        int end = text.indexOf('\0');
        String version = end < 0 ? text : text.substring(0, end);
        try {
            if (Double.parseDouble(version) < OLDEST) {
                throw new IOException("the peer's version of perftest is " + version
                        + "; from 5.70 on they understand each other");
            }
        } catch (NumberFormatException e) {
            throw new IOException("the peer does not speak as perftest does", e);
        }
    }

    /** {@return bytes that a peer may use around the address it was told} */
    int cycleBytes() {
        return cycleBytes;
    }

    /** Tells an endpoint and learns that of the peer, or just meets it. */
    Endpoint exchange(Endpoint own) throws IOException {
        return Endpoint.of(exchange(own.bytes()));
    }

    /** {@return the result of the peer} */
    BandwidthResult exchange(BandwidthResult own) throws IOException {
        return new BandwidthResult(exchangeLong(own.size()), exchangeLong(own.messages()),
                Double.longBitsToDouble(exchangeLong(Double.doubleToLongBits(own.peak()))),
                Double.longBitsToDouble(exchangeLong(Double.doubleToLongBits(own.average()))),
                Double.longBitsToDouble(exchangeLong(Double.doubleToLongBits(own.rate()))));
    }

    /** Ends the conversation once the peer has come to its end, too. */
    void part(Endpoint own) throws IOException {
        exchange(own);
        try {
            socket.getOutputStream().write(DONE);
        } catch (IOException e) {
            // The peer was faster: it has all it needs and is gone.
            return;
        }
        leave();
    }

    /** Says nothing more, and stays until the peer does the same: it may still wait for an acknowledgement. */
    void leave() {
        try {
            socket.shutdownOutput();
            InputStream in = socket.getInputStream();
            while (in.read() >= 0) {
                // What a peer says in leaving means nothing.
            }
        } catch (IOException e) {
            // Gone, or silent for too long. The test is over in any case.
            return;
        }
    }

    // ---------------------------------------------------------------- how

    private int exchangeInt(int own) throws IOException {
        return ByteBuffer.wrap(exchange(ByteBuffer.allocate(Integer.BYTES).putInt(own).array()))
                .getInt();
    }

    private long exchangeLong(long own) throws IOException {
        return ByteBuffer.wrap(exchange(ByteBuffer.allocate(Long.BYTES).putLong(own).array()))
                .getLong();
    }

    /** In one piece: the C programs expect to read it at once. */
    private byte[] exchange(byte[] own) throws IOException {
        if (isClient) {
            write(own);
            return read(own.length);
        }
        byte[] remote = read(own.length);
        write(own);
        return remote;
    }

    private void write(byte[] bytes) throws IOException {
        try {
            socket.getOutputStream().write(bytes);
        } catch (IOException e) {
            throw new IOException("Couldn't tell the peer: " + e.getMessage(), e);
        }
    }

    private byte[] read(int length) throws IOException {
        byte[] bytes = new byte[length];
        int have = 0;
        long before = arrived.getAsLong();
        while (have < length) {
            int count;
            try {
                count = socket.getInputStream().read(bytes, have, length - have);
            } catch (SocketTimeoutException e) {
                long now = arrived.getAsLong();
                if (now == before) {
                    throw new IOException("nothing came from the peer for "
                            + socket.getSoTimeout() / 1000 + " s; both sides need the same tool"
                            + " and the same -c, -q, -n, -D, -a and -b", e);
                }
                before = now;
                continue;
            } catch (IOException e) {
                throw new IOException("Couldn't hear the peer: " + e.getMessage(), e);
            }
            if (count < 0) {
                throw new IOException("the peer hung up; its own output says why");
            }
            have += count;
        }
        return bytes;
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
