// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Gid;
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
import io.rdma4j.verbs.WorkCompletionOpcode;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.util.List;
import java.util.Random;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Random messages over unreliable connections and as datagrams, to one and to many, over a network that loses,
 * reorders, repeats and damages up to a fifth of its packets: what arrives is whole and was sent, over a
 * connection at most once and in order, every request completes exactly once, no byte outside a region
 * changes; and over a network without faults everything arrives. Packets of connections with numbers that are far
 * off change none of this.
 */
@Tag("simulation")
class UnreliableSimulationTest {
    private static final long LIMIT_NS = 60_000_000_000L;
    private static final int QKEY = 0x2222_2222;
    private static final Gid GROUP = Gid.of(InetAddress.ofLiteral("239.9.9.9"));

    @Test
    void whatArrivesWasSentWhateverTheNetworkDoes() {
        long arrived = Seeds.run(Scenario::new);
        System.out.printf("%d seeds, %d unreliable messages arrived%n", Seeds.COUNT, arrived);
        assertThat(arrived).isGreaterThan(Seeds.COUNT);
    }

    /** The way changes between memory and the network at any packet, but for those seeds where nothing is lost. */
    @Test
    void whatArrivesWasSentWhileTheWayChanges() {
        Seeds.runWhileTheWayChanges(Scenario::new, "unreliable messages arrived");
    }

    private static final class Scenario implements Seeds.Scenario {
        private static final int DEPTH = 16;
        private static final int LONGEST = 20_000;
        private static final int GUARD = 64;
        private static final List<Mtu> MTUS = List.of(Mtu.values());

        private final Random random;
        /** Of its own, so that a seed's messages do not depend on it. */
        private final Random strays;
        private final Simulation simulation;
        private final boolean isClean;
        private final Mtu mtu;
        private final QueuePairType type;
        private final Side a;
        private final Side b;

        Scenario(long seed) throws Exception {
            random = new Random(seed);
            strays = new Random(~seed);
            simulation = new Simulation(seed);
            isClean = random.nextInt(5) == 0;
            if (!isClean) {
                double worst = random.nextDouble() * 0.2;
                simulation.network.loss = random.nextDouble() * worst;
                simulation.network.duplication = random.nextDouble() * worst;
                simulation.network.reordering = random.nextDouble() * worst;
                simulation.network.corruption = random.nextDouble() * worst;
            }
            mtu = MTUS.get(random.nextInt(MTUS.size()));
            type = random.nextBoolean() ? QueuePairType.UC : QueuePairType.UD;
            a = new Side(simulation.a);
            b = new Side(simulation.b);
            a.connect(b);
            b.connect(a);
        }

        @Override
        public void meetInMemory() {
            Random switching = new Random(random.nextLong());
            double often = switching.nextBoolean() ? 0.02 : 0.3;
            simulation.network.memory.meet(switching.nextLong(), isClean ? 0 : often,
                    // A side that polls late gets more than it has posted receives for.
                    isClean ? 0 : 0.9 * switching.nextDouble());
        }

        @Override
        public Simulation simulation() {
            return simulation;
        }

        @Override
        public long run() throws Exception {
            // Receives first: through memory a message takes no time.
            a.work();
            b.work();
            a.left = 5 + random.nextInt(60);
            b.left = random.nextInt(60);
            boolean isDone = simulation.run(() -> {
                try {
                    a.work();
                    b.work();
                } catch (RdmaException e) {
                    throw new AssertionError(e);
                }
                return a.isDone() && b.isDone() && simulation.isQuiet();
            }, LIMIT_NS);
            a.work();
            b.work();
            assertThat(isDone).isTrue();
            if (isClean) {
                assertThat(a.arrived).isEqualTo(b.sent);
                assertThat(b.arrived).isEqualTo(a.sent);
            }
            a.checkGuards();
            b.checkGuards();
            return a.arrived + b.arrived;
        }

        /** One end. A message starts with its number and goes on with bytes that follow from it. */
        private final class Side {
            final Simulation.Node node;
            final CompletionQueue completions;
            final @Nullable SharedReceiveQueue shared;
            final QueuePair queuePair;
            final MemorySegment outbox = Arena.ofAuto().allocate((long) DEPTH * LONGEST, 8);
            final MemorySegment inbox = Arena.ofAuto()
                    .allocate((long) DEPTH * LONGEST + 2 * GUARD, 8);
            final MemoryRegion outRegion;
            final MemoryRegion inRegion;
            final WorkCompletion completion = new WorkCompletion();
            @Nullable
            AddressHandle toPeer;
            @Nullable
            AddressHandle toGroup;
            int peerNumber;
            int receives;
            int nextSlot;
            long sent;
            long completed;
            long arrived;
            long newest = -1;
            int left;

            Side(Simulation.Node node) throws RdmaException {
                this.node = node;
                completions = node.context.createCompletionQueue(4 * DEPTH);
                shared = random.nextBoolean()
                        ? node.domain
                                .createSharedReceiveQueue(new SharedReceiveQueueInitAttributes()
                                        .maxRequests(DEPTH).maxElements(2))
                        : null;
                queuePair = node.domain.createQueuePair(new QueuePairInitAttributes().type(type)
                        .completionQueue(completions).sharedReceiveQueue(shared)
                        .blockSelfMulticastLoopback(true).capabilities(
                                QueuePairCapabilities.ofDepth(DEPTH, DEPTH).withElements(2, 2)));
                outRegion = node.domain.register(outbox);
                inRegion = node.domain.register(
                        inbox.asSlice(GUARD, (long) DEPTH * LONGEST), AccessFlag.LOCAL_WRITE);
            }

            void connect(Side peer) throws RdmaException {
                QueuePairAttributes init = new QueuePairAttributes().state(QueuePairState.INIT)
                        .port(1).pkeyIndex(0);
                QueuePairAttributes ready = new QueuePairAttributes().state(QueuePairState.RTR);
                Gid there = peer.node.nic.gids().get(1);
                if (type == QueuePairType.UD) {
                    init.qkey(QKEY);
                    toPeer = node.domain
                            .createAddressHandle(AddressHandleAttributes.to(there, 1));
                    toGroup = node.domain
                            .createAddressHandle(AddressHandleAttributes.to(GROUP, 1));
                    peerNumber = peer.queuePair.number();
                    queuePair.attachMulticast(GROUP);
                } else {
                    init.accessFlags(Set.of());
                    ready.addressVector(AddressHandleAttributes.to(there, 1)).pathMtu(mtu)
                            .destinationQueuePairNumber(peer.queuePair.number())
                            .receivePsn(peer.queuePair.number() & 0xffffff);
                }
                queuePair.modify(init);
                queuePair.modify(ready);
                queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTS)
                        .sendPsn(queuePair.number() & 0xffffff));
            }

            boolean isDone() {
                return left == 0 && completed == sent;
            }

            void work() throws RdmaException {
                while (completions.poll(completion)) {
                    assertThat(completion.isSuccess()).as(completion.toString()).isTrue();
                    if (completion.opcode() == WorkCompletionOpcode.RECEIVE) {
                        onReceive();
                    } else {
                        assertThat(completion.id()).isEqualTo(completed);
                        completed++;
                    }
                }
                while (receives < DEPTH) {
                    postReceive();
                }
                // On a clean network each message finds a receive, so that all must arrive.
                int most = isClean ? 4 : DEPTH;
                while (left > 0 && sent - completed < most
                        && (!isClean || simulation.network.nextArrivalNs() == Long.MAX_VALUE)) {
                    post();
                }
            }

            private void postReceive() throws RdmaException {
                int slot = nextSlot++ % DEPTH;
                ReceiveWorkRequest request = new ReceiveWorkRequest().id(slot)
                        .add(inRegion, (long) slot * LONGEST, 50)
                        .add(inRegion, (long) slot * LONGEST + 50, LONGEST - 50);
                if (shared != null) {
                    shared.post(request);
                } else {
                    queuePair.postReceive(request);
                }
                receives++;
            }

            private void post() throws RdmaException {
                left--;
                long id = sent++;
                int longest = type == QueuePairType.UD ? 4096 : LONGEST;
                int length = 8 + random.nextInt(random.nextBoolean() ? 100 : longest - 7);
                long slot = id % DEPTH * LONGEST;
                fill(outbox.asSlice(slot, length), id);
                SendWorkRequest request = new SendWorkRequest().id(id).send()
                        .add(outRegion, slot, length).set(SendFlag.SIGNALED);
                if (toPeer != null && toGroup != null) {
                    boolean isForAll = random.nextBoolean();
                    request.to(isForAll ? toGroup : toPeer, isForAll ? 0xffffff : peerNumber, QKEY);
                }
                queuePair.postSend(request);
                if (type == QueuePairType.UC && strays.nextInt(4) == 0) {
                    stray();
                }
            }

            /** A packet whose number is out of the question; its empty message would be noticed. */
            private void stray() {
                Side peer = this == a ? b : a;
                int distance = 100_000 + strays.nextInt(12_000_000);
                simulation.network.inject(new OutgoingPacket()
                        .begin(Opcode.UC_SEND_ONLY,
                                Path.between(node.nic.gids().get(1), peer.node.nic.gids().get(1)),
                                peer.queuePair.number(), queuePair.number() + distance, false,
                                false));
            }

            private void fill(MemorySegment message, long id) {
                message.set(ValueLayout.JAVA_LONG, 0, id);
                for (long i = 8; i < message.byteSize(); i++) {
                    message.set(ValueLayout.JAVA_BYTE, i, (byte) (id * 31 + i));
                }
            }

            private void onReceive() {
                receives--;
                arrived++;
                int header = type == QueuePairType.UD ? AddressHandle.GLOBAL_ROUTE_LENGTH : 0;
                MemorySegment message = inbox.asSlice(
                        GUARD + completion.id() * LONGEST + header,
                        completion.byteLength() - header);
                long id = message.get(ValueLayout.JAVA_LONG_UNALIGNED, 0);
                MemorySegment whole = Arena.ofAuto().allocate(message.byteSize(), 8);
                fill(whole, id);
                assertThat(message.mismatch(whole)).as("message %d", id).isEqualTo(-1);
                if (type == QueuePairType.UC) {
                    assertThat(id).isGreaterThan(newest);
                    newest = id;
                } else {
                    assertThat(completion.sourceQueuePairNumber()).isEqualTo(peerNumber);
                }
            }

            void checkGuards() {
                for (MemorySegment guard : List.of(inbox.asSlice(0, GUARD),
                        inbox.asSlice(inbox.byteSize() - GUARD))) {
                    assertThat(guard.toArray(ValueLayout.JAVA_BYTE)).containsOnly(0);
                }
            }
        }
    }
}
