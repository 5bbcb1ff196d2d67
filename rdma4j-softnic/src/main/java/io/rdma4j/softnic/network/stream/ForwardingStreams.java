// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.stream;

import java.nio.channels.Selector;

/** Streams of another network, to be changed by a subclass; as {@link ForwardingStream} for one stream. */
public abstract class ForwardingStreams implements StreamNetwork {
    /** The other one. */
    protected final StreamNetwork network;

    /** Called by subclasses. */
    protected ForwardingStreams(StreamNetwork network) {
        this.network = network;
    }

    @Override
    public boolean poll() {
        return network.poll();
    }

    @Override
    public boolean pollBriefly() {
        return network.pollBriefly();
    }

    @Override
    public void await(long timeoutNs) {
        network.await(timeoutNs);
    }

    @Override
    public boolean canAwait(Selector selector) {
        return network.canAwait(selector);
    }

    @Override
    public boolean await(long timeoutNs, Selector selector) {
        return network.await(timeoutNs, selector);
    }

    @Override
    public void wake() {
        network.wake();
    }

    @Override
    public void close() {
        network.close();
    }
}
