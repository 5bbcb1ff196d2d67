// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.protocol.bytes.Layouts;
import io.rdma4j.protocol.roce.wire.Icrc;
import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.PacketView;
import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePairAttribute;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.RdmaException;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * The packets that the input sends, most of them such that they get far: right ICRC, numbers of live queue
 * pairs, PSNs near those that are due, real keys.
 */
final class FuzzPackets {
    private static final List<Opcode> OPCODES = List.of(Opcode.values());
    private static final List<Opcode> RC_OPCODES = of(Opcode.Service.RC);
    private static final List<Opcode> UC_OPCODES = of(Opcode.Service.UC);
    private static final List<Opcode> UD_OPCODES = of(Opcode.Service.UD);
    private static final List<Integer> SYNDROMES = List.of(0, 1, 5, 0x1f, 0x20, 0x21, 0x3f, 0x60,
            0x61, 0x62, 0x63, 0x64, 0x7f, 0x40);

    private final FuzzChoices choices;
    private final FuzzDevices devices;
    private final Carrier carrier;

    /** Brings bytes to a device. */
    interface Carrier {
        /**
         * Brings it a packet.
         *
         * @param bytes the last four are for an ICRC
         * @param headerLength how many of them are headers
         */
        void carry(Gid from, Gid to, byte[] bytes, int headerLength);

        /** Brings it bytes that are a packet by chance only. */
        void carry(Gid from, Gid to, byte[] bytes);
    }

    FuzzPackets(FuzzChoices choices, FuzzDevices devices, Carrier carrier) {
        this.choices = choices;
        this.devices = devices;
        this.carrier = carrier;
    }

    /** {@return a carrier by the network: with the right ICRC} */
    static Carrier byNetwork(FuzzDevices devices) {
        Icrc icrc = new Icrc();
        return new Carrier() {
            @Override
            public void carry(Gid from, Gid to, byte[] bytes, int headerLength) {
                carry(from, to, bytes);
            }

            @Override
            public void carry(Gid from, Gid to, byte[] bytes) {
                int length = bytes.length - PacketView.ICRC_LENGTH;
                if (length >= Opcode.BTH_LENGTH) {
                    int crc = icrc.compute(from, to, Path.UDP_PORT, Path.UDP_PORT, 0,
                            ByteBuffer.wrap(bytes), 0, length);
                    MemorySegment.ofArray(bytes).set(Layouts.U32_LITTLE, length, crc);
                }
                devices.simulation.network.inject(from, to, bytes);
            }
        };
    }

    private static List<Opcode> of(Opcode.Service service) {
        return OPCODES.stream().filter(opcode -> opcode.service() == service).toList();
    }

    void inject(FuzzDevices.Target target) throws RdmaException {
        Opcode opcode = opcode(target);
        OutgoingPacket packet = new OutgoingPacket().begin(opcode,
                Path.between(target.peerGid(), FuzzDevices.gid(target.node())),
                number(target),
                psn(target, opcode), choices.flag(), choices.flag());
        int payload = payloadLength();
        if (opcode.hasDatagram()) {
            packet.datagram(choices.below(8) == 7 ? choices.i32() : FuzzDevices.QKEY,
                    FuzzDevices.STRANGER);
        }
        if (opcode.hasFlush()) {
            packet.flush(choices.u8());
        }
        if (opcode.hasRdma()) {
            MemoryRegion region = choices.of(devices.regions);
            packet.rdma(address(region), key(region), dmaLength(payload, region));
        }
        if (opcode.hasAtomic()) {
            MemoryRegion region = choices.of(devices.regions);
            packet.atomic(address(region), key(region), choices.u8(), choices.u8());
        }
        if (opcode.hasAcknowledgement()) {
            int syndrome = choices.below(16) == 15 ? choices.u8() : choices.of(SYNDROMES);
            packet.acknowledgement(syndrome, choices.s8());
        }
        if (opcode.hasAtomicAcknowledgement()) {
            packet.atomicAcknowledgement(choices.u8());
        }
        if (opcode.hasImmediate()) {
            packet.immediate(choices.u8());
        }
        if (opcode.hasInvalidate()) {
            packet.invalidate(key(devices.open));
        }
        if (opcode.hasPayload() && payload > 0) {
            packet.addPayload(MemorySegment.ofArray(new byte[payload]), 0, payload);
        }
        byte[] bytes = new byte[packet.totalLength()];
        packet.copyTo(MemorySegment.ofArray(bytes), 0);
        if (choices.below(32) == 31) {
            // Flags, version and padding of any value.
            bytes[1] = (byte) choices.u8();
        }
        carrier.carry(target.peerGid(),
                choices.below(32) == 31 ? FuzzDevices.GROUP : FuzzDevices.gid(target.node()),
                bytes, packet.headerLength());
    }

    private Opcode opcode(FuzzDevices.Target target) {
        Opcode opcode = choices.of(OPCODES);
        boolean isRelevant = switch (target.queuePair().type()) {
            case RC -> opcode.service() == Opcode.Service.RC;
            case UC -> opcode.service() == Opcode.Service.UC;
            case UD -> opcode.service() == Opcode.Service.UD;
            case RAW_PACKET, XRC_SEND, XRC_RECEIVE, DRIVER -> false;
        };
        if (isRelevant || choices.below(16) == 15) {
            return opcode;
        }
        return switch (target.queuePair().type()) {
            case UC -> choices.of(UC_OPCODES);
            case UD -> choices.of(UD_OPCODES);
            case RC, RAW_PACKET, XRC_SEND, XRC_RECEIVE, DRIVER -> choices.of(RC_OPCODES);
        };
    }

    private int number(FuzzDevices.Target target) {
        return switch (choices.below(32)) {
            case 31 -> choices.i32();
            case 30 -> 0xffffff;
            default -> target.queuePair().number();
        };
    }

    /** Mostly the PSN that is due, or one near it. */
    private long psn(FuzzDevices.Target target, Opcode opcode) throws RdmaException {
        QueuePairAttributes now = target.queuePair().query();
        QueuePairAttribute due = opcode.isResponse()
                ? QueuePairAttribute.SEND_PSN
                : QueuePairAttribute.RECEIVE_PSN;
        long base = 0;
        if (now.isSet(due)) {
            base = opcode.isResponse() ? now.sendPsn() - 1 : now.receivePsn();
        }
        return switch (choices.below(8)) {
            case 7 -> choices.i32();
            case 5, 6 -> base + choices.s8();
            case 4 -> base - 1;
            case 3 -> base - choices.below(8);
            default -> base;
        };
    }

    private int payloadLength() {
        return switch (choices.below(8)) {
            case 0, 1 -> FuzzDevices.MTU;
            case 2 -> 8;
            case 3 -> 0;
            case 4 -> FuzzDevices.MTU - 1;
            case 5 -> FuzzDevices.MTU + 1;
            case 6 -> choices.u8();
            default -> choices.u16() % 5000;
        };
    }

    private long dmaLength(int payload, MemoryRegion region) {
        return switch (choices.below(8)) {
            case 0, 1, 2 -> payload;
            case 3 -> 8;
            case 4 -> 0;
            case 5 -> region.length();
            case 6 -> 2 * FuzzDevices.MTU + choices.s8();
            default -> choices.i32() & 0xffff_ffffL;
        };
    }

    long address(MemoryRegion region) {
        long start = region.equals(devices.underWindows) ? region.address() + 512
                : region.address();
        return switch (choices.below(8)) {
            case 0, 1, 2 -> start;
            case 3 -> start + 8L * choices.u8();
            case 4 -> start + region.length() - choices.u8();
            case 5 -> start - choices.u8();
            case 6 -> start + choices.u16();
            default -> choices.i64();
        };
    }

    int key(MemoryRegion region) {
        return switch (choices.below(8)) {
            case 0, 1, 2 -> region.rkey();
            case 3, 4, 5 -> choices.of(devices.windows).rkey();
            case 6 -> region.rkey() + choices.s8();
            default -> choices.i32();
        };
    }

    /** A message for the connection manager: the right header, then what the input says. */
    void injectManagement() {
        OutgoingPacket packet = new OutgoingPacket().begin(
                Opcode.UD_SEND_ONLY,
                Path.between(FuzzDevices.gid(devices.peer),
                        FuzzDevices.gid(devices.victim)),
                1, 0, false,
                false)
                .datagram(0x8001_0000, 1);
        ByteBuffer message = ByteBuffer.allocate(256);
        message.putInt(0x01070203).putInt(0).putLong(choices.u8());
        message.putShort((short) (0x10 + choices.below(10))).putShort((short) 0).putInt(0);
        for (int i = choices.below(232); i > 0; i--) {
            message.put((byte) choices.u8());
        }
        packet.addPayload(MemorySegment.ofArray(message.array()), 0, message.capacity());
        byte[] bytes = new byte[packet.totalLength()];
        packet.copyTo(MemorySegment.ofArray(bytes), 0);
        carrier.carry(FuzzDevices.gid(devices.peer), FuzzDevices.gid(devices.victim), bytes,
                packet.headerLength());
    }

    /** Bytes that are a packet by chance only. */
    void injectBytes() {
        byte[] bytes = new byte[choices.u8() + 4];
        for (int i = 0; i < bytes.length - 4; i++) {
            bytes[i] = (byte) choices.u8();
        }
        carrier.carry(FuzzDevices.gid(devices.peer), FuzzDevices.gid(devices.victim), bytes);
    }
}
