// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.values;

import io.rdma4j.ibverbs.abi.Layout.QueuePairAttr;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.PathMigrationState;
import io.rdma4j.verbs.QueuePairAttribute;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaException;

import java.lang.foreign.MemorySegment;

/** Attributes of queue pairs in {@code struct ibv_qp_attr} and its mask. */
public final class QueuePairValues {
    /** Every right of the API that a queue pair can have. */
    private static final int RIGHTS = 0x3f | AccessFlag.FLUSH_GLOBAL.bit()
            | AccessFlag.FLUSH_PERSISTENT.bit();
    /** The distance between the five numbers of {@code struct ibv_qp_cap}. */
    private static final long INTS = Integer.BYTES;

    private QueuePairValues() {}

    /** {@return {@code attr_mask} with the bits of some attributes} */
    public static int mask(QueuePairAttribute... attributes) {
        int mask = 0;
        for (QueuePairAttribute attribute : attributes) {
            mask |= bit(attribute);
        }
        return mask;
    }

    /** {@return the bit of {@code enum ibv_qp_attr_mask}; 0 if native devices have no such bit} */
    public static int bit(QueuePairAttribute attribute) {
        return switch (attribute) {
            case STATE -> 1;
            case CURRENT_STATE -> 1 << 1;
            case ENABLE_SQD_ASYNC_NOTIFY -> 1 << 2;
            case ACCESS_FLAGS -> 1 << 3;
            case PKEY_INDEX -> 1 << 4;
            case PORT -> 1 << 5;
            case QKEY -> 1 << 6;
            case ADDRESS_VECTOR -> 1 << 7;
            case PATH_MTU -> 1 << 8;
            case TIMEOUT -> 1 << 9;
            case RETRY_COUNT -> 1 << 10;
            case RNR_RETRY -> 1 << 11;
            case RECEIVE_PSN -> 1 << 12;
            case MAX_READ_ATOMIC -> 1 << 13;
            case ALTERNATE_PATH -> 1 << 14;
            case MIN_RNR_TIMER -> 1 << 15;
            case SEND_PSN -> 1 << 16;
            case MAX_DESTINATION_READ_ATOMIC -> 1 << 17;
            case PATH_MIGRATION_STATE -> 1 << 18;
            case CAPABILITIES -> 1 << 19;
            case DESTINATION_QUEUE_PAIR -> 1 << 20;
            case RATE_LIMIT -> 1 << 25;
        };
    }

    /**
     * Writes the set attributes into zeroed memory.
     *
     * @param target {@link QueuePairAttr#SIZE} bytes
     * @return the mask
     */
    public static int write(MemorySegment target, QueuePairAttributes attributes) {
        target.fill((byte) 0);
        int mask = 0;
        for (QueuePairAttribute attribute : attributes.mask()) {
            mask |= bit(attribute);
            write(target, attributes, attribute);
        }
        return mask;
    }

    private static void write(MemorySegment target, QueuePairAttributes from,
            QueuePairAttribute attribute) {
        switch (attribute) {
            case STATE -> Native.putInt(target, QueuePairAttr.QP_STATE, from.state().code());
            case CURRENT_STATE -> Native.putInt(target, QueuePairAttr.CUR_QP_STATE,
                    from.currentState().code());
            case ENABLE_SQD_ASYNC_NOTIFY -> Native.putByte(target,
                    QueuePairAttr.EN_SQD_ASYNC_NOTIFY, from.enableSqdAsyncNotify() ? 1 : 0);
            case ACCESS_FLAGS -> Native.putInt(target, QueuePairAttr.QP_ACCESS_FLAGS,
                    AccessFlag.bits(from.accessFlags()));
            case PKEY_INDEX -> Native.putShort(target, QueuePairAttr.PKEY_INDEX, from.pkeyIndex());
            case PORT -> Native.putByte(target, QueuePairAttr.PORT_NUM, from.port());
            case QKEY -> Native.putInt(target, QueuePairAttr.QKEY, from.qkey());
            case ADDRESS_VECTOR -> Paths.write(target, QueuePairAttr.AH_ATTR,
                    from.addressVector());
            case PATH_MTU -> Native.putInt(target, QueuePairAttr.PATH_MTU, from.pathMtu().code());
            case TIMEOUT ->
                Native.putByte(target, QueuePairAttr.TIMEOUT, from.ackTimeoutExponent());
            case RETRY_COUNT -> Native.putByte(target, QueuePairAttr.RETRY_CNT,
                    from.retryCount());
            case RNR_RETRY -> Native.putByte(target, QueuePairAttr.RNR_RETRY, from.rnrRetry());
            case RECEIVE_PSN -> Native.putInt(target, QueuePairAttr.RQ_PSN, from.receivePsn());
            case MAX_READ_ATOMIC -> Native.putByte(target, QueuePairAttr.MAX_RD_ATOMIC,
                    from.maxReadAtomic());
            case ALTERNATE_PATH -> {
                Paths.write(target, QueuePairAttr.ALT_AH_ATTR, from.alternatePath());
                Native.putByte(target, QueuePairAttr.ALT_PORT_NUM, from.alternatePath().port());
            }
            case MIN_RNR_TIMER -> Native.putByte(target, QueuePairAttr.MIN_RNR_TIMER,
                    from.minRnrTimerCode());
            case SEND_PSN -> Native.putInt(target, QueuePairAttr.SQ_PSN, from.sendPsn());
            case MAX_DESTINATION_READ_ATOMIC -> Native.putByte(target,
                    QueuePairAttr.MAX_DEST_RD_ATOMIC, from.maxDestinationReadAtomic());
            case PATH_MIGRATION_STATE -> Native.putInt(target, QueuePairAttr.PATH_MIG_STATE,
                    from.pathMigrationState().code());
            case CAPABILITIES -> writeCapabilities(target, QueuePairAttr.CAP,
                    from.capabilities());
            case DESTINATION_QUEUE_PAIR -> Native.putInt(target, QueuePairAttr.DEST_QP_NUM,
                    from.destinationQueuePairNumber());
            case RATE_LIMIT ->
                Native.putInt(target, QueuePairAttr.RATE_LIMIT, from.rateLimitKbps());
        }
    }

    /**
     * {@return the attributes that a mask names} Skips bits that only kernels use, a port or path MTU that was never set,
     * and a state of path migration that the headers do not name.
     *
     * @throws RdmaException EIO if another value is unknown
     */
    public static QueuePairAttributes read(MemorySegment source, int mask) throws RdmaException {
        QueuePairAttributes attributes = new QueuePairAttributes();
        try {
            for (QueuePairAttribute attribute : QueuePairAttribute.values()) {
                if ((mask & bit(attribute)) != 0) {
                    read(source, attributes, attribute);
                }
            }
        } catch (IllegalArgumentException nonsense) {
            throw new RdmaException(Errno.EIO, "read queue pair attributes",
                    "the driver gave what does not exist: " + nonsense.getMessage(), nonsense);
        }
        return attributes;
    }

    private static void read(MemorySegment source, QueuePairAttributes to,
            QueuePairAttribute attribute) {
        switch (attribute) {
            case STATE -> to.state(state(Native.getInt(source, QueuePairAttr.QP_STATE)));
            case CURRENT_STATE -> to
                    .currentState(state(Native.getInt(source, QueuePairAttr.CUR_QP_STATE)));
            case ENABLE_SQD_ASYNC_NOTIFY -> to.enableSqdAsyncNotify(
                    Native.getByte(source, QueuePairAttr.EN_SQD_ASYNC_NOTIFY) != 0);
            case ACCESS_FLAGS -> to.accessFlags(AccessFlag.ofBits(
                    Native.getInt(source, QueuePairAttr.QP_ACCESS_FLAGS) & RIGHTS));
            case PKEY_INDEX -> to.pkeyIndex(Native.getShort(source, QueuePairAttr.PKEY_INDEX));
            case PORT -> {
                // Not set yet.
                if (Native.getByte(source, QueuePairAttr.PORT_NUM) != 0) {
                    to.port(Native.getByte(source, QueuePairAttr.PORT_NUM));
                }
            }
            case QKEY -> to.qkey(Native.getInt(source, QueuePairAttr.QKEY));
            case ADDRESS_VECTOR -> to.addressVector(Paths.read(source, QueuePairAttr.AH_ATTR));
            case PATH_MTU -> {
                int code = Native.getInt(source, QueuePairAttr.PATH_MTU);
                if (code != 0) {
                    to.pathMtu(mtu(code));
                }
            }
            case TIMEOUT ->
                to.ackTimeoutExponent(Native.getByte(source, QueuePairAttr.TIMEOUT) & 0x1f);
            case RETRY_COUNT -> to
                    .retryCount(Native.getByte(source, QueuePairAttr.RETRY_CNT) & 7);
            case RNR_RETRY -> to.rnrRetry(Native.getByte(source, QueuePairAttr.RNR_RETRY) & 7);
            case RECEIVE_PSN -> to
                    .receivePsn(Native.getInt(source, QueuePairAttr.RQ_PSN) & 0xff_ffff);
            case MAX_READ_ATOMIC -> to
                    .maxReadAtomic(Native.getByte(source, QueuePairAttr.MAX_RD_ATOMIC));
            case ALTERNATE_PATH -> to
                    .alternatePath(Paths.read(source, QueuePairAttr.ALT_AH_ATTR));
            case MIN_RNR_TIMER -> to
                    .minRnrTimerCode(Native.getByte(source, QueuePairAttr.MIN_RNR_TIMER) & 0x1f);
            case SEND_PSN -> to.sendPsn(Native.getInt(source, QueuePairAttr.SQ_PSN) & 0xff_ffff);
            case MAX_DESTINATION_READ_ATOMIC -> to.maxDestinationReadAtomic(
                    Native.getByte(source, QueuePairAttr.MAX_DEST_RD_ATOMIC));
            case PATH_MIGRATION_STATE -> {
                PathMigrationState state = PathMigrationState
                        .ofCode(Native.getInt(source, QueuePairAttr.PATH_MIG_STATE));
                if (state != null) {
                    to.pathMigrationState(state);
                }
            }
            case CAPABILITIES -> to
                    .capabilities(readCapabilities(source, QueuePairAttr.CAP));
            case DESTINATION_QUEUE_PAIR -> to.destinationQueuePairNumber(
                    Native.getInt(source, QueuePairAttr.DEST_QP_NUM) & 0xff_ffff);
            case RATE_LIMIT -> to.rateLimitKbps(Native.getInt(source, QueuePairAttr.RATE_LIMIT));
        }
    }

    private static Mtu mtu(int code) {
        Mtu mtu = Mtu.ofCode(code);
        if (mtu == null) {
            throw new IllegalArgumentException("there is no path MTU of number " + code);
        }
        return mtu;
    }

    private static QueuePairState state(int code) {
        QueuePairState state = QueuePairState.ofCode(code);
        if (state == null) {
            throw new IllegalArgumentException("there is no queue pair state of number " + code);
        }
        return state;
    }

    /** Writes {@code struct ibv_qp_cap}. */
    public static void writeCapabilities(MemorySegment target, long offset,
            QueuePairCapabilities sizes) {
        Native.putInt(target, offset, sizes.maxSendRequests());
        Native.putInt(target, offset + INTS, sizes.maxReceiveRequests());
        Native.putInt(target, offset + 2 * INTS, sizes.maxSendElements());
        Native.putInt(target, offset + 3 * INTS, sizes.maxReceiveElements());
        Native.putInt(target, offset + 4 * INTS, sizes.maxInlineData());
    }

    /** {@return the contents of {@code struct ibv_qp_cap}} */
    public static QueuePairCapabilities readCapabilities(MemorySegment source, long offset) {
        return new QueuePairCapabilities(Native.getInt(source, offset),
                Native.getInt(source, offset + INTS), Native.getInt(source, offset + 2 * INTS),
                Native.getInt(source, offset + 3 * INTS),
                Native.getInt(source, offset + 4 * INTS));
    }
}
