package io.rdma4j.tools.perftest;

import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.function.LongSupplier;

/** The conversation over TCP. Endpoints are text in it. */
final class TcpTalk implements Talk {
    private static final byte[] DONE = "done\0".getBytes(StandardCharsets.US_ASCII);

    private final Socket socket;
    private final boolean isClient;
    private LongSupplier arrived = () -> 0;

    TcpTalk(Socket socket, boolean isClient) {
        this.socket = socket;
        this.isClient = isClient;
    }

    @Override
    public void watch(LongSupplier packetsArrived) {
        arrived = packetsArrived;
    }

    @Override
    public Endpoint exchange(Endpoint own) throws IOException {
        return Endpoint.ofText(exchange(own.toText()));
    }

    /** In one piece: the C programs expect to read it at once. */
    @Override
    public byte[] exchange(byte[] own) throws IOException {
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
                    throw Talk.silence(socket.getSoTimeout() / 1000);
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
    public void part() {
        try {
            socket.getOutputStream().write(DONE);
        } catch (IOException e) {
            // The peer was faster: it has all it needs and is gone.
            return;
        }
        leave();
    }

    @Override
    public void leave() {
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

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
