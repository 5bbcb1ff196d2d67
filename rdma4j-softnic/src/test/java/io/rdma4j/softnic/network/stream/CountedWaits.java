// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.stream;

import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.net.InetSocketAddress;
import java.util.concurrent.atomic.AtomicLong;

/** A network that counts how often a thread goes to sleep in it, which a quiet device seldom does. */
public final class CountedWaits extends ForwardingStreams {
    private final AtomicLong waits = new AtomicLong();

    public CountedWaits(StreamNetwork network) {
        super(network);
    }

    /** {@return how often so far} For any thread. */
    public long waits() {
        return waits.get();
    }

    @Override
    public void await(long timeoutNs) {
        waits.incrementAndGet();
        super.await(timeoutNs);
    }

    @Override
    public StreamListener listen(InetSocketAddress at, int backlog, StreamListener.Handler handler)
            throws RdmaException {
        return network.listen(at, backlog, handler);
    }

    @Override
    public Stream connect(@Nullable InetSocketAddress source, InetSocketAddress destination)
            throws RdmaException {
        return network.connect(source, destination);
    }
}
