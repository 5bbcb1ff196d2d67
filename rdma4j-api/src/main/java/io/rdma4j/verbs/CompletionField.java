package io.rdma4j.verbs;

/**
 * A field of completions that an extended completion queue fills on request.
 *
 * <p>C: {@code enum ibv_create_cq_wc_flags}.
 */
public enum CompletionField {
    /** {@link WorkCompletion#byteLength}. */
    BYTE_LENGTH(1 << 0),
    /** {@link WorkCompletion#immediate}. */
    IMMEDIATE(1 << 1),
    /** {@link WorkCompletion#queuePairNumber}. */
    QUEUE_PAIR_NUMBER(1 << 2),
    /** {@link WorkCompletion#sourceQueuePair}. */
    SOURCE_QUEUE_PAIR(1 << 3),
    /** {@link WorkCompletion#sourceLid}. */
    SOURCE_LID(1 << 4),
    /** {@link WorkCompletion#serviceLevel}. */
    SERVICE_LEVEL(1 << 5),
    /** {@link WorkCompletion#destinationPathBits}. */
    DESTINATION_PATH_BITS(1 << 6),
    /** {@link WorkCompletion#completionTimestamp}. */
    COMPLETION_TIMESTAMP(1 << 7),
    /** The VLAN of a raw packet; native devices only. */
    VLAN(1 << 8),
    /** The flow tag of a raw packet; native devices only. */
    FLOW_TAG(1 << 9),
    /** Tag matching; native devices only. */
    TAG_MATCHING(1 << 10),
    /** {@link WorkCompletion#completionWallclockNs}. */
    COMPLETION_WALLCLOCK(1 << 11);

    private final int bit;

    CompletionField(int bit) {
        this.bit = bit;
    }

    /** {@return the bit verbs.h gives this} */
    public int bit() {
        return bit;
    }
}
