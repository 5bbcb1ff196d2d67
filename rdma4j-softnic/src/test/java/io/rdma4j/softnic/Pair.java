// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;
import io.rdma4j.verbs.WorkCompletion;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
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
    final Side a;
    final Side b;
    private @Nullable Bystander bystander;

    /** How a test wants its pair. */
    static final class Settings {
        QueuePairType type = QueuePairType.RC;
        boolean hasSharedReceives;
        Mtu mtu = Mtu.MTU_1024;
        int timeout = 14;
        int retryCount = 7;
        int rnrRetry = 7;
        int minRnrTimer = 12;
        int readAtomic = 4;
        /** What each side serves, if not what the other has under way. */
        @Nullable
        Integer readAtomicServed;
        AccessFlag[] access = {AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE,
            AccessFlag.REMOTE_ATOMIC, AccessFlag.FLUSH_GLOBAL, AccessFlag.FLUSH_PERSISTENT};
    }

    Pair() throws Exception {
        this(new Settings());
    }

    Pair(Settings settings) throws Exception {
        a = new Side(simulation.a, settings);
        b = new Side(simulation.b, settings);
        connect(settings);
    }

    /** {@return a pair of a transport service, everything else as usual} */
    static Pair of(QueuePairType type) throws Exception {
        Settings settings = new Settings();
        settings.type = type;
        return new Pair(settings);
    }

    void connect(Settings settings) throws RdmaException {
        a.connect(b, settings);
        b.connect(a, settings);
    }

    /** Has another connection exchange whenever this one works. */
    void accompany(Bystander other) {
        bystander = other;
    }

    /** Lets both sides work until nothing is left to do, or ten minutes have passed. */
    void settle() {
        run(600 * SECOND);
    }

    /** Lets both sides work for a time. */
    void run(long durationNs) {
        long limitNs = simulation.network.nowNs() + durationNs;
        simulation.run(() -> {
            takeCompletions();
            actBystander();
            return simulation.isQuiet();
        }, limitNs);
        // To see that all is quiet the devices have worked once more.
        takeCompletions();
    }

    private void takeCompletions() {
        try {
            a.takeCompletions();
            b.takeCompletions();
        } catch (RdmaException overrun) {
            // The test looks itself.
        }
    }

    private void actBystander() {
        Bystander other = bystander;
        try {
            if (other != null) {
                other.act();
            }
        } catch (RdmaException e) {
            throw new AssertionError("the other connection was harmed", e);
        }
    }

    /** One end. */
    final class Side {
        final Simulation.Node node;
        final CompletionQueue completionQueue;
        final QueuePair queuePair;
        final @Nullable SharedReceiveQueue sharedReceives;
        final MemorySegment memory = Arena.ofAuto().allocate(MEMORY, 64);
        final MemoryRegion region;
        final List<WorkCompletion> completions = new ArrayList<>();

        Side(Simulation.Node node) throws RdmaException {
            this(node, new Settings());
        }

        Side(Simulation.Node node, Settings settings) throws RdmaException {
            this(node, node.context.createCompletionQueue(4 * DEPTH), settings);
        }

        Side(Simulation.Node node, CompletionQueue completionQueue) throws RdmaException {
            this(node, completionQueue, new Settings());
        }

        Side(Simulation.Node node, CompletionQueue completionQueue, Settings settings)
                throws RdmaException {
            this(node, completionQueue, settings.hasSharedReceives
                    ? node.domain.createSharedReceiveQueue(new SharedReceiveQueueInitAttributes()
                            .maxRequests(DEPTH).maxElements(2))
                    : null, settings.type);
        }

        private Side(Simulation.Node node, CompletionQueue completionQueue,
                @Nullable SharedReceiveQueue sharedReceives, QueuePairType type)
                throws RdmaException {
            this(node, completionQueue, sharedReceives, node.domain.createQueuePair(
                    new QueuePairInitAttributes().type(type).completionQueue(completionQueue)
                            .sharedReceiveQueue(sharedReceives)
                            .capabilities(QueuePairCapabilities.ofDepth(DEPTH, DEPTH)
                                    .withElements(2, 2).withInlineData(32))));
        }

        /** Uses a queue pair that was made already. */
        Side(Simulation.Node node, CompletionQueue completionQueue, QueuePair queuePair)
                throws RdmaException {
            this(node, completionQueue, null, queuePair);
        }

        private Side(Simulation.Node node, CompletionQueue completionQueue,
                @Nullable SharedReceiveQueue sharedReceives, QueuePair queuePair)
                throws RdmaException {
            this.node = node;
            this.completionQueue = completionQueue;
            this.sharedReceives = sharedReceives;
            this.queuePair = queuePair;
            region = node.domain.register(memory, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ,
                    AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_ATOMIC, AccessFlag.MW_BIND,
                    AccessFlag.FLUSH_GLOBAL);
            byte[] bytes = new byte[MEMORY / 2];
            new Random(node.address.hashCode()).nextBytes(bytes);
            MemorySegment.copy(MemorySegment.ofArray(bytes), 0, memory, 0, bytes.length);
        }

        void connect(Side peer, Settings settings) throws RdmaException {
            switch (settings.type) {
                case UC -> connectUnreliably(peer, settings);
                case UD -> beReady(0x1111_1111);
                default -> connectReliably(peer, settings);
            }
        }

        private void beReady(int qkey) throws RdmaException {
            queuePair.modify(new QueuePairAttributes().state(QueuePairState.INIT).port(1)
                    .pkeyIndex(0).qkey(qkey));
            queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTR));
            queuePair.modify(
                    new QueuePairAttributes().state(QueuePairState.RTS).sendPsn(FIRST_PSN));
        }

        private void connectUnreliably(Side peer, Settings settings) throws RdmaException {
            queuePair.modify(new QueuePairAttributes().state(QueuePairState.INIT).port(1)
                    .pkeyIndex(0).accessFlags(Set.of(settings.access)));
            queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTR)
                    .addressVector(AddressHandleAttributes.to(peer.node.nic.gids().get(1), 1))
                    .pathMtu(settings.mtu).destinationQueuePairNumber(peer.queuePair.number())
                    .receivePsn(FIRST_PSN));
            queuePair.modify(
                    new QueuePairAttributes().state(QueuePairState.RTS).sendPsn(FIRST_PSN));
        }

        private void connectReliably(Side peer, Settings settings) throws RdmaException {
            AccessFlag[] access = settings.access;
            queuePair.modify(new QueuePairAttributes().state(QueuePairState.INIT).port(1)
                    .pkeyIndex(0).accessFlags(Set.of(access)));
            queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTR)
                    .addressVector(AddressHandleAttributes.to(peer.node.nic.gids().get(1), 1))
                    .pathMtu(settings.mtu).destinationQueuePairNumber(peer.queuePair.number())
                    .receivePsn(FIRST_PSN).maxDestinationReadAtomic(
                            Objects.requireNonNullElse(settings.readAtomicServed,
                                    settings.readAtomic))
                    .minRnrTimerCode(settings.minRnrTimer));
            queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTS)
                    .ackTimeoutExponent(settings.timeout).retryCount(settings.retryCount)
                    .rnrRetry(settings.rnrRetry).sendPsn(FIRST_PSN)
                    .maxReadAtomic(settings.readAtomic));
        }

        /** Posts a receive into the upper half of the memory. */
        void receive(long id, int length) throws RdmaException {
            ReceiveWorkRequest request = new ReceiveWorkRequest().id(id).add(region, MEMORY / 2,
                    length);
            if (sharedReceives != null) {
                sharedReceives.post(request);
            } else {
                queuePair.postReceive(request);
            }
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
            return new OutgoingPacket().begin(opcode,
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
