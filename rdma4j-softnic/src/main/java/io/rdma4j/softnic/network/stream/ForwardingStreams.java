// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.stream;

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
    public void wake() {
        network.wake();
    }

    @Override
    public void close() {
        network.close();
    }
}
