// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.abi;

import io.rdma4j.ibverbs.abi.Layout.DeviceMemory;
import io.rdma4j.ibverbs.abi.Layout.QueuePairEx;
import io.rdma4j.verbs.RdmaException;

import static io.rdma4j.ibverbs.abi.CType.BYTE;
import static io.rdma4j.ibverbs.abi.CType.INT;
import static io.rdma4j.ibverbs.abi.CType.LONG;
import static io.rdma4j.ibverbs.abi.CType.POINTER;

/**
 * The functions that are called by pointers in an object other than the context. Inline functions of {@code verbs.h}
 * call them. A function that the object lacks is a null pointer.
 */
public enum ObjectFunction {
    /** Of {@code struct ibv_dm}. */
    MEMCPY_TO_DM(DeviceMemory.MEMCPY_TO_DM, Signature.of(INT, POINTER, LONG, POINTER, LONG)),
    /** Of {@code struct ibv_dm}. */
    MEMCPY_FROM_DM(DeviceMemory.MEMCPY_FROM_DM, Signature.of(INT, POINTER, POINTER, LONG, LONG)),
    /** Of {@code struct ibv_qp_ex}. */
    WR_START(QueuePairEx.WR_START, Signature.ofVoid(POINTER)),
    /** Of {@code struct ibv_qp_ex}. */
    WR_COMPLETE(QueuePairEx.WR_COMPLETE, Signature.of(INT, POINTER)),
    /** Of {@code struct ibv_qp_ex}. */
    WR_ABORT(QueuePairEx.WR_ABORT, Signature.ofVoid(POINTER)),
    /** Of {@code struct ibv_qp_ex}. */
    WR_ATOMIC_WRITE(QueuePairEx.WR_ATOMIC_WRITE, Signature.ofVoid(POINTER, INT, LONG, POINTER)),
    /** Of {@code struct ibv_qp_ex}. */
    WR_FLUSH(QueuePairEx.WR_FLUSH, Signature.ofVoid(POINTER, INT, LONG, LONG, BYTE, BYTE));

    private final long offset;
    // Immutable: a list that was copied.
    @SuppressWarnings("ImmutableEnumChecker")
    private final Signature signature;

    ObjectFunction(long offset, Signature signature) {
        this.offset = offset;
        this.signature = signature;
    }

    /** {@return its parameter and result types} */
    public Signature signature() {
        return signature;
    }

    /** {@return the offset of its pointer, in bytes from the address of the object} */
    public long offset() {
        return offset;
    }

    /**
     * {@return the function of an object}
     *
     * @throws RdmaException EOPNOTSUPP if the object does not offer it
     */
    public NativeFunction of(long object, String operation) throws RdmaException {
        long address = Native.getLong(Native.at(object + offset, Long.BYTES), 0);
        if (address == 0) {
            throw RdmaException.unsupported(operation, "the device's driver does not offer it");
        }
        return new NativeFunction(name(), signature, address);
    }
}
