package io.rdma4j.verbs;

/**
 * How posted work ended. Each status explains itself: what happened, the usual cause, what to look
 * at.
 *
 * <p>C: {@code enum ibv_wc_status}, {@code ibv_wc_status_str}. Source: IBTA 11.6.2.
 */
public enum WorkCompletionStatus {
    /** The work is done. */
    SUCCESS(0, "success",
            "The work is done.",
            "",
            ""),
    /** A message was longer than the receive request it met, or than the path allows. */
    LOCAL_LENGTH_ERROR(1, "local length error",
            "A message was longer than the receive request it met, or than the path allows.",
            "The receive buffer is smaller than what the peer sends.",
            "the sizes of the posted receives against the sender's message size"),
    /** The request contradicts itself or the state of its queue pair. */
    LOCAL_QP_OPERATION_ERROR(2, "local QP operation error",
            "The request contradicts itself or the state of its queue pair.",
            "An internal inconsistency found while the request was carried out.",
            "the request's opcode and elements"),
    /** As above for an end-to-end context. */
    LOCAL_EEC_OPERATION_ERROR(3, "local EE context operation error",
            "As above for an end-to-end context.",
            "Reliable datagrams are not in use anywhere.",
            "nothing"),
    /** An element of this side's request names memory that it may not use. */
    LOCAL_PROTECTION_ERROR(4, "local protection error",
            "An element of this side's request names memory that it may not use.",
            "A wrong lkey, a region of another protection domain, an address outside the region, or a region without LOCAL_WRITE for data that arrives.",
            "lkey, address and length of each element; whether the region is still open"),
    /** The queue pair failed or was closed before this request was carried out. */
    WORK_REQUEST_FLUSHED(5, "Work Request Flushed Error",
            "The queue pair failed or was closed before this request was carried out.",
            "Another request failed first; this one is a consequence.",
            "the first completion of this queue pair that is neither a success nor flushed"),
    /** A memory window could not be bound. */
    MEMORY_WINDOW_BIND_ERROR(6, "memory management operation error",
            "A memory window could not be bound.",
            "The region lacks MW_BIND or the bounds lie outside it.",
            "the region's access flags, the window's bounds"),
    /** The peer answered with a packet that does not fit the request. */
    BAD_RESPONSE_ERROR(7, "bad response error",
            "The peer answered with a packet that does not fit the request.",
            "A peer that breaks the protocol.",
            "a packet capture"),
    /** A protection error while the peer's WRITE with immediate was being placed. */
    LOCAL_ACCESS_ERROR(8, "local access error",
            "A protection error while the peer's WRITE with immediate was being placed.",
            "The region of a receive request was closed or re-registered.",
            "the life time of the receive buffers"),
    /** The peer found the request invalid. */
    REMOTE_INVALID_REQUEST_ERROR(9, "remote invalid request error",
            "The peer found the request invalid.",
            "A message longer than its receive request, or an operation it does not support.",
            "the peer's receive sizes and capabilities"),
    /** The peer does not allow this access to its memory. */
    REMOTE_ACCESS_ERROR(10, "remote access error",
            "The peer does not allow this access to its memory.",
            "A wrong or stale rkey, an address out of bounds, or a region or queue pair without the right.",
            "rkey, address and length as the peer sent them; the peer's access flags on region and queue pair"),
    /** The peer could not complete the operation. */
    REMOTE_OPERATION_ERROR(11, "remote operation error",
            "The peer could not complete the operation.",
            "The peer's own receive request names memory it may not use.",
            "the peer's completion with a local protection error"),
    /** The peer did not acknowledge in spite of all retries. */
    RETRY_EXCEEDED_ERROR(12, "transport retry counter exceeded",
            "The peer did not acknowledge in spite of all retries.",
            "The peer is gone, its queue pair is closed or failed, or the network loses too much.",
            "whether the peer lives; timeout and retry count; addresses and firewalls on UDP 4791"),
    /** The peer had no receive request posted in spite of all retries. */
    RNR_RETRY_EXCEEDED_ERROR(13, "RNR retry counter exceeded",
            "The peer had no receive request posted in spite of all retries.",
            "The peer posts receives too late or too few.",
            "the peer's posted receives; rnr_retry (7 means for ever) and min_rnr_timer"),
    /** Reliable datagrams only. */
    LOCAL_RDD_VIOLATION_ERROR(14, "local RDD violation error",
            "Reliable datagrams only.",
            "Reliable datagrams are not in use anywhere.",
            "nothing"),
    /** Reliable datagrams only. */
    REMOTE_INVALID_RD_REQUEST_ERROR(15, "remote invalid RD request",
            "Reliable datagrams only.",
            "Reliable datagrams are not in use anywhere.",
            "nothing"),
    /** The peer aborted the operation. */
    REMOTE_ABORTED_ERROR(16, "aborted error",
            "The peer aborted the operation.",
            "The peer closed its side while the operation ran.",
            "the peer's log"),
    /** Reliable datagrams only. */
    INVALID_EECN_ERROR(17, "invalid EE context number",
            "Reliable datagrams only.",
            "Reliable datagrams are not in use anywhere.",
            "nothing"),
    /** Reliable datagrams only. */
    INVALID_EEC_STATE_ERROR(18, "invalid EE context state",
            "Reliable datagrams only.",
            "Reliable datagrams are not in use anywhere.",
            "nothing"),
    /** The device failed. */
    FATAL_ERROR(19, "fatal error",
            "The device failed.",
            "The device's engine stopped on an internal error or was closed.",
            "the log of this process"),
    /** No response in time. */
    RESPONSE_TIMEOUT_ERROR(20, "response timeout error",
            "No response in time.",
            "As retry exceeded, for devices that tell the two apart.",
            "whether the peer lives"),
    /** An error of no other kind. */
    GENERAL_ERROR(21, "general error",
            "An error of no other kind.",
            "See the vendor error.",
            "the vendor error"),
    /** Tag matching failed. */
    TM_ERROR(22, "TM error",
            "Tag matching failed.",
            "Tag matching is native only.",
            "nothing"),
    /** Tag matching: the software has to finish a rendezvous. */
    TM_RENDEZVOUS_INCOMPLETE(23, "TM software rendezvous",
            "Tag matching: the software has to finish a rendezvous.",
            "Tag matching is native only.",
            "nothing");

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

    /** {@return the number verbs.h gives this} */
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
