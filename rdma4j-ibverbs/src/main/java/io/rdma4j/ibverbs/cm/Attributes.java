package io.rdma4j.ibverbs.cm;

import io.rdma4j.ibverbs.abi.Layout.AddressHandleAttr;
import io.rdma4j.ibverbs.abi.Layout.QueuePairAttr;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.PathMigrationState;
import io.rdma4j.verbs.QueuePairAttribute;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaException;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

/** What the library says of a queue pair and of a path, in the words of the verbs. */
final class Attributes {
    private static final int GID_LENGTH = 16;
    /** Kernels before 4.11 mark addresses of Ethernet as well, which nobody sets. */
    private static final int KNOWN = (1 << 21) - 1 | 1 << 25;
    /** In the order of the bits of a mask. */
    private static final QueuePairAttribute[] BITS = QueuePairAttribute.values();

    private Attributes() {}

    /** {@return a {@code struct ibv_ah_attr}} */
    static AddressHandleAttributes path(MemorySegment in, long at) {
        byte[] gid = in.asSlice(at + AddressHandleAttr.DGID, GID_LENGTH).toArray(JAVA_BYTE);
        return new AddressHandleAttributes(Gid.of(gid),
                Native.getByte(in, at + AddressHandleAttr.SGID_INDEX),
                Native.getInt(in, at + AddressHandleAttr.FLOW_LABEL) & 0xf_ffff,
                Native.getByte(in, at + AddressHandleAttr.HOP_LIMIT),
                Native.getByte(in, at + AddressHandleAttr.TRAFFIC_CLASS),
                Native.getShort(in, at + AddressHandleAttr.DLID),
                Native.getByte(in, at + AddressHandleAttr.SL) & 0xf,
                Native.getByte(in, at + AddressHandleAttr.SRC_PATH_BITS) & 0x7f,
                Native.getByte(in, at + AddressHandleAttr.STATIC_RATE),
                Native.getByte(in, at + AddressHandleAttr.IS_GLOBAL) != 0,
                Native.getByte(in, at + AddressHandleAttr.PORT_NUM));
    }

    /**
     * {@return a {@code struct ibv_qp_attr}, as far as its mask says}
     *
     * @throws RdmaException EIO if it holds something that does not exist
     */
    static QueuePairAttributes of(MemorySegment in, int mask) throws RdmaException {
        QueuePairAttributes attributes = new QueuePairAttributes();
        try {
            for (int bit = 0; bit < BITS.length; bit++) {
                if ((mask & KNOWN & 1 << bit) != 0) {
                    copy(BITS[bit], in, attributes);
                }
            }
        } catch (IllegalArgumentException e) {
            throw NativeId.nonsense("initialize queue pair attributes", e.getMessage());
        }
        return attributes;
    }

    private static void copy(QueuePairAttribute attribute, MemorySegment in,
            QueuePairAttributes to) {
        switch (attribute) {
            case STATE -> to.state(state(Native.getInt(in, QueuePairAttr.QP_STATE)));
            case CURRENT_STATE ->
                to.currentState(state(Native.getInt(in, QueuePairAttr.CUR_QP_STATE)));
            case ENABLE_SQD_ASYNC_NOTIFY -> to.enableSqdAsyncNotify(
                    Native.getByte(in, QueuePairAttr.EN_SQD_ASYNC_NOTIFY) != 0);
            case ACCESS_FLAGS -> to.accessFlags(
                    AccessFlag.ofBits(Native.getInt(in, QueuePairAttr.QP_ACCESS_FLAGS)));
            case PKEY_INDEX -> to.pkeyIndex(Native.getShort(in, QueuePairAttr.PKEY_INDEX));
            case PORT -> to.port(Native.getByte(in, QueuePairAttr.PORT_NUM));
            case QKEY -> to.qkey(Native.getInt(in, QueuePairAttr.QKEY));
            case ADDRESS_VECTOR -> to.addressVector(path(in, QueuePairAttr.AH_ATTR));
            case PATH_MTU -> to.pathMtu(mtu(Native.getInt(in, QueuePairAttr.PATH_MTU)));
            case TIMEOUT -> to.timeout(Native.getByte(in, QueuePairAttr.TIMEOUT));
            case RETRY_COUNT -> to.retryCount(Native.getByte(in, QueuePairAttr.RETRY_CNT));
            case RNR_RETRY -> to.rnrRetry(Native.getByte(in, QueuePairAttr.RNR_RETRY));
            case RECEIVE_PSN -> to.receivePsn(Native.getInt(in, QueuePairAttr.RQ_PSN));
            case MAX_READ_ATOMIC ->
                to.maxReadAtomic(Native.getByte(in, QueuePairAttr.MAX_RD_ATOMIC));
            case ALTERNATE_PATH -> to.alternatePath(path(in, QueuePairAttr.ALT_AH_ATTR));
            case MIN_RNR_TIMER -> to.minRnrTimer(Native.getByte(in, QueuePairAttr.MIN_RNR_TIMER));
            case SEND_PSN -> to.sendPsn(Native.getInt(in, QueuePairAttr.SQ_PSN));
            case MAX_DESTINATION_READ_ATOMIC -> to
                    .maxDestinationReadAtomic(
                            Native.getByte(in, QueuePairAttr.MAX_DEST_RD_ATOMIC));
            case PATH_MIGRATION_STATE -> to.pathMigrationState(
                    migration(Native.getInt(in, QueuePairAttr.PATH_MIG_STATE)));
            case DESTINATION_QUEUE_PAIR ->
                to.destinationQueuePair(Native.getInt(in, QueuePairAttr.DEST_QP_NUM));
            case RATE_LIMIT -> to.rateLimit(Native.getInt(in, QueuePairAttr.RATE_LIMIT));
            case CAPABILITIES, SOURCE_MAC, ALTERNATE_SOURCE_MAC, VLAN_ID, ALTERNATE_VLAN_ID -> {
                // A connection decides none of them.
            }
        }
    }

    private static QueuePairState state(int code) {
        return Arrays.stream(QueuePairState.values()).filter(each -> each.code() == code)
                .findFirst().orElseThrow(() -> unknown("state", code));
    }

    private static PathMigrationState migration(int code) {
        return Arrays.stream(PathMigrationState.values()).filter(each -> each.code() == code)
                .findFirst().orElseThrow(() -> unknown("state of path migration", code));
    }

    private static Mtu mtu(int code) {
        Mtu mtu = Mtu.ofCode(code);
        if (mtu == null) {
            throw unknown("MTU", code);
        }
        return mtu;
    }

    private static IllegalArgumentException unknown(String what, int code) {
        return new IllegalArgumentException("there is no " + what + " of the number " + code);
    }
}
