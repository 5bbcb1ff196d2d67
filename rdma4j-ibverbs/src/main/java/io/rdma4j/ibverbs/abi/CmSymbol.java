// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.abi;

import java.util.Locale;

import static io.rdma4j.ibverbs.abi.CType.BYTE;
import static io.rdma4j.ibverbs.abi.CType.INT;
import static io.rdma4j.ibverbs.abi.CType.LONG;
import static io.rdma4j.ibverbs.abi.CType.POINTER;
import static io.rdma4j.ibverbs.abi.CType.SHORT;

/**
 * The functions of {@code librdmacm.so.1} that are used here. If they fail they return -1 or null and set {@code errno}.
 */
public enum CmSymbol implements Symbol {
    CREATE_EVENT_CHANNEL(Signature.of(POINTER)),
    DESTROY_EVENT_CHANNEL(Signature.ofVoid(POINTER)),
    CREATE_ID(Signature.of(INT, POINTER, POINTER, POINTER, INT)),
    DESTROY_ID(Signature.of(INT, POINTER)),
    CREATE_EP(Signature.of(INT, POINTER, POINTER, POINTER, POINTER)),
    MIGRATE_ID(Signature.of(INT, POINTER, POINTER)),
    BIND_ADDR(Signature.of(INT, POINTER, POINTER)),
    RESOLVE_ADDR(Signature.of(INT, POINTER, POINTER, POINTER, INT)),
    RESOLVE_ROUTE(Signature.of(INT, POINTER, INT)),
    CONNECT(Signature.of(INT, POINTER, POINTER)),
    LISTEN(Signature.of(INT, POINTER, INT)),
    ACCEPT(Signature.of(INT, POINTER, POINTER)),
    REJECT(Signature.of(INT, POINTER, POINTER, BYTE)),
    /** Version 1.3. */
    NOTIFY(Signature.of(INT, POINTER, INT)),
    DISCONNECT(Signature.of(INT, POINTER)),
    GET_CM_EVENT(Signature.of(INT, POINTER, POINTER)),
    ACK_CM_EVENT(Signature.of(INT, POINTER)),
    GET_SRC_PORT(Signature.of(SHORT, POINTER)),
    GET_DST_PORT(Signature.of(SHORT, POINTER)),
    SET_OPTION(Signature.of(INT, POINTER, INT, INT, POINTER, LONG)),
    JOIN_MULTICAST(Signature.of(INT, POINTER, POINTER, POINTER)),
    LEAVE_MULTICAST(Signature.of(INT, POINTER, POINTER)),
    /** Version 1.1. */
    JOIN_MULTICAST_EX(false, Signature.of(INT, POINTER, POINTER, POINTER)),
    /** Version 1.2. */
    ESTABLISH(Signature.of(INT, POINTER)),
    /** Version 1.2. */
    INIT_QP_ATTR(Signature.of(INT, POINTER, POINTER, POINTER));

    private final String symbol;
    private final boolean isRequired;
    // Immutable: a list that was copied.
    @SuppressWarnings("ImmutableEnumChecker")
    private final Signature signature;

    CmSymbol(Signature signature) {
        this(true, signature);
    }

    CmSymbol(boolean isRequired, Signature signature) {
        symbol = "rdma_" + name().toLowerCase(Locale.ROOT);
        this.isRequired = isRequired;
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
