// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.values;

import io.rdma4j.device.ReportedDevice;
import io.rdma4j.device.ReportedPort;
import io.rdma4j.ibverbs.abi.Layout.DeviceAttr;
import io.rdma4j.ibverbs.abi.Layout.DeviceAttrEx;
import io.rdma4j.ibverbs.abi.Layout.PortAttr;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.verbs.DeviceAttributes;
import io.rdma4j.verbs.DeviceLimit;
import io.rdma4j.verbs.PortAttributes;
import io.rdma4j.verbs.QueuePairType;

import java.lang.foreign.MemorySegment;
import java.util.EnumMap;
import java.util.Map;

/** Reads {@code struct ibv_device_attr}, {@code ibv_device_attr_ex} and {@code ibv_port_attr}. */
public final class DeviceValues {
    private DeviceValues() {}

    /** {@return the contents of {@code struct ibv_device_attr_ex}, which begins with {@code struct ibv_device_attr}} */
    public static DeviceAttributes device(MemorySegment source, int completionVectors) {
        return new ReportedDevice(Native.text(source, 0, DeviceAttr.FIRMWARE_LENGTH),
                Native.bigEndian(Native.getLong(source, DeviceAttr.NODE_GUID)),
                Native.bigEndian(Native.getLong(source, DeviceAttr.SYS_IMAGE_GUID)),
                Native.getInt(source, DeviceAttr.VENDOR_ID),
                Native.getInt(source, DeviceAttr.VENDOR_PART_ID),
                Native.getInt(source, DeviceAttr.HW_VER),
                ports(source), Native.getInt(source, DeviceAttr.DEVICE_CAP_FLAGS),
                Native.getInt(source, DeviceAttr.ATOMIC_CAP),
                Native.getByte(source, DeviceAttr.LOCAL_CA_ACK_DELAY), completionVectors,
                limits(source), Native.getLong(source, DeviceAttrEx.COMPLETION_TIMESTAMP_MASK),
                Native.getLong(source, DeviceAttrEx.HCA_CORE_CLOCK),
                Native.getShort(source, DeviceAttrEx.MODERATION_COUNT),
                Native.getShort(source, DeviceAttrEx.MODERATION_PERIOD),
                Native.getLong(source, DeviceAttrEx.MAX_DM_SIZE), onDemandPaging(source));
    }

    /** {@return the number of ports; a driver without the query for more than 255 leaves the other field empty} */
    private static int ports(MemorySegment source) {
        int extended = Native.getInt(source, DeviceAttrEx.PHYS_PORT_CNT_EX);
        return extended == 0 ? Native.getByte(source, DeviceAttr.PHYS_PORT_CNT) : extended;
    }

    private static Map<QueuePairType, Integer> onDemandPaging(MemorySegment source) {
        Map<QueuePairType, Integer> paging = new EnumMap<>(QueuePairType.class);
        paging.put(QueuePairType.RC, Native.getInt(source, DeviceAttrEx.ODP_RC));
        paging.put(QueuePairType.UC, Native.getInt(source, DeviceAttrEx.ODP_UC));
        paging.put(QueuePairType.UD, Native.getInt(source, DeviceAttrEx.ODP_UD));
        paging.values().removeIf(bits -> bits == 0);
        return paging;
    }

    private static Map<DeviceLimit, Long> limits(MemorySegment source) {
        Map<DeviceLimit, Long> limits = new EnumMap<>(DeviceLimit.class);
        for (DeviceLimit limit : DeviceLimit.values()) {
            limits.put(limit, switch (limit) {
                case MAX_MR_SIZE -> longAtMost(Native.getLong(source, DeviceAttr.MAX_MR_SIZE));
                case PAGE_SIZE_CAP -> Native.getLong(source, DeviceAttr.PAGE_SIZE_CAP);
                case MAX_PKEYS -> (long) Native.getShort(source, DeviceAttr.MAX_PKEYS);
                default -> (long) Native.getInt(source, offset(limit));
            });
        }
        return limits;
    }

    /**
     * {@return an unsigned number, at most {@link Long#MAX_VALUE}; drivers without a limit set all
     * bits}
     */
    private static long longAtMost(long value) {
        return value < 0 ? Long.MAX_VALUE : value;
    }

    private static long offset(DeviceLimit limit) {
        return switch (limit) {
            case MAX_MR_SIZE -> DeviceAttr.MAX_MR_SIZE;
            case PAGE_SIZE_CAP -> DeviceAttr.PAGE_SIZE_CAP;
            case MAX_QP -> DeviceAttr.MAX_QP;
            case MAX_QP_WR -> DeviceAttr.MAX_QP_WR;
            case MAX_SGE -> DeviceAttr.MAX_SGE;
            case MAX_SGE_RD -> DeviceAttr.MAX_SGE_RD;
            case MAX_CQ -> DeviceAttr.MAX_CQ;
            case MAX_CQE -> DeviceAttr.MAX_CQE;
            case MAX_MR -> DeviceAttr.MAX_MR;
            case MAX_PD -> DeviceAttr.MAX_PD;
            case MAX_QP_RD_ATOM -> DeviceAttr.MAX_QP_RD_ATOM;
            case MAX_EE_RD_ATOM -> DeviceAttr.MAX_EE_RD_ATOM;
            case MAX_RES_RD_ATOM -> DeviceAttr.MAX_RES_RD_ATOM;
            case MAX_QP_INIT_RD_ATOM -> DeviceAttr.MAX_QP_INIT_RD_ATOM;
            case MAX_EE_INIT_RD_ATOM -> DeviceAttr.MAX_EE_INIT_RD_ATOM;
            case MAX_EE -> DeviceAttr.MAX_EE;
            case MAX_RDD -> DeviceAttr.MAX_RDD;
            case MAX_MW -> DeviceAttr.MAX_MW;
            case MAX_RAW_IPV6_QP -> DeviceAttr.MAX_RAW_IPV6_QP;
            case MAX_RAW_ETHY_QP -> DeviceAttr.MAX_RAW_ETHY_QP;
            case MAX_MCAST_GRP -> DeviceAttr.MAX_MCAST_GRP;
            case MAX_MCAST_QP_ATTACH -> DeviceAttr.MAX_MCAST_QP_ATTACH;
            case MAX_TOTAL_MCAST_QP_ATTACH -> DeviceAttr.MAX_TOTAL_MCAST_QP_ATTACH;
            case MAX_AH -> DeviceAttr.MAX_AH;
            case MAX_FMR -> DeviceAttr.MAX_FMR;
            case MAX_SRQ -> DeviceAttr.MAX_SRQ;
            case MAX_SRQ_WR -> DeviceAttr.MAX_SRQ_WR;
            case MAX_SRQ_SGE -> DeviceAttr.MAX_SRQ_SGE;
            case MAX_PKEYS -> DeviceAttr.MAX_PKEYS;
        };
    }

    /** {@return the contents of {@code struct ibv_port_attr}} */
    public static PortAttributes port(MemorySegment source) {
        return new ReportedPort(Native.getInt(source, PortAttr.STATE),
                Native.getInt(source, PortAttr.MAX_MTU),
                Native.getInt(source, PortAttr.ACTIVE_MTU),
                Native.getInt(source, PortAttr.GID_TBL_LEN),
                Native.getInt(source, PortAttr.PORT_CAP_FLAGS),
                Native.getShort(source, PortAttr.PORT_CAP_FLAGS2),
                Integer.toUnsignedLong(Native.getInt(source, PortAttr.MAX_MSG_SZ)),
                Native.getInt(source, PortAttr.BAD_PKEY_CNTR),
                Native.getInt(source, PortAttr.QKEY_VIOL_CNTR),
                Native.getShort(source, PortAttr.PKEY_TBL_LEN),
                Native.getShort(source, PortAttr.LID), Native.getShort(source, PortAttr.SM_LID),
                Native.getByte(source, PortAttr.LMC), Native.getByte(source, PortAttr.MAX_VL_NUM),
                Native.getByte(source, PortAttr.SM_SL),
                Native.getByte(source, PortAttr.SUBNET_TIMEOUT),
                Native.getByte(source, PortAttr.INIT_TYPE_REPLY),
                Native.getByte(source, PortAttr.ACTIVE_WIDTH),
                Native.getByte(source, PortAttr.ACTIVE_SPEED),
                Native.getByte(source, PortAttr.PHYS_STATE),
                Native.getByte(source, PortAttr.LINK_LAYER),
                Native.getByte(source, PortAttr.FLAGS));
    }
}
