// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.protocol.ibcm.CmSettings;
import io.rdma4j.softnic.device.SoftDevice;
import io.rdma4j.softnic.device.SoftNic;
import io.rdma4j.softnic.memory.FileFlusher;
import io.rdma4j.softnic.network.SimulatedNetwork;
import io.rdma4j.softnic.roce.RoceFamily;
import io.rdma4j.softnic.roce.RoceTransport;
import io.rdma4j.softnic.verbs.SoftDeviceContext;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaException;

import java.net.InetAddress;
import java.net.NetworkInterface;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Random;
import java.util.function.BooleanSupplier;

/**
 * Two devices on a simulated network, in virtual time and in one thread: make them, act, {@link #run}
 * until something is true, assert.
 */
final class Simulation {
    private static final long APPLICATION_TICK_NS = 1_000_000;

    final SimulatedNetwork network;
    final Node a;
    final Node b;

    /** One device with what a test needs of it. */
    final class Node {
        final SoftNic nic;
        final SoftDeviceContext context;
        final ProtectionDomain domain;
        final InetAddress address;
        /** What is to be written to files, and is at the next opportunity, unless the disk is slow. */
        final Deque<Runnable> disk = new ArrayDeque<>();
        boolean isDiskSlow;

        Node(int number, Random random) throws Exception {
            address = InetAddress.getByAddress(new byte[]{127, 0, 0, (byte) number});
            SoftDevice device = new SoftDevice(RoceFamily.ROCE,
                    NetworkInterface.getByInetAddress(InetAddress.getLoopbackAddress()));
            nic = new SoftNic(device,
                    RoceTransport.on(network.newNode(), CmSettings.defaults(number)),
                    random::nextInt,
                    network::nowNs, null, new FileFlusher(disk::add));
            nic.start(address);
            context = new SoftDeviceContext(nic);
            domain = context.allocateProtectionDomain();
        }

        QueuePair queuePair(CompletionQueue queue, QueuePairCapabilities sizes)
                throws RdmaException {
            return domain.createQueuePair(new QueuePairInitAttributes().completionQueue(queue)
                    .capabilities(sizes));
        }

        void poll() {
            nic.driver().poll();
            if (!isDiskSlow) {
                writeFiles();
            }
        }

        void writeFiles() {
            for (Runnable next = disk.poll(); next != null; next = disk.poll()) {
                next.run();
            }
        }
    }

    Simulation(long seed) throws Exception {
        Random random = new Random(seed);
        network = new SimulatedNetwork(random.nextLong());
        a = new Node(1, random);
        b = new Node(2, random);
    }

    /** Frees the memory of the devices: a long run makes a hundred thousand. */
    void shutDown() {
        a.nic.shutDown();
        b.nic.shutDown();
    }

    /** Brings a pair to RTS. */
    void connect(QueuePair ofA, QueuePair ofB, Mtu mtu, int rnrRetry) throws RdmaException {
        connect(ofA, ofB, b, mtu, rnrRetry);
        connect(ofB, ofA, a, mtu, rnrRetry);
    }

    private static void connect(QueuePair own, QueuePair other, Node peer, Mtu mtu, int rnrRetry)
            throws RdmaException {
        own.modify(new QueuePairAttributes().state(QueuePairState.INIT).port(1).pkeyIndex(0)
                .accessFlags(AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ,
                        AccessFlag.REMOTE_ATOMIC, AccessFlag.FLUSH_GLOBAL));
        own.modify(new QueuePairAttributes().state(QueuePairState.RTR)
                .addressVector(AddressHandleAttributes.to(peer.nic.gids().get(1), 1)).pathMtu(mtu)
                .destinationQueuePairNumber(other.number()).receivePsn(other.number() & 0xffffff)
                .maxDestinationReadAtomic(4).minRnrTimerCode(1));
        // With less time, of the worst networks, one in some thousands would use up its retries.
        own.modify(new QueuePairAttributes().state(QueuePairState.RTS).ackTimeoutExponent(18)
                .retryCount(7)
                .rnrRetry(rnrRetry).sendPsn(own.number() & 0xffffff).maxReadAtomic(4));
    }

    /** {@return whether nothing is under way and nothing is due} */
    boolean isQuiet() {
        a.poll();
        b.poll();
        return network.nextArrivalNs() == Long.MAX_VALUE
                && a.nic.engine().deadlineNs() == Long.MAX_VALUE
                && b.nic.engine().deadlineNs() == Long.MAX_VALUE;
    }

    /**
     * Lets both devices work and time pass until something is true.
     *
     * @return whether it became true before the time was over
     */
    boolean run(BooleanSupplier isDone, long limitNs) {
        while (!isDone.getAsBoolean()) {
            a.poll();
            b.poll();
            if (isDone.getAsBoolean()) {
                return true;
            }
            long tick = nextTickNs();
            if (tick > limitNs) {
                return false;
            }
            network.advanceTo(Math.max(tick, network.nowNs() + 1));
        }
        return true;
    }

    /** Lets both devices work once and time pass until something can happen. */
    void step() {
        a.poll();
        b.poll();
        network.advanceTo(Math.max(nextTickNs(), network.nowNs() + 1));
    }

    private long nextTickNs() {
        long next = Math.min(network.nextArrivalNs(),
                Math.min(a.nic.engine().deadlineNs(), b.nic.engine().deadlineNs()));
        // The application acts of its own accord now and then.
        return Math.min(next, network.nowNs() + APPLICATION_TICK_NS);
    }
}
