// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.count;

import java.util.Locale;

/**
 * A counter of a device and of each queue pair.
 *
 * <p>Up to {@link #RDMA_RECVS} names and meanings are those of Linux ({@code rdma statistic},
 * {@code hw_counters} of {@code rdma_rxe}), except {@link #ACK_DEFERRED}, which there counts responses that wait
 * for a task of the kernel. {@link #RP_CNP_IGNORED} has the name that Mellanox cards use. The last ones say why
 * a packet or message was dropped. {@code docs/reference/observability.md} lists the counters that native devices have, and their
 * names in the drivers.
 */
public enum Counter {
    /** Packets sent; with iWARP, units of the stream. */
    SENT_PKTS("packets sent"),
    /** Packets received, intact and for a queue pair of this device; with iWARP, units of the stream. */
    RCVD_PKTS("packets received, intact and for a queue pair of this device"),
    /** Request packets received again, or too late. */
    DUPLICATE_REQUEST("request packets received again, or too late"),
    /** Gaps in the request packets: a packet arrived before a missing one. */
    OUT_OF_SEQ_REQUEST("gaps in the request packets: a packet arrived before a missing one"),
    /** Receiver-not-ready NAKs received: the peer had no receive posted. */
    RCVD_RNR_ERR("receiver-not-ready NAKs received: the peer had no receive posted"),
    /** Receiver-not-ready NAKs sent: this side had no receive posted. */
    SEND_RNR_ERR("receiver-not-ready NAKs sent: this side had no receive posted"),
    /** Sequence errors reported by the peer: it misses a packet. */
    RCVD_SEQ_ERR("sequence errors reported by the peer: it misses a packet"),
    /** Acknowledgements that had to wait for READ or atomic responses before them. */
    ACK_DEFERRED("acknowledgements that had to wait for READ or atomic responses before them"),
    /** Requests that failed because the peer did not acknowledge them after all retries. */
    RETRY_EXCEEDED_ERR(
            "requests that failed because the peer did not acknowledge them after all retries"),
    /** Requests that failed because the peer had no receive posted after all retries. */
    RETRY_RNR_EXCEEDED_ERR(
            "requests that failed because the peer had no receive posted after all retries"),
    /** Times this side sent packets again, or one packet to ask the peer: after a time-out, a long silence, a sequence error or a gap in the responses. */
    COMPLETER_RETRY_ERR(
            "times this side sent packets again, or one packet to ask the peer: after a time-out, a long silence, a sequence error or a gap in the responses"),
    /** Packets that the network stack refused to send. */
    SEND_ERR("packets that the network stack refused to send"),
    /** Times the port went down. */
    LINK_DOWNED("times the port went down"),
    /** SENDs of every kind that completed with success. */
    RDMA_SENDS("SENDs of every kind that completed with success"),
    /** Receive requests that completed with success. */
    RDMA_RECVS("receive requests that completed with success"),
    /** Bytes sent: the payload of UDP, with the headers of this transport. */
    SENT_BYTES("bytes sent: the payload of UDP, with the headers of this transport"),
    /** Bytes received: the payload of UDP, with the headers of this transport. */
    RCVD_BYTES("bytes received: the payload of UDP, with the headers of this transport"),
    /** Request packets sent again. */
    RETRANSMITTED_PKTS("request packets sent again"),
    /** Packets sent whose payload was lent to another process, which copies it from where it lies: among {@link #SENT_PKTS}. */
    LENT_PKTS("packets sent whose payload was lent to another process, not copied"),
    /** Bytes of the payloads that were lent. */
    LENT_BYTES("bytes of payload lent to another process"),
    /** Packets received whose payload was copied once, from where it lies in another process that has lent it. */
    BORROWED_PKTS("packets received whose payload was copied from the memory of another process"),
    /** Bytes of the payloads that were copied so. */
    BORROWED_BYTES("bytes of payload copied from the memory of another process"),
    /** Congestion notifications (CNP) received; the software NIC does not slow down for them. */
    RP_CNP_IGNORED(
            "congestion notifications (CNP) received; the software NIC does not slow down for them"),
    /** Packets in shared memory that were dropped: they, or the record they are in, have nothing that a device writes. */
    DROPPED_MALFORMED("packets in shared memory dropped: no device writes such"),
    /** Datagrams dropped: shorter than their headers, their padding and the invariant CRC. */
    DROPPED_TOO_SHORT(
            "datagrams dropped: shorter than their headers, their padding and the invariant CRC"),
    /** Datagrams dropped: an opcode that is not in the standard's table, or is of a service that there is not. */
    DROPPED_UNKNOWN_OPCODE("datagrams dropped: an unknown opcode"),
    /** Datagrams dropped: a version of the transport header other than 0. */
    DROPPED_BAD_VERSION("datagrams dropped: a version of the transport header other than 0"),
    /** Datagrams dropped: payload behind the headers of an opcode that has none. */
    DROPPED_UNEXPECTED_PAYLOAD("datagrams dropped: payload with an opcode that has none"),
    /** Datagrams dropped: the invariant CRC is wrong. */
    DROPPED_BAD_ICRC("datagrams dropped: the invariant CRC is wrong"),
    /** Packets dropped: no queue pair of that number and transport service. */
    DROPPED_UNKNOWN_QP(
            "packets dropped: no queue pair of that number and transport service"),
    /** Packets dropped: they are for another process that shares the address; a reliable peer sends them again. */
    DROPPED_MISDIRECTED("packets dropped: for another process that shares the address"),
    /** Packets dropped: the queue pair is not ready to receive. */
    DROPPED_NOT_READY("packets dropped: the queue pair is not ready to receive"),
    /** Packets dropped: their source address is not that of the queue pair's peer. */
    DROPPED_WRONG_SOURCE(
            "packets dropped: their source address is not that of the queue pair's peer"),
    /** Packets dropped: wrong P_Key. */
    DROPPED_BAD_PKEY("packets dropped: wrong P_Key"),
    /** Packets dropped: wrong Q_Key. */
    DROPPED_BAD_QKEY("packets dropped: wrong Q_Key"),
    /** Messages dropped by an unreliable queue pair: a packet or a receive is missing, or it does not fit. */
    DROPPED_MESSAGE(
            "messages dropped by an unreliable queue pair: a packet or a receive is missing, or it does not fit"),
    /** Acknowledgements dropped: they match no outstanding request. */
    DROPPED_GHOST_ACK("acknowledgements dropped: they match no outstanding request"),
    /** Management datagrams dropped: not a message of the connection manager, or of no known connection. */
    DROPPED_BAD_MAD(
            "management datagrams dropped: not a message of the connection manager, or of no known connection");

    private final String description;
    private final boolean isDrop = name().startsWith("DROPPED_");

    Counter(String description) {
        this.description = description;
    }

    /** {@return its meaning, in one line} */
    public String description() {
        return description;
    }

    /** {@return whether it counts dropped packets or messages, for one reason} */
    public boolean isDrop() {
        return isDrop;
    }

    /** {@return the name in Linux's form} */
    public String text() {
        return name().toLowerCase(Locale.ROOT);
    }
}
