// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.rc;

/** The packets that a request consists of, known once its first is about to be sent. */
final class RequestPackets {
    long firstPsn;
    /** The packet behind the last. */
    long endPsn;
    /** The message's number for the peer, from 1; where it takes several requests of the wire that of the last one sent. */
    long messageNumber;
    /** How many receive requests of the peer messages up to this one consume. */
    long receiveNumber;
}
