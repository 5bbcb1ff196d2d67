// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.abi;

import java.util.Locale;

import static io.rdma4j.ibverbs.abi.CType.BYTE;
import static io.rdma4j.ibverbs.abi.CType.INT;
import static io.rdma4j.ibverbs.abi.CType.LONG;
import static io.rdma4j.ibverbs.abi.CType.POINTER;
import static io.rdma4j.ibverbs.abi.CType.SHORT;

/**
 * The functions of {@code libibverbs.so.1} that are used here. A plain look-up finds the default version of a symbol,
 * which is that of {@code IBVERBS_1.1} for the old ones; later functions are optional.
 */
public enum VerbsSymbol implements Symbol {
    GET_DEVICE_LIST(Signature.of(POINTER, POINTER)),
    FREE_DEVICE_LIST(Signature.ofVoid(POINTER)),
    OPEN_DEVICE(Signature.of(POINTER, POINTER)),
    CLOSE_DEVICE(Signature.of(INT, POINTER)),
    GET_DEVICE_GUID(Signature.of(LONG, POINTER)),
    GET_ASYNC_EVENT(Signature.of(INT, POINTER, POINTER)),
    ACK_ASYNC_EVENT(Signature.ofVoid(POINTER)),
    QUERY_DEVICE(Signature.of(INT, POINTER, POINTER)),
    QUERY_PORT(Signature.of(INT, POINTER, BYTE, POINTER)),
    QUERY_GID(Signature.of(INT, POINTER, BYTE, INT, POINTER)),
    QUERY_PKEY(Signature.of(INT, POINTER, BYTE, INT, POINTER)),
    ALLOC_PD(Signature.of(POINTER, POINTER)),
    DEALLOC_PD(Signature.of(INT, POINTER)),
    REG_MR(Signature.of(POINTER, POINTER, POINTER, LONG, INT)),
    REREG_MR(Signature.of(INT, POINTER, INT, POINTER, POINTER, LONG, INT)),
    DEREG_MR(Signature.of(INT, POINTER)),
    CREATE_COMP_CHANNEL(Signature.of(POINTER, POINTER)),
    DESTROY_COMP_CHANNEL(Signature.of(INT, POINTER)),
    CREATE_CQ(Signature.of(POINTER, POINTER, INT, POINTER, POINTER, INT)),
    RESIZE_CQ(Signature.of(INT, POINTER, INT)),
    DESTROY_CQ(Signature.of(INT, POINTER)),
    GET_CQ_EVENT(Signature.of(INT, POINTER, POINTER, POINTER)),
    ACK_CQ_EVENTS(Signature.ofVoid(POINTER, INT)),
    CREATE_SRQ(Signature.of(POINTER, POINTER, POINTER)),
    MODIFY_SRQ(Signature.of(INT, POINTER, POINTER, INT)),
    QUERY_SRQ(Signature.of(INT, POINTER, POINTER)),
    DESTROY_SRQ(Signature.of(INT, POINTER)),
    CREATE_QP(Signature.of(POINTER, POINTER, POINTER)),
    MODIFY_QP(Signature.of(INT, POINTER, POINTER, INT)),
    QUERY_QP(Signature.of(INT, POINTER, POINTER, INT, POINTER)),
    DESTROY_QP(Signature.of(INT, POINTER)),
    CREATE_AH(Signature.of(POINTER, POINTER, POINTER)),
    DESTROY_AH(Signature.of(INT, POINTER)),
    INIT_AH_FROM_WC(Signature.of(INT, POINTER, BYTE, POINTER, POINTER, POINTER)),
    ATTACH_MCAST(Signature.of(INT, POINTER, POINTER, SHORT)),
    DETACH_MCAST(Signature.of(INT, POINTER, POINTER, SHORT)),
    RESOLVE_ETH_L2_FROM_GID(Signature.of(INT, POINTER, POINTER, POINTER, POINTER)),
    /** Version 1.5. */
    GET_PKEY_INDEX(false, Signature.of(INT, POINTER, BYTE, SHORT)),
    /** Version 1.6. */
    QP_TO_QP_EX(false, Signature.of(POINTER, POINTER)),
    /** Version 1.7. */
    REG_MR_IOVA(false, Signature.of(POINTER, POINTER, POINTER, LONG, LONG, INT)),
    /** Version 1.8: drops optional access flags that the kernel does not know. */
    REG_MR_IOVA2(false, Signature.of(POINTER, POINTER, POINTER, LONG, LONG, INT)),
    /** Version 1.9. */
    GET_DEVICE_INDEX(false, Signature.of(INT, POINTER)),
    /** Version 1.10. */
    QUERY_ECE(false, Signature.of(INT, POINTER, POINTER)),
    /** Version 1.10. */
    SET_ECE(false, Signature.of(INT, POINTER, POINTER)),
    /** Version 1.11; the last argument is the size of an entry. */
    QUERY_GID_EX("_ibv_query_gid_ex", Signature.of(INT, POINTER, INT, INT, POINTER, INT, LONG)),
    /** Version 1.11; the last argument is the size of an entry. */
    QUERY_GID_TABLE("_ibv_query_gid_table",
            Signature.of(LONG, POINTER, POINTER, LONG, INT, LONG)),
    /** Version 1.12. */
    REG_DMABUF_MR(false, Signature.of(POINTER, POINTER, LONG, LONG, LONG, INT, INT)),
    /** Version 1.14. */
    QUERY_QP_DATA_IN_ORDER(false, Signature.of(INT, POINTER, INT, INT));

    private final String symbol;
    private final boolean isRequired;
    // Immutable: a list that was copied.
    @SuppressWarnings("ImmutableEnumChecker")
    private final Signature signature;

    VerbsSymbol(Signature signature) {
        this(true, signature);
    }

    VerbsSymbol(boolean isRequired, Signature signature) {
        symbol = "ibv_" + name().toLowerCase(Locale.ROOT);
        this.isRequired = isRequired;
        this.signature = signature;
    }

    VerbsSymbol(String symbol, Signature signature) {
        this.symbol = symbol;
        isRequired = false;
        this.signature = signature;
    }

    @Override
    public String symbol() {
        return symbol;
    }

    @Override
    public Signature signature() {
        return signature;
    }

    @Override
    public boolean isRequired() {
        return isRequired;
    }
}
