// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

/**
 * How a posted request ended. {@link #explanation} says what happened, the usual cause, and what to check.
 *
 * <p>After an error an RC queue pair is in state ERR and flushes its other requests. So find
 * the first completion that is neither a success nor {@link #WORK_REQUEST_FLUSHED}: it has the cause. Then close the
 * queue pair and connect anew, or reset it.
 *
 * <p>C: {@code enum} {@index ibv_wc_status}, {@index ibv_wc_status_str}. Source: IBTA 11.6.2.
 *
 * <p>A later version may add constants, so a {@code switch} needs a {@code default}.
 *
 * @since 0.1.0
 */
public enum WorkCompletionStatus {
    /**
     * The request is done. Its memory may be used again; the memory of a receive that a SEND met holds the message. C:
     * {@index IBV_WC_SUCCESS}.
     */
    SUCCESS(0, "success",
            "The work is done.",
            "",
            ""),
    /**
     * A message was longer than the receive request it met, or than the path allows. Post larger receives, or send less
     * at once. C: {@index IBV_WC_LOC_LEN_ERR}.
     */
    LOCAL_LENGTH_ERROR(1, "local length error",
            "A message was longer than the receive request it met, or than the path allows.",
            "The receive buffer is smaller than what the peer sends, or a datagram is longer than the path MTU.",
            "the sizes of the posted receives against the sender's message size; for UD they need 40 bytes more, for the GRH"),
    /**
     * The request contradicts itself or the attributes of its queue pair, such as a READ where
     * {@link QueuePairAttribute#MAX_READ_ATOMIC} is 0. Correct the request. C: {@index IBV_WC_LOC_QP_OP_ERR}.
     */
    LOCAL_QP_OPERATION_ERROR(2, "local QP operation error",
            "The request contradicts itself or the attributes of its queue pair.",
            "A READ or atomic on a queue pair whose max_rd_atomic is 0.",
            "max_rd_atomic of this queue pair; the request's opcode and elements"),
    /**
     * The end-to-end context of a reliable datagram contradicts itself. Devices of today have no reliable datagrams. C:
     * {@index IBV_WC_LOC_EEC_OP_ERR}.
     */
    LOCAL_EEC_OPERATION_ERROR(3, "local EE context operation error",
            "The end-to-end context of a reliable datagram contradicts itself.",
            "A device that offers reliable datagrams, which those in use today do not.",
            "the vendor error and the documentation of that device"),
    /**
     * An element of this side's request names memory that it may not use. Check lkey, address, length and access flags of
     * each element. C: {@index IBV_WC_LOC_PROT_ERR}.
     */
    LOCAL_PROTECTION_ERROR(4, "local protection error",
            "An element of this side's request names memory that it may not use.",
            "A wrong lkey, a region of another protection domain, an address outside the region, or a region without LOCAL_WRITE for data that arrives.",
            "lkey, address and length of each element; whether the region is still open"),
    /**
     * The queue pair failed, or the connection was refused or has ended, before this request was executed. This is a
     * consequence; look for the cause in the first failed completion or in the event of the connection. C:
     * {@index IBV_WC_WR_FLUSH_ERR}.
     */
    WORK_REQUEST_FLUSHED(5, "Work Request Flushed Error",
            "The queue pair failed, or the connection was not made or ended, before this request was carried out.",
            "Another request failed first, one side disconnected, or the peer rejected the connection or did not answer; this one is a consequence.",
            "the first completion of this queue pair that is neither a success nor flushed; if there is none, the event of the connection: REJECTED, UNREACHABLE, DISCONNECTED"),
    /**
     * A memory window could not be bound, or a key could not be invalidated. Check the region's access flags and bounds,
     * and that region, window and queue pair have one protection domain. C: {@index IBV_WC_MW_BIND_ERR}.
     */
    MEMORY_WINDOW_BIND_ERROR(6, "memory management operation error",
            "A memory window could not be bound, or a key not be invalidated.",
            "The region lacks MW_BIND, the bounds lie outside it, or the key is not of this protection domain.",
            "the region's access flags, the window's type and bounds, the protection domains of region, window and queue pair"),
    /**
     * The peer's response does not match the request. Check that both sides have the same path MTU. C:
     * {@index IBV_WC_BAD_RESP_ERR}.
     */
    BAD_RESPONSE_ERROR(7, "bad response error",
            "The peer answered with a packet that does not fit the request.",
            "The two sides were connected by hand with different path MTUs, or the peer breaks the protocol.",
            "path_mtu on both sides; a recording of the packets"),
    /**
     * The peer's WRITE with immediate met local memory that it may not use. Keep regions open while the peer writes to
     * them. C: {@index IBV_WC_LOC_ACCESS_ERR}.
     */
    LOCAL_ACCESS_ERROR(8, "local access error",
            "The peer's WRITE with immediate met local memory that it may not use.",
            "The region that the peer writes to was closed or re-registered meanwhile.",
            "the life time of the regions whose keys the peer was given"),
    /**
     * The peer found the request invalid: it is longer than the peer's receive, has more READs or atomics at once than
     * the peer accepts, or is an operation that the peer does not support. C: {@index IBV_WC_REM_INV_REQ_ERR}.
     */
    REMOTE_INVALID_REQUEST_ERROR(9, "remote invalid request error",
            "The peer found the request invalid.",
            "A message longer than the receive request it met, more READs or atomics at once than the peer takes, an unaligned atomic, or an operation the peer does not offer.",
            "the peer's receive sizes; this side's max_rd_atomic against the peer's max_dest_rd_atomic; path_mtu on both sides"),
    /**
     * The peer does not allow this access to its memory. Check rkey, address and length against what the peer announced,
     * and the peer's access flags. C: {@index IBV_WC_REM_ACCESS_ERR}.
     */
    REMOTE_ACCESS_ERROR(10, "remote access error",
            "The peer does not allow this access to its memory.",
            "A wrong or stale rkey, an address out of bounds, or a region, window or queue pair without the right.",
            "rkey, address and length against what the peer announced; the peer's access flags on region and queue pair"),
    /**
     * The peer could not complete the operation, mostly because its own receive request is wrong. Look at the peer's
     * completions. C: {@index IBV_WC_REM_OP_ERR}.
     */
    REMOTE_OPERATION_ERROR(11, "remote operation error",
            "The peer could not complete the operation.",
            "The peer's own receive request names memory it may not use.",
            "the peer's completion with a local protection error"),
    /**
     * The peer did not acknowledge, although the request was repeated {@link QueuePairAttribute#RETRY_COUNT} times. The
     * peer is gone or not yet ready to receive, or the network loses too much. C: {@index IBV_WC_RETRY_EXC_ERR}.
     */
    RETRY_EXCEEDED_ERROR(12, "transport retry counter exceeded",
            "The peer did not acknowledge in spite of all retries.",
            "The peer is gone, its queue pair is closed, failed or not yet ready to receive, or the network loses too much or carries only shorter packets.",
            "whether the peer lives, and its dropped_ counters; queue pair number and address, if connected by hand; timeout and retry_cnt; whether a smaller path MTU helps; firewalls (RoCE: UDP 4791)"),
    /**
     * The peer still had no receive posted after {@link QueuePairAttribute#RNR_RETRY} retries. Post more receives there,
     * earlier, or set that attribute to 7, which means without limit. C: {@index IBV_WC_RNR_RETRY_EXC_ERR}.
     */
    RNR_RETRY_EXCEEDED_ERROR(13, "RNR retry counter exceeded",
            "The peer had no receive request posted in spite of all retries.",
            "The peer posts receives too late or too few.",
            "the peer's posted receives; rnr_retry (7 means for ever) and min_rnr_timer"),
    /**
     * A reliable datagram is not of the queue pair's reliable datagram domain. Devices of today have no reliable
     * datagrams. C: {@index IBV_WC_LOC_RDD_VIOL_ERR}.
     */
    LOCAL_RDD_VIOLATION_ERROR(14, "local RDD violation error",
            "A reliable datagram left its domain.",
            "A device that offers reliable datagrams, which those in use today do not.",
            "the vendor error and the documentation of that device"),
    /**
     * The peer found a reliable datagram invalid. Check that both queue pairs have the same type. C:
     * {@index IBV_WC_REM_INV_RD_REQ_ERR}.
     */
    REMOTE_INVALID_RD_REQUEST_ERROR(15, "remote invalid RD request",
            "The peer found a reliable datagram invalid.",
            "A peer that takes this queue pair for one of reliable datagrams, which no device in use today offers.",
            "the type of the queue pair on both sides"),
    /**
     * The peer aborted the operation, for example because its queue failed meanwhile. Look at the peer's asynchronous
     * events. C: {@index IBV_WC_REM_ABORT_ERR}.
     */
    REMOTE_ABORTED_ERROR(16, "aborted error",
            "The peer gave the operation up.",
            "The peer's queue failed or was closed while the operation was under way.",
            "the peer's asynchronous events and log"),
    /**
     * No end-to-end context of a reliable datagram has that number. Devices of today have no reliable datagrams. C:
     * {@index IBV_WC_INV_EECN_ERR}.
     */
    INVALID_EECN_ERROR(17, "invalid EE context number",
            "There is no end-to-end context of that number.",
            "A device that offers reliable datagrams, which those in use today do not.",
            "the vendor error and the documentation of that device"),
    /**
     * The end-to-end context of a reliable datagram is in the wrong state. Devices of today have no reliable datagrams.
     * C: {@index IBV_WC_INV_EEC_STATE_ERR}.
     */
    INVALID_EEC_STATE_ERROR(18, "invalid EE context state",
            "The end-to-end context of a reliable datagram is in the wrong state.",
            "A device that offers reliable datagrams, which those in use today do not.",
            "the vendor error and the documentation of that device"),
    /**
     * The device failed or was removed. Close everything on it and open it anew; the log has the cause. C:
     * {@index IBV_WC_FATAL_ERR}.
     */
    FATAL_ERROR(19, "fatal error",
            "The device failed.",
            "The device stopped on an internal error, or was unplugged.",
            "the log of this process, or of the kernel for a device with a driver"),
    /**
     * No response came in time. Some devices report this instead of {@link #RETRY_EXCEEDED_ERROR}. C:
     * {@index IBV_WC_RESP_TIMEOUT_ERR}.
     */
    RESPONSE_TIMEOUT_ERROR(20, "response timeout error",
            "No response came in time.",
            "The peer is gone or overloaded; some devices tell this apart from retries used up.",
            "whether the peer lives; timeout and retry_cnt"),
    /**
     * The device could not execute the request for a reason that has no status of its own. The vendor error of the
     * completion says more. C: {@index IBV_WC_GENERAL_ERR}.
     */
    GENERAL_ERROR(21, "general error",
            "The device failed to carry out the request for a reason that has no status of its own.",
            "Something particular to the device.",
            "the completion's vendor error and the documentation of the device"),
    /** Tag matching failed: the device's list of tags and the program's differ. C: {@index IBV_WC_TM_ERR}. */
    @Experimental
    TM_ERROR(22, "TM error",
            "Tag matching failed.",
            "A list of tags that does not agree with the device.",
            "the tag operations posted before; only some adapters offer them"),
    /**
     * Tag matching found a rendezvous message that the device cannot fetch; this is no failure. The program fetches it
     * with the header in the receive's memory. C: {@index IBV_WC_TM_RNDV_INCOMPLETE}.
     */
    @Experimental
    TM_RENDEZVOUS_INCOMPLETE(23, "TM software rendezvous",
            "Tag matching found a rendezvous that the software has to finish.",
            "A message that the device cannot fetch by itself; this is no failure.",
            "the rendezvous header in the receive buffer"),
    /** One that this version does not know; {@link WorkCompletion#statusCode} has its number. */
    UNKNOWN(-1, "unknown",
            "The device reports a status that this version of rdma4j does not know.",
            "The device or its driver is newer.",
            "the number of the status in verbs.h of the installed rdma-core");

    private final int code;
    private final String text;
    private final String meaning;
    private final String usualCause;
    private final String lookAt;

    WorkCompletionStatus(int code, String text, String meaning, String usualCause, String lookAt) {
        this.code = code;
        this.text = text;
        this.meaning = meaning;
        this.usualCause = usualCause;
        this.lookAt = lookAt;
    }

    /**
     * {@return the constant of a number of verbs.h, {@link #UNKNOWN} if there is none}
     *
     * @param code as in the C headers
     */
    public static WorkCompletionStatus ofCode(int code) {
        for (WorkCompletionStatus each : values()) {
            if (each.code == code) {
                return each;
            }
        }
        return UNKNOWN;
    }

    /** {@return the number verbs.h gives this, -1 for {@link #UNKNOWN}} */
    public int code() {
        return code;
    }

    /** {@return the text {@code ibv_wc_status_str} gives} */
    public String text() {
        return text;
    }

    /** {@return what happened, a sentence} */
    public String meaning() {
        return meaning;
    }

    /** {@return the usual cause, a sentence; empty for success} */
    public String usualCause() {
        return usualCause;
    }

    /** {@return what to look at; empty for success} */
    public String lookAt() {
        return lookAt;
    }

    /** {@return meaning, cause and advice in one line} */
    public String explanation() {
        return this == SUCCESS ? meaning
                : meaning + " Usual cause: " + usualCause + " Look at: " + lookAt + ".";
    }
}
