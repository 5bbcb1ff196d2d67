package io.rdma4j.ibverbs.observe;

import io.rdma4j.verbs.Counter;

import java.util.List;

/**
 * A file of a port that contains a driver's count for a {@link Counter}.
 *
 * @param folder the file's folder within that of the port
 * @param file its name
 * @param unit the factor from the kernel's unit to ours
 */
record CounterSource(String folder, String file, int unit) {
    /** The counters that the driver defines. */
    static final String OF_DRIVER = "hw_counters";
    /** The counters that InfiniBand defines for every port; RoCE drivers provide some of them. */
    static final String OF_PORT = "counters";
    private static final int BYTES_OF_A_WORD = 4;

    private static CounterSource driver(String file) {
        return new CounterSource(OF_DRIVER, file, 1);
    }

    private static CounterSource port(String file) {
        return new CounterSource(OF_PORT, file, 1);
    }

    private static CounterSource words(String file) {
        return new CounterSource(OF_PORT, file, BYTES_OF_A_WORD);
    }

    /**
     * {@return the sources of a counter, the best first; empty if no known driver has exactly this counter}
     *
     * <p>Sources: {@code rxe_hw_counters.c} of Linux, whose names {@link Counter} has taken over; NVIDIA's "Understanding
     * mlx5 Linux Counters and Status Parameters"; {@code PortCounters}, IBTA 16.1.3.5, by {@code sysfs-class-infiniband}.
     */
    static List<CounterSource> of(Counter counter) {
        return switch (counter) {
            case SENT_PKTS -> List.of(own(counter), port("port_xmit_packets"));
            case RCVD_PKTS -> List.of(own(counter), port("port_rcv_packets"));
            case OUT_OF_SEQ_REQUEST -> List.of(own(counter), driver("out_of_sequence"));
            case RCVD_RNR_ERR -> List.of(own(counter), driver("rnr_nak_retry_err"));
            case RCVD_SEQ_ERR -> List.of(own(counter), driver("packet_seq_err"));
            case RETRY_EXCEEDED_ERR ->
                List.of(own(counter), driver("req_transport_retries_exceeded"));
            case RETRY_RNR_EXCEEDED_ERR ->
                List.of(own(counter), driver("req_rnr_retries_exceeded"));
            case LINK_DOWNED -> List.of(own(counter), port("link_downed"));
            case SENT_BYTES -> List.of(words("port_xmit_data"));
            case RCVD_BYTES -> List.of(words("port_rcv_data"));
            case DROPPED_BAD_ICRC -> List.of(driver("rx_icrc_encapsulated"));
            case DUPLICATE_REQUEST, SEND_RNR_ERR, ACK_DEFERRED, COMPLETER_RETRY_ERR, SEND_ERR,
                    RDMA_SENDS, RDMA_RECVS, RP_CNP_IGNORED ->
                List.of(own(counter));
            case RETRANSMITTED_PKTS, DROPPED_MALFORMED, DROPPED_UNKNOWN_QP, DROPPED_ASTRAY,
                    DROPPED_NOT_READY, DROPPED_WRONG_SOURCE, DROPPED_BAD_PKEY, DROPPED_BAD_QKEY,
                    DROPPED_MESSAGE, DROPPED_GHOST_ACK, DROPPED_BAD_MAD ->
                List.of();
        };
    }

    private static CounterSource own(Counter counter) {
        return driver(counter.text());
    }
}
