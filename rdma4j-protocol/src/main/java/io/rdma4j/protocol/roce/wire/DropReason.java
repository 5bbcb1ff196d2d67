// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.wire;

/** Why a received datagram is not a packet. */
public enum DropReason {
    /** Shorter than its headers, its padding and the ICRC. */
    TOO_SHORT,
    /** An opcode that is not in the table. */
    UNKNOWN_OPCODE,
    /** A transport header version other than 0. */
    BAD_VERSION,
    /** Payload with an opcode that has none. */
    UNEXPECTED_PAYLOAD
}
