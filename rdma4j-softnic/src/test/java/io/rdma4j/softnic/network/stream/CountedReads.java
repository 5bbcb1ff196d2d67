// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.stream;

import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicLong;

/** A network that knows how much was read from the streams of another one, which their peers cannot see. */
public final class CountedReads extends ForwardingStreams {
    private final AtomicLong bytes = new AtomicLong();

    public CountedReads(StreamNetwork network) {
        super(network);
    }

    /** {@return how many bytes were read, from all streams together} For any thread. */
    public long bytes() {
        return bytes.get();
    }

    private final class Counted extends ForwardingStream {
        Counted(Stream stream) {
            super(stream);
        }

        @Override
        public int read(ByteBuffer into) {
            int length = super.read(into);
            bytes.addAndGet(Math.max(0, length));
            return length;
        }
    }

    @Override
    public StreamListener listen(InetSocketAddress at, int backlog, StreamListener.Handler handler)
            throws RdmaException {
        return network.listen(at, backlog, accepted -> handler.onStream(new Counted(accepted)));
    }

    @Override
    public Stream connect(@Nullable InetSocketAddress source, InetSocketAddress destination)
            throws RdmaException {
        return new Counted(network.connect(source, destination));
    }
}
