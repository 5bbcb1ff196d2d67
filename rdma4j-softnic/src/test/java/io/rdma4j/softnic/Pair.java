package io.rdma4j.softnic;

import io.rdma4j.protocol.wire.Opcode;
import io.rdma4j.protocol.wire.OutgoingPacket;
import io.rdma4j.protocol.wire.Path;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two connected queue pairs on a simulated network, with memory and completions: a test makes one, acts,
 * {@link #settle}s and asserts.
 */
final class Pair {
    static final int MEMORY = 1 << 16;
    static final int DEPTH = 16;
    static final int FIRST_PSN = 0xfffffe;
    static final long SECOND = 1_000_000_000L;

    final Simulation simulation = new Simulation(42);
    final Side a = new Side(simulation.a);
    final Side b = new Side(simulation.b);

    /** How a test wants its pair. */
    static final class Settings {
        Mtu mtu = Mtu.MTU_1024;
        int timeout = 14;
        int retryCount = 7;
        int rnrRetry = 7;
        int minRnrTimer = 12;
        int readAtomic = 4;
        AccessFlag[] access = {AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE};
    }

    Pair() throws Exception {
        this(new Settings());
    }

    Pair(Settings settings) throws Exception {
        connect(settings);
    }

    void connect(Settings settings) throws RdmaException {
        a.connect(b, settings);
        b.connect(a, settings);
    }

    /** Lets both sides work until nothing is left to do, or ten minutes have passed. */
    void settle() {
        run(600 * SECOND);
    }

    /** Lets both sides work for a time. */
    void run(long durationNs) {
        long limitNs = simulation.network.nowNs() + durationNs;
        simulation.run(() -> {
            try {
                a.takeCompletions();
                b.takeCompletions();
            } catch (RdmaException overrun) {
                // The test looks itself.
            }
            return simulation.isQuiet();
        }, limitNs);
    }

    /** One end. */
    final class Side {
        final Simulation.Node node;
        final CompletionQueue completionQueue;
        final QueuePair queuePair;
        final MemorySegment memory = Arena.ofAuto().allocate(MEMORY, 64);
        final MemoryRegion region;
        final List<WorkCompletion> completions = new ArrayList<>();

        Side(Simulation.Node node) throws RdmaException {
            this(node, node.context.createCompletionQueue(4 * DEPTH));
        }

        Side(Simulation.Node node, CompletionQueue completionQueue) throws RdmaException {
            this.node = node;
            this.completionQueue = completionQueue;
            queuePair = node.queuePair(completionQueue, QueuePairCapabilities.ofDepth(DEPTH, DEPTH)
                    .withElements(2, 2).withInlineData(32));
            region = node.domain.register(memory, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ,
                    AccessFlag.REMOTE_WRITE);
            byte[] bytes = new byte[MEMORY / 2];
            new Random(node.address.hashCode()).nextBytes(bytes);
            MemorySegment.copy(MemorySegment.ofArray(bytes), 0, memory, 0, bytes.length);
        }

        void connect(Side peer, Settings settings) throws RdmaException {
            AccessFlag[] access = settings.access;
            queuePair.modify(new QueuePairAttributes().state(QueuePairState.INIT).port(1)
                    .pkeyIndex(0).accessFlags(Set.of(access)));
            queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTR)
                    .addressVector(AddressHandleAttributes.to(peer.node.nic.gids().get(1), 1))
                    .pathMtu(settings.mtu).destinationQueuePair(peer.queuePair.number())
                    .receivePsn(FIRST_PSN).maxDestinationReadAtomic(settings.readAtomic)
                    .minRnrTimer(settings.minRnrTimer));
            queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTS)
                    .timeout(settings.timeout).retryCount(settings.retryCount)
                    .rnrRetry(settings.rnrRetry).sendPsn(FIRST_PSN)
                    .maxReadAtomic(settings.readAtomic));
        }

        /** Posts a receive into the upper half of the memory. */
        void receive(long id, int length) throws RdmaException {
            queuePair.postReceive(
                    new ReceiveWorkRequest().id(id).add(region, MEMORY / 2, length));
        }

        /** Posts a signaled SEND from the start of the memory. */
        void send(long id, int length) throws RdmaException {
            queuePair.postSend(request(id).send().add(region, 0, length));
        }

        /** Posts a signaled WRITE from the start of the memory to the upper half of the peer's. */
        void write(long id, int length) throws RdmaException {
            queuePair.postSend(
                    request(id).write(peer().region.address() + MEMORY / 2, peer().region.rkey())
                            .add(region, 0, length));
        }

        /** Posts a signaled READ of the start of the peer's memory into the upper half. */
        void read(long id, int length) throws RdmaException {
            queuePair.postSend(request(id).read(peer().region.address(), peer().region.rkey())
                    .add(region, MEMORY / 2, length));
        }

        SendWorkRequest request(long id) {
            return new SendWorkRequest().id(id).set(SendFlag.SIGNALED);
        }

        Side peer() {
            return this == a ? b : a;
        }

        Path pathToPeer() {
            return Path.between(node.nic.gids().get(1), peer().node.nic.gids().get(1));
        }

        /** Sends a packet to the peer's queue pair that this side's device would not send. */
        OutgoingPacket forge(Opcode opcode, long psn) {
            return new OutgoingPacket(
                    MemorySegment.ofArray(new byte[Opcode.MAX_HEADER_LENGTH])).begin(opcode,
                            pathToPeer(), peer().queuePair.number(), psn, true, false);
        }

        void takeCompletions() throws RdmaException {
            WorkCompletion completion = new WorkCompletion();
            while (completionQueue.poll(completion)) {
                completions.add(completion);
                completion = new WorkCompletion();
            }
        }

        /** Asserts ids and outcomes of all completions since the last call, in order. */
        void assertCompleted(String... idsAndOutcomes) {
            assertThat(completions.stream().map(c -> c.id() + " " + c.status()).toList())
                    .containsExactly(idsAndOutcomes);
            completions.clear();
        }

        /** {@return whether the upper half of this memory begins with the start of the peer's} */
        boolean hasPeersBytes(int length) {
            return MemorySegment.mismatch(memory, MEMORY / 2, MEMORY / 2 + length, peer().memory, 0,
                    length) == -1;
        }

        byte upperByte(int offset) {
            return memory.get(ValueLayout.JAVA_BYTE, MEMORY / 2 + offset);
        }
    }
}
