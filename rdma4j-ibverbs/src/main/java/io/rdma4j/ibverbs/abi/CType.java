// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.abi;

import java.lang.foreign.MemoryLayout;
import java.lang.foreign.ValueLayout;

/** The types that functions of the libraries take and return. */
enum CType {
    /** {@code uint8_t}. */
    BYTE,
    /** {@code uint16_t}. */
    SHORT,
    /** {@code int}, {@code unsigned int}, {@code uint32_t}, enumerations. */
    INT,
    /** {@code size_t}, {@code ssize_t}, {@code uint64_t}. */
    LONG,
    /** Any pointer: it travels as a number of 64 bits, as it does by the calling conventions of Linux. */
    POINTER;

    MemoryLayout layout() {
        return switch (this) {
            case BYTE -> ValueLayout.JAVA_BYTE;
            case SHORT -> ValueLayout.JAVA_SHORT;
            case INT -> ValueLayout.JAVA_INT;
            case LONG, POINTER -> ValueLayout.JAVA_LONG;
        };
    }
}
