// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.stream;

import io.rdma4j.softnic.network.PcapWriter;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Selector;
import java.nio.file.Path;

/**
 * A network that records the streams of another network in a file for Wireshark.
 *
 * <p>It is directly above the sockets, so below an {@link ImpairedStreams} it records damaged bytes. The system's real
 * segments are not known here: each write or read is recorded as one or more, none is repeated, and each has the sequence number of
 * its first byte, so that a reader can reassemble the stream.
 */
public final class CapturingStreams extends ForwardingStreams {
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private final PcapWriter writer;

    private CapturingStreams(StreamNetwork network, PcapWriter writer) {
        super(network);
        this.writer = writer;
    }

    /**
     * {@return a network that records another one, and is closed with it, also if this fails}
     *
     * @param file is overwritten
     * @throws RdmaException as from {@link PcapWriter#open}
     */
    public static CapturingStreams open(StreamNetwork network, Path file) throws RdmaException {
        try {
            return new CapturingStreams(network, PcapWriter.open(file));
        } catch (RdmaException e) {
            network.close();
            throw e;
        }
    }

    @Override
    public StreamListener listen(InetSocketAddress at, int backlog, StreamListener.Handler handler)
            throws RdmaException {
        return network.listen(at, backlog, accepted -> {
            Recorded stream = new Recorded(accepted);
            stream.begin(false);
            handler.onStream(stream);
        });
    }

    @Override
    public Stream connect(@Nullable InetSocketAddress source, InetSocketAddress destination)
            throws RdmaException {
        return new Recorded(network.connect(source, destination));
    }

    @Override
    public void await(long timeoutNs) {
        writer.flushIfOld();
        network.await(timeoutNs);
    }

    @Override
    public boolean await(long timeoutNs, Selector selector) {
        writer.flushIfOld();
        return network.await(timeoutNs, selector);
    }

    @Override
    public void close() {
        network.close();
        writer.close();
    }

    /** A stream, and the numbers of the next byte of each direction. */
    private final class Recorded extends ForwardingStream {
        private int sent;
        private int received;
        private boolean hasBegun;
        private boolean hasEnded;
        private boolean hasPeerEnded;

        Recorded(Stream stream) {
            super(stream);
        }

        /** The three segments that open a connection. */
        void begin(boolean isInitiator) {
            hasBegun = true;
            record(isInitiator, PcapWriter.SYN, NOTHING);
            record(!isInitiator, PcapWriter.SYN | PcapWriter.ACK, NOTHING);
            record(isInitiator, PcapWriter.ACK, NOTHING);
        }

        private void record(boolean isSent, int flags, ByteBuffer bytes) {
            int numbers = bytes.remaining()
                    + ((flags & (PcapWriter.SYN | PcapWriter.FIN)) == 0 ? 0 : 1);
            if (isSent) {
                writer.write(local(), remote(), sent, received, flags, bytes);
                sent += numbers;
            } else {
                writer.write(remote(), local(), received, sent, flags, bytes);
                received += numbers;
            }
        }

        /** Each side ends its direction once; a reset ends both. */
        private void end(boolean isOurs, int flags) {
            if (!hasBegun || (isOurs ? hasEnded : hasPeerEnded)) {
                return;
            }
            record(isOurs, flags | PcapWriter.ACK, NOTHING);
            if (isOurs) {
                hasEnded = true;
            } else {
                hasPeerEnded = true;
            }
        }

        @Override
        public int read(ByteBuffer into) {
            int from = into.position();
            int length = super.read(into);
            if (length > 0) {
                record(false, PcapWriter.ACK, into.duplicate().flip().position(from));
            } else if (length == END) {
                end(false, PcapWriter.FIN);
            }
            return length;
        }

        @Override
        public int write(ByteBuffer from) {
            ByteBuffer bytes = from.duplicate();
            int length = super.write(from);
            if (length > 0) {
                record(true, PcapWriter.ACK, bytes.limit(bytes.position() + length));
            }
            return length;
        }

        @Override
        public void finish() {
            end(true, PcapWriter.FIN);
            super.finish();
        }

        @Override
        public void close() {
            end(true, PcapWriter.FIN);
            super.close();
        }

        @Override
        public void reset() {
            end(true, PcapWriter.RST);
            super.reset();
        }

        @Override
        public void onConnected() {
            begin(true);
            super.onConnected();
        }
    }
}
