package io.rdma4j.tools.perftest;

import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;

/** The conversation over TCP. Endpoints are text in it. */
final class TcpTalk extends Talk {
    private static final byte[] DONE = "done\0".getBytes(StandardCharsets.US_ASCII);

    private final Socket socket;

    TcpTalk(Socket socket, boolean isClient) {
        super(isClient);
        this.socket = socket;
    }

    @Override
    Endpoint exchange(Endpoint own) throws IOException {
        return Endpoint.ofText(exchange(own.toText()));
    }

    @Override
    void send(byte[] bytes) throws IOException {
        try {
            socket.getOutputStream().write(bytes);
        } catch (IOException e) {
            throw new IOException("Couldn't tell the peer: " + e.getMessage(), e);
        }
    }

    @Override
    byte[] receive(int length) throws IOException {
        byte[] bytes = new byte[length];
        int have = 0;
        beginWaiting();
        while (have < length) {
            int count;
            try {
                count = socket.getInputStream().read(bytes, have, length - have);
            } catch (SocketTimeoutException e) {
                requireLife(socket.getSoTimeout() / 1000);
                continue;
            } catch (IOException e) {
                throw new IOException("Couldn't hear the peer: " + e.getMessage(), e);
            }
            if (count < 0) {
                throw hungUp();
            }
            have += count;
        }
        return bytes;
    }

    @Override
    void part() {
        try {
            socket.getOutputStream().write(DONE);
        } catch (IOException e) {
            // The peer was faster: it has all it needs and is gone.
            return;
        }
        leave();
    }

    @Override
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

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
