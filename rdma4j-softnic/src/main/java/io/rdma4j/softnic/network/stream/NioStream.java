// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.stream;

import io.rdma4j.softnic.network.KnownErrno;
import io.rdma4j.spi.SocketErrors;
import io.rdma4j.verbs.Errno;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;

/** A stream on a channel of the JDK. */
final class NioStream implements Stream {
    /** Who refuses has answered by then, even if some packets were lost. */
    private static final long SILENCE_NS = 7_000_000_000L;

    private final PortableStreams network;
    private final SocketChannel channel;
    private final InetSocketAddress remote;
    private InetSocketAddress local = new InetSocketAddress(0);
    private @Nullable Handler handler;
    private @Nullable Errno refusal;
    private boolean isConnecting;
    private long begunNs;
    private boolean isWriteWanted;
    private boolean isClosed;

    NioStream(PortableStreams network, SocketChannel channel, InetSocketAddress remote) {
        this.network = network;
        this.channel = channel;
        this.remote = remote;
    }

    /** Before it is used. */
    void configure() throws IOException {
        channel.configureBlocking(false);
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        // A peer that has vanished without a word is noticed some time.
        channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
    }

    /** Registers for a kind of event. */
    void watch(int interest) throws IOException {
        local = (InetSocketAddress) channel.getLocalAddress();
        network.register(channel, interest, this);
    }

    /** Begins to connect; an immediate outcome is reported in the next round. */
    void connect() throws IOException {
        isConnecting = true;
        begunNs = System.nanoTime();
        try {
            boolean isConnected = channel.connect(remote);
            watch(SelectionKey.OP_CONNECT);
            if (isConnected) {
                network.onDecided(this);
            }
        } catch (BindException noPortLeft) {
            throw noPortLeft;
        } catch (SocketException e) {
            refusal = errno(e, 0);
            network.onDecided(this);
        }
    }

    /**
     * {@return why it is not connected} The JDK tells the error by the kind of exception, or in the system's words, which may be
     * those of another language.
     *
     * @param triedNs for how long connecting was tried
     */
    static Errno errno(IOException e, long triedNs) {
        int number = SocketErrors.numberOf(e);
        if (number != 0) {
            return KnownErrno.of(number);
        }
        if (!(e instanceof ConnectException)) {
            // Of those that have no kind of their own, it is the one that is not rare.
            return Errno.ENETUNREACH;
        }
        return triedNs >= SILENCE_NS ? Errno.ETIMEDOUT : Errno.ECONNREFUSED;
    }

    // ---------------------------------------------------------------- what has happened

    /** The network has found something. */
    void onReady(int operations) {
        if (isClosed) {
            return;
        }
        if (isConnecting) {
            finishConnecting();
            return;
        }
        if ((operations & SelectionKey.OP_WRITE) != 0 && isWriteWanted) {
            isWriteWanted = false;
            network.interest(channel, SelectionKey.OP_READ);
            Handler present = handler;
            if (present != null) {
                present.onWritable();
            }
        }
        if ((operations & SelectionKey.OP_READ) != 0) {
            onReadable();
        }
    }

    /** There may be something to read. */
    void onReadable() {
        Handler present = handler;
        if (present != null && !isClosed) {
            present.onReadable();
        }
    }

    /** Reports the outcome of connecting, if it is known. */
    void finishConnecting() {
        Handler present = handler;
        Errno reason = refusal;
        try {
            if (isClosed || (reason == null && !channel.finishConnect())) {
                return;
            }
            if (reason == null) {
                local = (InetSocketAddress) channel.getLocalAddress();
            }
        } catch (IOException e) {
            reason = errno(e, System.nanoTime() - begunNs);
        }
        isConnecting = false;
        if (reason != null) {
            close();
        } else {
            network.interest(channel, SelectionKey.OP_READ);
        }
        if (present == null) {
            return;
        }
        if (reason == null) {
            present.onConnected();
        } else {
            present.onRefused(reason);
        }
    }

    /** {@return whether the user waits for room to write} */
    boolean isWriteWanted() {
        return isWriteWanted;
    }

    // ---------------------------------------------------------------- for its user

    @Override
    public void handler(Handler newHandler) {
        handler = newHandler;
    }

    @Override
    public InetSocketAddress local() {
        return local;
    }

    @Override
    public InetSocketAddress remote() {
        return remote;
    }

    @Override
    public int read(ByteBuffer into) {
        if (isClosed) {
            return END;
        }
        try {
            int length = channel.read(into);
            if (length > 0) {
                network.onRead(this);
            }
            return length;
        } catch (IOException broken) {
            return END;
        }
    }

    @Override
    public int write(ByteBuffer from) {
        if (isClosed) {
            return END;
        }
        try {
            int length = channel.write(from);
            if (from.hasRemaining() && !isWriteWanted) {
                isWriteWanted = true;
                network.interest(channel, SelectionKey.OP_READ | SelectionKey.OP_WRITE);
            }
            return length;
        } catch (IOException broken) {
            return END;
        }
    }

    @Override
    public boolean isAcknowledged() {
        // The JDK's channels do not provide this.
        return true;
    }

    @Override
    public void finish() {
        if (isClosed) {
            return;
        }
        try {
            channel.shutdownOutput();
        } catch (IOException broken) {
            // The next read reports the end.
        }
    }

    @Override
    public void close() {
        if (isClosed) {
            return;
        }
        isClosed = true;
        try {
            channel.close();
        } catch (IOException broken) {
            // Nothing is left to close.
        }
        network.forgetClosed();
    }

    @Override
    public void reset() {
        if (isClosed) {
            return;
        }
        try {
            channel.setOption(StandardSocketOptions.SO_LINGER, 0);
        } catch (IOException broken) {
            // It is reset already.
        }
        close();
    }
}
