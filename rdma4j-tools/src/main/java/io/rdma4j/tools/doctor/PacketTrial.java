// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.doctor;

import io.rdma4j.tools.endpoint.LocalPort;
import io.rdma4j.tools.endpoint.OpenObjects;
import io.rdma4j.tools.endpoint.QueuePairAddress;
import io.rdma4j.tools.endpoint.ReliableSettings;
import io.rdma4j.tools.options.DeviceOfAddress;
import io.rdma4j.tools.options.GidChoice;
import io.rdma4j.tools.timing.Backoff;
import io.rdma4j.tools.timing.Pause;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.WorkCompletionOpcode;

import java.io.Closeable;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;

/**
 * One side of a trial of RoCE's packets: which of them arrive, in one direction and without an answer in the other. So the
 * queue pair is of an unreliable connection. The packets are the largest of each path MTU: a WRITE with immediate data
 * has the longest headers, and its immediate tells the receiver which of them it was.
 */
final class PacketTrial implements Closeable {
    /** Of each packet, for networks that lose some. */
    private static final int TIMES = 3;
    private static final Duration BETWEEN = Duration.ofMillis(20);
    private static final int DEPTH = TIMES * Mtu.values().length;
    /** Not used: the connection is unreliable. */
    private static final ReliableSettings UNRELIABLE = new ReliableSettings(0, 0, 0);
    private static final int WORDS = 8;

    private final OpenObjects open = new OpenObjects();
    private final DeviceContext context;
    private final LocalPort port;
    private final Mtu ownMtu;
    private final CompletionQueue completions;
    private final QueuePair queuePair;
    private final MemoryRegion region;
    private final QueuePairAddress own;
    private final WorkCompletion completion = new WorkCompletion();
    private Mtu mtu;
    private long peerAddress;
    private int peerKey;

    /** Opens the device that has an address of this machine. */
    PacketTrial(InetAddress local) throws IOException {
        context = DeviceOfAddress.open(local);
        open.add(context::close);
        try {
            LocalPort.requireByHand(context, "only RoCE has packets of its own");
            port = new LocalPort(context, 1, GidChoice.index(context, 1, local), 0, "-g");
            ownMtu = context.queryPort(port.number()).activeMtu();
            mtu = ownMtu;
            ProtectionDomain domain = context.allocateProtectionDomain();
            open.add(domain::close);
            Arena arena = Arena.ofShared();
            open.add(arena::close);
            region = domain.register(arena.allocate(2L * Mtu.MTU_4096.bytes()),
                    EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE));
            open.add(region::close);
            completions = context.createCompletionQueue(2 * DEPTH);
            open.add(completions::close);
            queuePair = domain.createQueuePair(new QueuePairInitAttributes()
                    .type(QueuePairType.UC).completionQueue(completions)
                    .capabilities(QueuePairCapabilities.ofDepth(DEPTH, DEPTH)));
            open.add(queuePair::close);
            port.initialize(queuePair, EnumSet.of(AccessFlag.REMOTE_WRITE));
            for (int i = 0; i < DEPTH; i++) {
                queuePair.postReceive(new ReceiveWorkRequest());
            }
            own = port.addressOf(queuePair);
        } catch (IOException | RuntimeException e) {
            open.closeAfter(e);
            throw e;
        }
    }

    String device() {
        return context.device().name();
    }

    Mtu ownMtu() {
        return ownMtu;
    }

    /** {@return the path MTU that both sides can} */
    Mtu mtu() {
        return mtu;
    }

    /** {@return what the peer must know, as words} */
    String words() {
        return String.join(" ", Integer.toString(own.lid()), Integer.toString(own.number()),
                Integer.toString(own.psn()), own.gid().addressText(),
                Integer.toUnsignedString(region.rkey()), Long.toUnsignedString(region.address()),
                Integer.toString(ownMtu.bytes()));
    }

    /**
     * Makes the queue pair ready for that of the peer.
     *
     * @param words a keyword and what the peer has told
     * @param peer the peer's address; packets go to no other
     * @return the path MTU of the peer's port
     */
    Mtu connect(String[] words, InetAddress peer) throws IOException {
        if (words.length != WORDS) {
            throw new IOException("the peer does not speak as a doctor of this version does");
        }
        try {
            Gid gid = Gid.parse(words[4]);
            if (!gid.address().equals(peer)) {
                throw new IOException("the GID " + gid.addressText() + " is not the address "
                        + peer.getHostAddress());
            }
            Mtu peers = Mtu.ofBytes(Integer.parseInt(words[7]));
            if (peers == null) {
                throw new IOException("the peer's port has an unknown path MTU, " + words[7]);
            }
            peerKey = Integer.parseUnsignedInt(words[5]);
            peerAddress = Long.parseUnsignedLong(words[6]);
            mtu = Mtu.min(ownMtu, peers);
            port.connect(queuePair, own,
                    new QueuePairAddress(Integer.parseInt(words[1]), Integer.parseInt(words[2]),
                            Integer.parseInt(words[3]), gid),
                    mtu, UNRELIABLE);
            return peers;
        } catch (IllegalArgumentException e) {
            throw new IOException("the peer does not speak as a doctor of this version does", e);
        }
    }

    /** {@return the path MTUs that are tried} */
    List<Mtu> tried() {
        List<Mtu> all = new ArrayList<>();
        for (Mtu each : Mtu.values()) {
            if (each.bytes() <= mtu.bytes()) {
                all.add(each);
            }
        }
        return all;
    }

    /** Sends the largest packets of each path MTU. What cannot be sent is known from what does not arrive. */
    void send() throws IOException {
        for (int time = 0; time < TIMES; time++) {
            for (Mtu each : tried()) {
                queuePair.postSend(new SendWorkRequest().add(region, 0, each.bytes())
                        .writeWithImmediate(peerAddress + Mtu.MTU_4096.bytes(), peerKey,
                                each.bytes())
                        .set(SendFlag.SIGNALED));
            }
            Pause.of(BETWEEN);
        }
    }

    /** {@return the path MTUs whose packets have arrived} Waits for the rest no longer than the time. */
    List<Mtu> arrived(Duration time) throws RdmaException {
        List<Mtu> missing = tried();
        List<Mtu> arrived = new ArrayList<>();
        long endNs = System.nanoTime() + time.toNanos();
        for (int polls = 1; !missing.isEmpty() && System.nanoTime() - endNs < 0; polls++) {
            if (!completions.poll(completion)) {
                Backoff.pause(polls);
                continue;
            }
            if (completion.isSuccess() && completion
                    .opcode() == WorkCompletionOpcode.RECEIVE_RDMA_WITH_IMMEDIATE) {
                Mtu each = Mtu.ofBytes(completion.immediate());
                if (each != null && missing.remove(each)) {
                    arrived.add(each);
                }
            }
        }
        arrived.sort(null);
        return arrived;
    }

    @Override
    public void close() throws RdmaException {
        open.close();
    }
}
