// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.PacketView;
import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.protocol.roce.wire.Syndrome;
import io.rdma4j.testkit.FaultyWire;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.RdmaException;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.function.Predicate;

/** Two devices on a simulated network in virtual time, whose packets are lost and replaced at will. */
final class SimulatedWire implements FaultyWire {
    private final Simulation simulation = new Simulation(7);
    private final Deque<Fault> faults = new ArrayDeque<>();

    /** What happens to packets that fit, which never arrive as they are. */
    private static final class Fault {
        final Predicate<PacketView> rule;
        final Replacement replacement;
        int times;

        Fault(Predicate<PacketView> rule, int times, Replacement replacement) {
            this.rule = rule;
            this.times = times;
            this.replacement = replacement;
        }
    }

    /** Sends something in place of a packet. */
    @FunctionalInterface
    private interface Replacement {
        void replace(PacketView packet);
    }

    SimulatedWire() throws Exception {
        simulation.network.loseIf(this::isReplaced);
    }

    @Override
    public DeviceContext requester() {
        return simulation.a.context;
    }

    @Override
    public DeviceContext responder() {
        return simulation.b.context;
    }

    @Override
    public void step() {
        simulation.step();
    }

    // ---------------------------------------------------------------- faults

    private boolean isReplaced(PacketView packet) {
        for (Iterator<Fault> all = faults.iterator(); all.hasNext();) {
            Fault fault = all.next();
            if (fault.rule.test(packet)) {
                if (fault.times != FOREVER && --fault.times == 0) {
                    all.remove();
                }
                fault.replacement.replace(packet);
                return true;
            }
        }
        return false;
    }

    private void fault(Predicate<PacketView> rule, int times, Replacement replacement) {
        faults.push(new Fault(rule, times, replacement));
    }

    @Override
    public void lose(PacketKind kind, int psn, int times) {
        fault(packet -> isOf(kind, packet.opcode()) && packet.psn() == psn, times, packet -> {});
    }

    @Override
    public void lose(PacketKind kind, int times) {
        fault(packet -> isOf(kind, packet.opcode()), times, packet -> {});
    }

    private static boolean isOf(PacketKind kind, Opcode opcode) {
        return switch (kind) {
            case WRITE -> opcode.name().startsWith("RC_WRITE");
            case READ_RESPONSE -> opcode.name().startsWith("RC_READ_RESPONSE");
            case ACKNOWLEDGEMENT -> opcode == Opcode.RC_ACKNOWLEDGE;
        };
    }

    @Override
    public void cut(boolean isCut) {
        faults.clear();
        if (isCut) {
            fault(packet -> true, FOREVER, packet -> {});
        }
    }

    @Override
    public void forgeAcknowledgement(QueuePair requester, QueuePair responder, int psn) {
        simulation.network.inject(toRequester(Opcode.RC_ACKNOWLEDGE, requester.number(), psn)
                .acknowledgement(Syndrome.ackUnlimited(), 1));
    }

    @Override
    public void shortenReadResponse(int bytes) {
        fault(packet -> isOf(PacketKind.READ_RESPONSE, packet.opcode()), 1, packet -> {
            OutgoingPacket shorter = toRequester(Opcode.RC_READ_RESPONSE_ONLY,
                    packet.destinationQueuePairNumber(), packet.psn())
                    .acknowledgement(Syndrome.ackUnlimited(), 1);
            shorter.addPayload(MemorySegment.ofArray(new byte[bytes]), 0, bytes);
            simulation.network.inject(shorter);
        });
    }

    @Override
    public void replaceByMiddleOfWrite(int psn) {
        fault(packet -> isOf(PacketKind.WRITE, packet.opcode()) && packet.psn() == psn, 1,
                packet -> {
                    OutgoingPacket middle = packet(Opcode.RC_WRITE_MIDDLE,
                            path(simulation.a, simulation.b), packet.destinationQueuePairNumber(),
                            packet.psn());
                    int bytes = Mtu.MTU_1024.bytes();
                    middle.addPayload(MemorySegment.ofArray(new byte[bytes]), 0, bytes);
                    simulation.network.inject(middle);
                });
    }

    private OutgoingPacket toRequester(Opcode opcode, int queuePair, int psn) {
        return packet(opcode, path(simulation.b, simulation.a), queuePair, psn);
    }

    private static Path path(Simulation.Node from, Simulation.Node to) {
        return Path.between(from.nic.gids().get(1), to.nic.gids().get(1));
    }

    private static OutgoingPacket packet(Opcode opcode, Path path, int queuePair, int psn) {
        return new OutgoingPacket()
                .begin(opcode, path, queuePair, psn, false, false);
    }

    @Override
    public void close() throws RdmaException {
        for (Simulation.Node node : new Simulation.Node[]{simulation.a, simulation.b}) {
            node.domain.close();
            node.context.close();
        }
    }
}
