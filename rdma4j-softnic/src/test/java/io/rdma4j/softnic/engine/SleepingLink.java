// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.engine;

import io.rdma4j.softnic.network.DatagramNetwork;

import java.util.concurrent.atomic.AtomicInteger;

/** A link on which nothing arrives, and whose sleepers sleep in the sockets of a network. */
final class SleepingLink extends QuietLink {
    private final DatagramNetwork network;
    private final AtomicInteger rounds = new AtomicInteger();
    private volatile boolean hasMore;

    SleepingLink(DatagramNetwork network) {
        this.network = network;
    }

    /** {@return how often a thread has looked whether anything has arrived} */
    int rounds() {
        return rounds.get();
    }

    /** Each look says that there is more, though nothing has arrived. */
    void pretendMore() {
        hasMore = true;
    }

    @Override
    public boolean receive(long nowNs, boolean isOften) {
        rounds.incrementAndGet();
        return hasMore;
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
