// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.iwarp;

import io.rdma4j.softnic.network.stream.Stream;
import io.rdma4j.softnic.network.stream.StreamListener;
import io.rdma4j.softnic.network.stream.StreamNetwork;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** TCP in memory, in virtual time and in one thread. The other side of each stream is played by the test. */
final class SimulatedStreams implements StreamNetwork {
    /** What a stream holds in each direction until its reader reads. */
    static final int ROOM = 1 << 14;

    private final Map<Integer, StreamListener.Handler> listeners = new HashMap<>();
    private final List<Simulated> open = new ArrayList<>();
    private int nextPort = 20_000;
    private long nowNs;

    long nowNs() {
        return nowNs;
    }

    void advanceTo(long ns) {
        nowNs = Math.max(nowNs, ns);
    }

    /** {@return the streams that this side has not closed} */
    List<Simulated> open() {
        return List.copyOf(open);
    }

    int listening() {
        return listeners.size();
    }

    /** {@return a connection to a port, null if it has no listener} */
    @Nullable
    Simulated arrive(int port) {
        StreamListener.Handler handler = listeners.get(port);
        if (handler == null) {
            return null;
        }
        Simulated stream = new Simulated(address(port), address(nextPort++));
        stream.isConnecting = false;
        handler.onStream(stream);
        return stream;
    }

    private static InetSocketAddress address(int port) {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    }

    @Override
    public StreamListener listen(InetSocketAddress at, int backlog,
            StreamListener.Handler handler) throws RdmaException {
        if (listeners.putIfAbsent(at.getPort(), handler) != null) {
            throw new RdmaException(Errno.EADDRINUSE, "listen", "port " + at.getPort());
        }
        return new StreamListener() {
            @Override
            public InetSocketAddress local() {
                return at;
            }

            @Override
            public void close() {
                listeners.remove(at.getPort(), handler);
            }
        };
    }

    @Override
    public Stream connect(@Nullable InetSocketAddress source, InetSocketAddress destination) {
        return new Simulated(address(nextPort++), destination);
    }

    @Override
    public boolean poll() {
        boolean isAny = false;
        for (Simulated each : open()) {
            isAny |= each.tell();
        }
        return isAny;
    }

    @Override
    public boolean pollBriefly() {
        return poll();
    }

    @Override
    public void await(long timeoutNs) {
        nowNs += timeoutNs;
    }

    @Override
    public void wake() {
        // One thread does everything.
    }

    @Override
    public void close() {
        open().forEach(Simulated::reset);
        listeners.clear();
    }

    /** A stream, with the methods of the device and those of its peer. */
    final class Simulated implements Stream {
        private final InetSocketAddress local;
        private final InetSocketAddress remote;
        private final ByteBuffer arrived = ByteBuffer.allocate(ROOM);
        private @Nullable Handler handler;
        private @Nullable Errno refusal;
        private boolean isConnecting = true;
        private boolean isEstablished;
        private boolean isPeerFinished;
        private boolean isBroken;
        private boolean isFinished;
        private boolean wantsRoom;
        private int sent;

        private Simulated(InetSocketAddress local, InetSocketAddress remote) {
            this.local = local;
            this.remote = remote;
            open.add(this);
        }

        // ------------------------------------------------------------ the peer

        void establish() {
            isEstablished = true;
        }

        void refuse(Errno reason) {
            refusal = reason;
        }

        /** Sends bytes to the device, as many as there is room for. */
        void give(byte[] bytes, int from, int end) {
            if (!isPeerFinished && !isBroken) {
                arrived.put(bytes, from, Math.min(end - from, arrived.remaining()));
            }
        }

        /** Reads. {@return how many bytes there were} */
        int take() {
            int taken = sent;
            sent = 0;
            return taken;
        }

        void finishAsPeer() {
            isPeerFinished = true;
        }

        void breakAsPeer() {
            isBroken = true;
        }

        /** {@return whether the device has ended its side, so that a peer that has read all closes as well} */
        boolean isFinished() {
            return isFinished;
        }

        // ------------------------------------------------------------ the network

        private boolean tell() {
            Handler told = handler;
            if (told == null || !open.contains(this)) {
                return false;
            }
            if (isConnecting) {
                return tellOutcome(told);
            }
            boolean isAny = false;
            if (isBroken || isPeerFinished || arrived.position() > 0) {
                isAny = true;
                told.onReadable();
            }
            if (wantsRoom && (sent < ROOM || isBroken) && open.contains(this)) {
                isAny = true;
                wantsRoom = false;
                told.onWritable();
            }
            return isAny;
        }

        private boolean tellOutcome(Handler told) {
            Errno reason = isBroken ? Errno.ECONNRESET : refusal;
            if (reason != null) {
                close();
                told.onRefused(reason);
                return true;
            }
            if (isEstablished) {
                isConnecting = false;
                told.onConnected();
            }
            return isEstablished;
        }

        @Override
        public void handler(Handler next) {
            handler = next;
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
            if (isBroken) {
                return END;
            }
            if (arrived.position() == 0) {
                return isPeerFinished ? END : 0;
            }
            arrived.flip();
            int length = Math.min(arrived.remaining(), into.remaining());
            into.put(into.position(), arrived, 0, length).position(into.position() + length);
            arrived.position(length).compact();
            return length;
        }

        @Override
        public int write(ByteBuffer from) {
            if (isBroken || isFinished) {
                return END;
            }
            int length = Math.min(from.remaining(), ROOM - sent);
            from.position(from.position() + length);
            sent += length;
            wantsRoom = from.hasRemaining();
            return length;
        }

        /** As if the other side's system acknowledged only what its program has read. */
        @Override
        public boolean isAcknowledged() {
            return sent == 0 || isBroken;
        }

        @Override
        public void finish() {
            isFinished = true;
        }

        @Override
        public void close() {
            open.remove(this);
        }

        @Override
        public void reset() {
            open.remove(this);
        }
    }
}
