package io.rdma4j.verbs;

import java.util.Locale;

/**
 * A counter of a device and of each queue pair.
 *
 * <p>Up to {@link #RDMA_RECVS} names and meanings are those of Linux ({@code rdma statistic},
 * {@code hw_counters} of {@code rdma_rxe}), except {@link #ACK_DEFERRED}, which there counts responses that wait
 * for a task of the kernel. {@link #RP_CNP_IGNORED} has the name that Mellanox cards use. The last ones say why
 * a packet or message was dropped. {@code docs/observability.md} lists the counters that native devices have, and their
 * names in the drivers.
 */
public enum Counter {
    /** Packets sent; of iWARP units of the stream. */
    SENT_PKTS("packets sent"),
    /** Packets received, intact and for a queue pair of this device; of iWARP units of the stream. */
    RCVD_PKTS("packets received, intact and for a queue pair of this device"),
    /** Request packets received again, or too late. */
    DUPLICATE_REQUEST("request packets received again, or too late"),
    /** Gaps among request packets: one came ahead of another that is missing. */
    OUT_OF_SEQ_REQUEST("gaps among request packets: one came ahead of another that is missing"),
    /** Receiver-not-ready answers received: the peer had no receive posted. */
    RCVD_RNR_ERR("receiver-not-ready answers received: the peer had no receive posted"),
    /** Receiver-not-ready answers given: this side had no receive posted. */
    SEND_RNR_ERR("receiver-not-ready answers given: this side had no receive posted"),
    /** Sequence errors told by the peer: it misses a packet. */
    RCVD_SEQ_ERR("sequence errors told by the peer: it misses a packet"),
    /** Acknowledgements that had to wait for READ or atomic responses before them. */
    ACK_DEFERRED("acknowledgements that had to wait for READ or atomic responses before them"),
    /** Requests given up because the peer did not acknowledge in spite of all retries. */
    RETRY_EXCEEDED_ERR(
            "requests given up because the peer did not acknowledge in spite of all retries"),
    /** Requests given up because the peer had no receive posted in spite of all retries. */
    RETRY_RNR_EXCEEDED_ERR(
            "requests given up because the peer had no receive posted in spite of all retries"),
    /** Times this side sent again, or one packet to ask: after a time-out, a long silence, a sequence error or a gap in the responses. */
    COMPLETER_RETRY_ERR(
            "times this side sent again, or one packet to ask: after a time-out, a long silence, a sequence error or a gap in the responses"),
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
    /** Congestion notifications (CNP) received; the software NIC does not slow down for them. */
    RP_CNP_IGNORED("congestion notifications (CNP) received; nothing is sent more slowly for them"),
    /** Datagrams dropped: not a packet. */
    DROPPED_MALFORMED("datagrams dropped: not a packet"),
    /** Datagrams dropped: the invariant CRC is wrong. */
    DROPPED_BAD_ICRC("datagrams dropped: the invariant CRC is wrong"),
    /** Packets dropped: no queue pair of that number, or not of that transport service. */
    DROPPED_UNKNOWN_QP(
            "packets dropped: no queue pair of that number, or not of that transport service"),
    /** Packets dropped: they are for another process that shares the address, where the peer sends them again. */
    DROPPED_ASTRAY("packets dropped: for another process that shares the address"),
    /** Packets dropped: the queue pair is not ready to receive. */
    DROPPED_NOT_READY("packets dropped: the queue pair is not ready to receive"),
    /** Packets dropped: they come from another address than the queue pair's peer. */
    DROPPED_WRONG_SOURCE(
            "packets dropped: they come from another address than the queue pair's peer"),
    /** Packets dropped: wrong P_Key. */
    DROPPED_BAD_PKEY("packets dropped: wrong P_Key"),
    /** Packets dropped: wrong Q_Key. */
    DROPPED_BAD_QKEY("packets dropped: wrong Q_Key"),
    /** Messages dropped by an unreliable queue pair: a packet or a receive is missing, or it does not fit. */
    DROPPED_MESSAGE(
            "messages dropped by an unreliable queue pair: a packet or a receive is missing, or it does not fit"),
    /** Acknowledgements dropped: they acknowledge nothing that is outstanding. */
    DROPPED_GHOST_ACK("acknowledgements dropped: they acknowledge nothing that is outstanding"),
    /** Management datagrams dropped: not a message of the connection manager, or of no connection. */
    DROPPED_BAD_MAD(
            "management datagrams dropped: not a message of the connection manager, or of no connection");

    private final String description;
    private final boolean isDrop = name().startsWith("DROPPED_");

    Counter(String description) {
        this.description = description;
    }

    /** {@return what it counts, in one line} */
    public String description() {
        return description;
    }

    /** {@return whether it says why something that arrived was dropped} */
    public boolean isDrop() {
        return isDrop;
    }

    /** {@return the name as Linux writes it} */
    public String text() {
        return name().toLowerCase(Locale.ROOT);
    }
}
