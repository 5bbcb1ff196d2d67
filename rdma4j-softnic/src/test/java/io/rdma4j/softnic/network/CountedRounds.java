// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network;

import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** A network that counts how often a thread goes to sleep in it, which a quiet device seldom does. */
public final class CountedRounds implements DatagramNetwork {
    private final DatagramNetwork network;
    private final AtomicLong rounds = new AtomicLong();

    public CountedRounds(DatagramNetwork network) {
        this.network = network;
    }

    /** {@return how often so far} For any thread. */
    public long rounds() {
        return rounds.get();
    }

    @Override
    public List<PacketPort> ports() {
        return network.ports();
    }

    @Override
    public @Nullable PacketPort port(Gid local) {
        return network.port(local);
    }

    @Override
    public PacketPort open(InetAddress local) throws RdmaException {
        return network.open(local);
    }

    @Override
    public PacketPort join(Gid group) throws RdmaException {
        return network.join(group);
    }

    @Override
    public void leave(Gid group) {
        network.leave(group);
    }

    @Override
    public boolean pollDue(long nowNs) {
        return network.pollDue(nowNs);
    }

    @Override
    public long nextDueNs() {
        return network.nextDueNs();
    }

    @Override
    public PortSharing sharing() {
        return network.sharing();
    }

    @Override
    public @Nullable SharedMemory sharedMemory() {
        return network.sharedMemory();
    }

    @Override
    public void await(long timeoutNs) {
        rounds.incrementAndGet();
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
