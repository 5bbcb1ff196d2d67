package io.rdma4j.softnic.engine;

import io.rdma4j.softnic.network.DatagramNetwork;

/** A link on which nothing arrives, and whose sleepers sleep in the sockets of a network. */
final class SleepingLink extends QuietLink {
    private final DatagramNetwork network;

    SleepingLink(DatagramNetwork network) {
        this.network = network;
    }

    @Override
    public void await(long timeoutNs) {
        network.await(timeoutNs);
    }

    @Override
    public void wake() {
        network.wake();
    }
}
