package io.rdma4j.verbs;

import java.util.Locale;

/**
 * Something a device counts, for itself and for each queue pair.
 *
 * <p>The first names are those of Linux ({@code rdma statistic}, {@code hw_counters}); the others say in
 * one word why a received datagram was dropped.
 */
public enum Counter {
    /** Packets sent. */
    SENT_PKTS,
    /** Packets received and found to be for somebody. */
    RCVD_PKTS,
    /** Requests received again, which were already carried out. */
    DUPLICATE_REQUEST,
    /** Requests received ahead of one that is missing. */
    OUT_OF_SEQ_REQUEST,
    /** Receiver-not-ready answers received: the peer had no receive posted. */
    RCVD_RNR_ERR,
    /** Receiver-not-ready answers sent: this side had no receive posted. */
    SEND_RNR_ERR,
    /** Sequence error answers received: the peer misses a packet. */
    RCVD_SEQ_ERR,
    /** Acknowledgements put off because READ responses go first. */
    ACK_DEFERRED,
    /** Requests given up because the peer did not acknowledge. */
    RETRY_EXCEEDED_ERR,
    /** Requests given up because the peer had no receive posted. */
    RETRY_RNR_EXCEEDED_ERR,
    /** Retries after a time-out or a gap in the responses. */
    COMPLETER_RETRY_ERR,
    /** Packets the network stack refused to send. */
    SEND_ERR,
    /** Times the port went down. */
    LINK_DOWNED,
    /** Messages sent. */
    RDMA_SENDS,
    /** Messages received. */
    RDMA_RECVS,
    /** Bytes sent, headers of this transport included. */
    SENT_BYTES,
    /** Bytes received, headers of this transport included. */
    RCVD_BYTES,
    /** Packets sent again. */
    RETRANSMITTED_PKTS,
    /** Datagrams dropped: not a packet. */
    DROPPED_MALFORMED,
    /** Datagrams dropped: the invariant CRC is wrong. */
    DROPPED_BAD_ICRC,
    /** Packets dropped: no queue pair of that number, or not of that transport service. */
    DROPPED_UNKNOWN_QP,
    /** Packets dropped: the queue pair is not ready to receive. */
    DROPPED_NOT_READY,
    /** Packets dropped: they come from another address than the queue pair's peer. */
    DROPPED_WRONG_SOURCE,
    /** Packets dropped: wrong P_Key. */
    DROPPED_BAD_PKEY,
    /** Packets dropped: wrong Q_Key. */
    DROPPED_BAD_QKEY,
    /** Messages dropped by an unreliable queue pair: a packet or a receive is missing, or it does not fit. */
    DROPPED_MESSAGE,
    /** Acknowledgements dropped: they acknowledge nothing that is outstanding. */
    DROPPED_GHOST_ACK,
    /** Management datagrams dropped: not a message of the connection manager, or of no connection. */
    DROPPED_BAD_MAD;

    private final boolean isDrop = name().startsWith("DROPPED_");

    /** {@return whether it says why something that arrived was dropped} */
    public boolean isDrop() {
        return isDrop;
    }

    /** {@return the name as Linux writes it} */
    public String text() {
        return name().toLowerCase(Locale.ROOT);
    }
}
