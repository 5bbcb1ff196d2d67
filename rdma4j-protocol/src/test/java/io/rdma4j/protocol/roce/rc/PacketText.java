// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.rc;

import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.PacketView;
import io.rdma4j.protocol.roce.wire.Syndrome;

/** A packet of a reliable connection in words, as traces and tables have it. */
final class PacketText {
    private PacketText() {}

    static String of(PacketView packet) {
        return name(packet) + " psn=" + packet.psn() + details(packet)
                + (packet.isAcknowledgeRequested() ? " ackreq" : "");
    }

    /** {@return its opcode; for an acknowledgement what it says} */
    static String name(PacketView packet) {
        if (packet.opcode() != Opcode.RC_ACKNOWLEDGE) {
            return packet.opcode().name().substring("RC_".length());
        }
        return syndrome(packet.syndrome());
    }

    private static String syndrome(int syndrome) {
        return switch (Syndrome.kind(syndrome)) {
            case ACK -> "ACK";
            case RNR_NAK -> "RNR_NAK";
            case RESERVED -> "RESERVED";
            case NAK -> "NAK_" + switch (syndrome) {
                case Syndrome.NAK_PSN_SEQUENCE_ERROR -> "SEQUENCE";
                case Syndrome.NAK_INVALID_REQUEST -> "INVALID_REQUEST";
                case Syndrome.NAK_REMOTE_ACCESS_ERROR -> "REMOTE_ACCESS";
                case Syndrome.NAK_REMOTE_OPERATIONAL_ERROR -> "REMOTE_OPERATIONAL";
                default -> Integer.toHexString(syndrome);
            };
        };
    }

    private static String details(PacketView packet) {
        Opcode opcode = packet.opcode();
        if (opcode.hasAcknowledgement()) {
            return " msn=" + packet.messageNumber() + credits(packet);
        }
        return opcode == Opcode.RC_READ_REQUEST ? " length=" + packet.dmaLength() : "";
    }

    private static String credits(PacketView packet) {
        if (Syndrome.kind(packet.syndrome()) != Syndrome.Kind.ACK) {
            return "";
        }
        int credits = Syndrome.credits(packet.syndrome());
        return credits < 0 ? "" : " credits=" + credits;
    }
}
