// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.abi;

import java.util.Locale;

import static io.rdma4j.ibverbs.abi.CType.INT;
import static io.rdma4j.ibverbs.abi.CType.LONG;
import static io.rdma4j.ibverbs.abi.CType.POINTER;

/** The functions of the C library that are used here, for file descriptors. */
public enum SystemSymbol implements Symbol {
    /** With permissions for its third argument. */
    OPEN(Signature.variadic(2, INT, POINTER, INT, INT)),
    POLL(Signature.of(INT, POINTER, LONG, INT)),
    EVENTFD(Signature.of(INT, INT, INT)),
    READ(Signature.of(LONG, INT, POINTER, LONG)),
    WRITE(Signature.of(LONG, INT, POINTER, LONG)),
    /** With a number for its third argument. */
    FCNTL(Signature.variadic(2, INT, INT, INT, INT)),
    CLOSE(Signature.of(INT, INT));

    // Immutable: a list that was copied.
    @SuppressWarnings("ImmutableEnumChecker")
    private final Signature signature;

    SystemSymbol(Signature signature) {
        this.signature = signature;
    }

    @Override
    public String symbol() {
        return name().toLowerCase(Locale.ROOT);
    }

    @Override
    public Signature signature() {
        return signature;
    }

    @Override
    public boolean isRequired() {
        return true;
    }
}
