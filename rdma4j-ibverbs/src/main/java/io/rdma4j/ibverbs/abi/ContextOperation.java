// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.abi;

import static io.rdma4j.ibverbs.abi.CType.INT;
import static io.rdma4j.ibverbs.abi.CType.LONG;
import static io.rdma4j.ibverbs.abi.CType.POINTER;

/**
 * The functions of an open device that are called by pointers: those of {@code ibv_context.ops}, at positive offsets
 * from the address of the context, and those of {@code verbs_context}, at negative offsets. Inline functions of {@code
 * verbs.h} call them.
 *
 * <p>The negative offsets are the same in all versions; a library that is older than a function has a smaller {@code
 * verbs_context.sz}. A function that a device lacks is a null pointer.
 */
public enum ContextOperation {
    ALLOC_MW(64, Signature.of(POINTER, POINTER, INT)),
    BIND_MW(72, Signature.of(INT, POINTER, POINTER, POINTER)),
    DEALLOC_MW(80, Signature.of(INT, POINTER)),
    POLL_CQ(96, Signature.of(INT, POINTER, INT, POINTER)),
    REQ_NOTIFY_CQ(104, Signature.of(INT, POINTER, INT)),
    POST_SRQ_RECV(168, Signature.of(INT, POINTER, POINTER, POINTER)),
    POST_SEND(208, Signature.of(INT, POINTER, POINTER, POINTER)),
    POST_RECV(216, Signature.of(INT, POINTER, POINTER, POINTER)),
    CLOSE_XRCD(-24, Signature.of(INT, POINTER)),
    OPEN_XRCD(-32, Signature.of(POINTER, POINTER, POINTER)),
    CREATE_SRQ_EX(-40, Signature.of(POINTER, POINTER, POINTER)),
    GET_SRQ_NUM(-48, Signature.of(INT, POINTER, POINTER)),
    CREATE_QP_EX(-56, Signature.of(POINTER, POINTER, POINTER)),
    OPEN_QP(-64, Signature.of(POINTER, POINTER, POINTER)),
    CREATE_FLOW(-80, Signature.of(POINTER, POINTER, POINTER)),
    DESTROY_FLOW(-96, Signature.of(INT, POINTER)),
    QUERY_DEVICE_EX(-104, Signature.of(INT, POINTER, POINTER, POINTER, LONG)),
    CREATE_CQ_EX(-120, Signature.of(POINTER, POINTER, POINTER)),
    QUERY_RT_VALUES(-128, Signature.of(INT, POINTER, POINTER)),
    MODIFY_CQ(-184, Signature.of(INT, POINTER, POINTER)),
    ALLOC_TD(-192, Signature.of(POINTER, POINTER, POINTER)),
    DEALLOC_TD(-200, Signature.of(INT, POINTER)),
    ALLOC_PARENT_DOMAIN(-208, Signature.of(POINTER, POINTER, POINTER)),
    FREE_DM(-248, Signature.of(INT, POINTER)),
    ALLOC_DM(-256, Signature.of(POINTER, POINTER, POINTER)),
    REG_DM_MR(-264, Signature.of(POINTER, POINTER, POINTER, LONG, LONG, INT)),
    ALLOC_NULL_MR(-304, Signature.of(POINTER, POINTER)),
    ADVISE_MR(-312, Signature.of(INT, POINTER, INT, INT, POINTER, INT)),
    QUERY_PORT(-320, Signature.of(INT, POINTER, CType.BYTE, POINTER, LONG));

    private final long offset;
    // Immutable: a list that was copied.
    @SuppressWarnings("ImmutableEnumChecker")
    private final Signature signature;

    ContextOperation(long offset, Signature signature) {
        this.offset = offset;
        this.signature = signature;
    }

    /** {@return the offset of its pointer, in bytes from the address of the context} */
    public long offset() {
        return offset;
    }

    /** {@return its parameter and result types} */
    public Signature signature() {
        return signature;
    }
}
