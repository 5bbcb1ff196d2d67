// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.abi;

/**
 * The offsets in bytes of the fields of libibverbs' structures, as in the C headers of rdma-core 44 to 56 for 64 bits.
 * Offsets after a {@code pthread_mutex_t} depend on its size ({@link Mutex}).
 *
 * <p>Source: {@code infiniband/verbs.h}; the offsets were computed by a C compiler.
 */
public final class Layout {
    /** Extra room after structures that the library fills: a newer library may write more fields. */
    public static final long SLACK = 64;

    private Layout() {}

    /** {@return the offset on this machine of a field after a mutex, whose offset with a mutex of 40 bytes is given} */
    private static long behindMutex(long offset) {
        return Mutex.HERE.behind(offset);
    }

    /** {@code struct ibv_device}. */
    public static final class Device {
        public static final long SIZE = 664;
        public static final long NODE_TYPE = 16;
        public static final long TRANSPORT_TYPE = 20;
        public static final long NAME = 24;
        public static final int NAME_LENGTH = 64;

        private Device() {}
    }

    /** {@code struct ibv_context}, with {@code struct verbs_context} in front of it. */
    public static final class Context {
        public static final long DEVICE = 0;
        public static final long ASYNC_FD = 268;
        public static final long COMPLETION_VECTORS = 272;
        public static final long ABI_COMPAT = behindMutex(320);
        /** The size of {@code verbs_context}, in front. */
        public static final long EXTENSION_SIZE = -8;
        /** How many bytes {@code verbs_context} has without its functions. */
        public static final long SIZE = behindMutex(328);

        private Context() {}
    }

    /** {@code struct ibv_device_attr}. */
    public static final class DeviceAttr {
        public static final long SIZE = 232;
        public static final int FIRMWARE_LENGTH = 64;
        public static final long NODE_GUID = 64;
        public static final long SYS_IMAGE_GUID = 72;
        public static final long MAX_MR_SIZE = 80;
        public static final long PAGE_SIZE_CAP = 88;
        public static final long VENDOR_ID = 96;
        public static final long VENDOR_PART_ID = 100;
        public static final long HW_VER = 104;
        public static final long MAX_QP = 108;
        public static final long MAX_QP_WR = 112;
        public static final long DEVICE_CAP_FLAGS = 116;
        public static final long MAX_SGE = 120;
        public static final long MAX_SGE_RD = 124;
        public static final long MAX_CQ = 128;
        public static final long MAX_CQE = 132;
        public static final long MAX_MR = 136;
        public static final long MAX_PD = 140;
        public static final long MAX_QP_RD_ATOM = 144;
        public static final long MAX_EE_RD_ATOM = 148;
        public static final long MAX_RES_RD_ATOM = 152;
        public static final long MAX_QP_INIT_RD_ATOM = 156;
        public static final long MAX_EE_INIT_RD_ATOM = 160;
        public static final long ATOMIC_CAP = 164;
        public static final long MAX_EE = 168;
        public static final long MAX_RDD = 172;
        public static final long MAX_MW = 176;
        public static final long MAX_RAW_IPV6_QP = 180;
        public static final long MAX_RAW_ETHY_QP = 184;
        public static final long MAX_MCAST_GRP = 188;
        public static final long MAX_MCAST_QP_ATTACH = 192;
        public static final long MAX_TOTAL_MCAST_QP_ATTACH = 196;
        public static final long MAX_AH = 200;
        public static final long MAX_FMR = 204;
        public static final long MAX_SRQ = 212;
        public static final long MAX_SRQ_WR = 216;
        public static final long MAX_SRQ_SGE = 220;
        public static final long MAX_PKEYS = 224;
        public static final long LOCAL_CA_ACK_DELAY = 226;
        public static final long PHYS_PORT_CNT = 227;

        private DeviceAttr() {}
    }

    /** {@code struct ibv_device_attr_ex}; it begins with {@link DeviceAttr}. */
    public static final class DeviceAttrEx {
        public static final long SIZE = 400;
        public static final long ODP_RC = 248;
        public static final long ODP_UC = 252;
        public static final long ODP_UD = 256;
        public static final long COMPLETION_TIMESTAMP_MASK = 264;
        public static final long HCA_CORE_CLOCK = 272;
        public static final long CAP_FLAGS_EX = 280;
        public static final long MODERATION_COUNT = 368;
        public static final long MODERATION_PERIOD = 370;
        public static final long MAX_DM_SIZE = 376;
        public static final long PHYS_PORT_CNT_EX = 396;

        private DeviceAttrEx() {}
    }

    /** {@code struct ibv_port_attr}. */
    public static final class PortAttr {
        /** Before rdma-core 49; providers fill no more than they are told to. */
        public static final long SIZE = 52;
        public static final long STATE = 0;
        public static final long MAX_MTU = 4;
        public static final long ACTIVE_MTU = 8;
        public static final long GID_TBL_LEN = 12;
        public static final long PORT_CAP_FLAGS = 16;
        public static final long MAX_MSG_SZ = 20;
        public static final long BAD_PKEY_CNTR = 24;
        public static final long QKEY_VIOL_CNTR = 28;
        public static final long PKEY_TBL_LEN = 32;
        public static final long LID = 34;
        public static final long SM_LID = 36;
        public static final long LMC = 38;
        public static final long MAX_VL_NUM = 39;
        public static final long SM_SL = 40;
        public static final long SUBNET_TIMEOUT = 41;
        public static final long INIT_TYPE_REPLY = 42;
        public static final long ACTIVE_WIDTH = 43;
        public static final long ACTIVE_SPEED = 44;
        public static final long PHYS_STATE = 45;
        public static final long LINK_LAYER = 46;
        public static final long FLAGS = 47;
        public static final long PORT_CAP_FLAGS2 = 48;

        private PortAttr() {}
    }

    /** {@code struct ibv_gid_entry}. */
    public static final class GidEntry {
        public static final long SIZE = 32;
        public static final long GID = 0;
        public static final long GID_INDEX = 16;
        public static final long PORT_NUM = 20;
        public static final long GID_TYPE = 24;
        public static final long NDEV_IFINDEX = 28;

        private GidEntry() {}
    }

    /** {@code struct ibv_mr}. */
    public static final class MemoryRegion {
        public static final long SIZE = 48;
        public static final long LKEY = 36;
        public static final long RKEY = 40;

        private MemoryRegion() {}
    }

    /** {@code struct ibv_mw}. */
    public static final class MemoryWindow {
        public static final long SIZE = 32;
        public static final long RKEY = 16;

        private MemoryWindow() {}
    }

    /** {@code struct ibv_mw_bind}; {@code struct ibv_mw_bind_info} is its part from {@link #MR} on. */
    public static final class WindowBind {
        public static final long SIZE = 48;
        public static final long WR_ID = 0;
        public static final long SEND_FLAGS = 8;
        public static final long MR = 16;
        public static final long ADDR = 24;
        public static final long LENGTH = 32;
        public static final long ACCESS = 40;

        private WindowBind() {}
    }

    /** {@code struct ibv_comp_channel}. */
    public static final class CompletionChannel {
        public static final long SIZE = 16;
        public static final long FD = 8;

        private CompletionChannel() {}
    }

    /** {@code struct ibv_cq}. */
    public static final class CompletionQueue {
        /** The part in front of the mutex. */
        public static final long SIZE = 32;
        public static final long CQE = 28;

        private CompletionQueue() {}
    }

    /**
     * {@code struct ibv_wc}. The fields not named here, except for {@link #VENDOR_ERR}, are undefined if the status is not
     * 0.
     */
    public static final class WorkCompletion {
        public static final long SIZE = 48;
        public static final long WR_ID = 0;
        public static final long STATUS = 8;
        public static final long OPCODE = 12;
        public static final long VENDOR_ERR = 16;
        public static final long BYTE_LEN = 20;
        /** {@code imm_data} in network byte order, or {@code invalidated_rkey}. */
        public static final long IMM_DATA = 24;
        public static final long QP_NUM = 28;
        public static final long SRC_QP = 32;
        public static final long WC_FLAGS = 36;
        public static final long PKEY_INDEX = 40;
        public static final long SLID = 42;
        public static final long SL = 44;
        public static final long DLID_PATH_BITS = 45;

        private WorkCompletion() {}
    }

    /** {@code struct ibv_qp}. */
    public static final class QueuePair {
        /** The part in front of the mutex. */
        public static final long SIZE = 64;
        public static final long QP_NUM = 52;

        private QueuePair() {}
    }

    /** {@code struct ibv_qp_init_attr}, and {@code struct ibv_qp_init_attr_ex}, which begins with it. */
    public static final class QueuePairInitAttr {
        public static final long SIZE = 64;
        public static final long SEND_CQ = 8;
        public static final long RECV_CQ = 16;
        public static final long SRQ = 24;
        public static final long MAX_SEND_WR = 32;
        public static final long MAX_RECV_WR = 36;
        public static final long MAX_SEND_SGE = 40;
        public static final long MAX_RECV_SGE = 44;
        public static final long MAX_INLINE_DATA = 48;
        public static final long QP_TYPE = 52;
        public static final long SQ_SIG_ALL = 56;
        public static final long EXTENDED_SIZE = 136;
        public static final long COMP_MASK = 60;
        public static final long PD = 64;
        public static final long XRCD = 72;
        public static final long CREATE_FLAGS = 80;
        public static final long SEND_OPS_FLAGS = 128;

        private QueuePairInitAttr() {}
    }

    /** {@code struct ibv_ah_attr}. */
    public static final class AddressHandleAttr {
        public static final long SIZE = 32;
        public static final long DGID = 0;
        public static final long FLOW_LABEL = 16;
        public static final long SGID_INDEX = 20;
        public static final long HOP_LIMIT = 21;
        public static final long TRAFFIC_CLASS = 22;
        public static final long DLID = 24;
        public static final long SL = 26;
        public static final long SRC_PATH_BITS = 27;
        public static final long STATIC_RATE = 28;
        public static final long IS_GLOBAL = 29;
        public static final long PORT_NUM = 30;

        private AddressHandleAttr() {}
    }

    /** {@code struct ibv_qp_attr}. */
    public static final class QueuePairAttr {
        public static final long SIZE = 144;
        public static final long QP_STATE = 0;
        public static final long CUR_QP_STATE = 4;
        public static final long PATH_MTU = 8;
        public static final long PATH_MIG_STATE = 12;
        public static final long QKEY = 16;
        public static final long RQ_PSN = 20;
        public static final long SQ_PSN = 24;
        public static final long DEST_QP_NUM = 28;
        public static final long QP_ACCESS_FLAGS = 32;
        public static final long CAP = 36;
        public static final long AH_ATTR = 56;
        public static final long ALT_AH_ATTR = 88;
        public static final long PKEY_INDEX = 120;
        public static final long ALT_PKEY_INDEX = 122;
        public static final long EN_SQD_ASYNC_NOTIFY = 124;
        public static final long SQ_DRAINING = 125;
        public static final long MAX_RD_ATOMIC = 126;
        public static final long MAX_DEST_RD_ATOMIC = 127;
        public static final long MIN_RNR_TIMER = 128;
        public static final long PORT_NUM = 129;
        public static final long TIMEOUT = 130;
        public static final long RETRY_CNT = 131;
        public static final long RNR_RETRY = 132;
        public static final long ALT_PORT_NUM = 133;
        public static final long ALT_TIMEOUT = 134;
        public static final long RATE_LIMIT = 136;

        private QueuePairAttr() {}
    }

    /** {@code struct ibv_send_wr}. */
    public static final class SendRequest {
        public static final long SIZE = 128;
        public static final long WR_ID = 0;
        public static final long NEXT = 8;
        public static final long SG_LIST = 16;
        public static final long NUM_SGE = 24;
        public static final long OPCODE = 28;
        public static final long SEND_FLAGS = 32;
        /** {@code imm_data} in network byte order, or {@code invalidate_rkey}. */
        public static final long IMM_DATA = 36;
        /** Of {@code wr.rdma} and {@code wr.atomic}. */
        public static final long REMOTE_ADDR = 40;
        public static final long RDMA_RKEY = 48;
        public static final long COMPARE_ADD = 48;
        public static final long SWAP = 56;
        public static final long ATOMIC_RKEY = 64;
        public static final long AH = 40;
        public static final long REMOTE_QPN = 48;
        public static final long REMOTE_QKEY = 52;
        public static final long REMOTE_SRQN = 72;
        public static final long BIND_MW = 80;
        public static final long BIND_RKEY = 88;
        /** Laid out as {@link WindowBind} from {@link WindowBind#MR} on. */
        public static final long BIND_INFO = 96;

        private SendRequest() {}
    }

    /** {@code struct ibv_recv_wr}; {@code struct ibv_send_wr} begins with it. */
    public static final class ReceiveRequest {
        public static final long SIZE = 32;
        public static final long WR_ID = 0;
        public static final long NEXT = 8;
        public static final long SG_LIST = 16;
        public static final long NUM_SGE = 24;

        private ReceiveRequest() {}
    }

    /** {@code struct ibv_sge}. */
    public static final class Element {
        public static final long SIZE = 16;
        public static final long ADDR = 0;
        public static final long LENGTH = 8;
        public static final long LKEY = 12;

        private Element() {}
    }

    /**
     * {@code struct ibv_srq_init_attr}, and {@code struct ibv_srq_init_attr_ex}, which begins with it;
     * {@code struct ibv_srq_attr} is its part from {@link #MAX_WR} on.
     */
    public static final class SharedReceiveQueueInitAttr {
        public static final long SIZE = 24;
        public static final long MAX_WR = 8;
        public static final long MAX_SGE = 12;
        public static final long SRQ_LIMIT = 16;
        /** Of {@code struct ibv_srq_attr}. */
        public static final long ATTR_SIZE = 12;
        public static final long EXTENDED_SIZE = 64;
        public static final long COMP_MASK = 20;
        public static final long SRQ_TYPE = 24;
        public static final long PD = 32;
        public static final long XRCD = 40;
        public static final long CQ = 48;

        private SharedReceiveQueueInitAttr() {}
    }

    /** {@code struct ibv_xrcd_init_attr}. */
    public static final class XrcDomainInitAttr {
        public static final long SIZE = 12;
        public static final long COMP_MASK = 0;
        public static final long FD = 4;
        public static final long OFLAGS = 8;

        private XrcDomainInitAttr() {}
    }

    /** {@code struct ibv_qp_open_attr}. */
    public static final class QueuePairOpenAttr {
        public static final long SIZE = 32;
        public static final long COMP_MASK = 0;
        public static final long QP_NUM = 4;
        public static final long XRCD = 8;
        public static final long QP_TYPE = 24;

        private QueuePairOpenAttr() {}
    }

    /** {@code struct ibv_flow_attr}; the specifications, each a {@link FlowSpec}, follow it. */
    public static final class FlowAttr {
        public static final long SIZE = 20;
        public static final long TYPE = 4;
        public static final long LENGTH = 8;
        public static final long PRIORITY = 10;
        public static final long NUM_OF_SPECS = 12;
        public static final long PORT = 13;
        public static final long FLAGS = 16;

        private FlowAttr() {}
    }

    /** The {@code struct ibv_flow_spec_...}: their common start, their sizes, and the offsets of value, mask and fields. */
    public static final class FlowSpec {
        public static final long TYPE = 0;
        public static final long LENGTH = 4;

        /** {@code struct ibv_flow_spec_eth}. */
        public static final long ETH_SIZE = 40;
        public static final long ETH_VALUE = 6;
        public static final long ETH_MASK = 22;
        public static final long ETH_DST_MAC = 0;
        public static final long ETH_SRC_MAC = 6;
        public static final long ETH_ETHER_TYPE = 12;
        public static final long ETH_VLAN_TAG = 14;

        /** {@code struct ibv_flow_spec_ipv4}. */
        public static final long IPV4_SIZE = 24;
        public static final long IPV4_VALUE = 8;
        public static final long IPV4_MASK = 16;
        public static final long IPV4_SRC_IP = 0;
        public static final long IPV4_DST_IP = 4;

        /** {@code struct ibv_flow_spec_ipv4_ext}, whose fields begin with those of the one before. */
        public static final long IPV4_EXT_SIZE = 32;
        public static final long IPV4_EXT_VALUE = 8;
        public static final long IPV4_EXT_MASK = 20;
        public static final long IPV4_EXT_PROTO = 8;
        public static final long IPV4_EXT_TOS = 9;
        public static final long IPV4_EXT_TTL = 10;
        public static final long IPV4_EXT_FLAGS = 11;

        /** {@code struct ibv_flow_spec_ipv6}. */
        public static final long IPV6_SIZE = 88;
        public static final long IPV6_VALUE = 8;
        public static final long IPV6_MASK = 48;
        public static final long IPV6_SRC_IP = 0;
        public static final long IPV6_DST_IP = 16;
        public static final long IPV6_FLOW_LABEL = 32;
        public static final long IPV6_NEXT_HDR = 36;
        public static final long IPV6_TRAFFIC_CLASS = 37;
        public static final long IPV6_HOP_LIMIT = 38;

        /** {@code struct ibv_flow_spec_tcp_udp}. */
        public static final long PORTS_SIZE = 16;
        public static final long PORTS_VALUE = 6;
        public static final long PORTS_MASK = 10;
        public static final long PORTS_DST_PORT = 0;
        public static final long PORTS_SRC_PORT = 2;

        private FlowSpec() {}
    }

    /** {@code struct ibv_async_event}. */
    public static final class AsyncEvent {
        public static final long SIZE = 16;
        /** A pointer to the object, or the number of the port. */
        public static final long ELEMENT = 0;
        public static final long EVENT_TYPE = 8;

        private AsyncEvent() {}
    }

    /** {@code struct ibv_ece}. */
    public static final class Ece {
        public static final long SIZE = 12;
        public static final long VENDOR_ID = 0;
        public static final long OPTIONS = 4;

        private Ece() {}
    }

    /** {@code struct ibv_modify_cq_attr}. */
    public static final class ModifyCq {
        public static final long SIZE = 8;
        public static final long ATTR_MASK = 0;
        public static final long CQ_COUNT = 4;
        public static final long CQ_PERIOD = 6;

        private ModifyCq() {}
    }

    /** {@code struct ibv_cq_init_attr_ex}. */
    public static final class CompletionQueueInitAttrEx {
        public static final long SIZE = 56;
        public static final long CQE = 0;
        public static final long CHANNEL = 16;
        public static final long COMP_VECTOR = 24;
        public static final long WC_FLAGS = 32;
        public static final long COMP_MASK = 40;
        public static final long FLAGS = 44;
        public static final long PARENT_DOMAIN = 48;

        private CompletionQueueInitAttrEx() {}
    }

    /** {@code struct ibv_cq_ex}, which begins with a {@code struct ibv_cq}: fields and pointers to functions. */
    public static final class CompletionQueueEx {
        public static final long SIZE = behindMutex(288);
        public static final long STATUS = behindMutex(132);
        public static final long WR_ID = behindMutex(136);
        public static final long START_POLL = behindMutex(144);
        public static final long NEXT_POLL = behindMutex(152);
        public static final long END_POLL = behindMutex(160);
        public static final long READ_OPCODE = behindMutex(168);
        public static final long READ_VENDOR_ERR = behindMutex(176);
        public static final long READ_BYTE_LEN = behindMutex(184);
        public static final long READ_IMM_DATA = behindMutex(192);
        public static final long READ_QP_NUM = behindMutex(200);
        public static final long READ_SRC_QP = behindMutex(208);
        public static final long READ_WC_FLAGS = behindMutex(216);
        public static final long READ_SLID = behindMutex(224);
        public static final long READ_SL = behindMutex(232);
        public static final long READ_DLID_PATH_BITS = behindMutex(240);
        public static final long READ_COMPLETION_TS = behindMutex(248);
        public static final long READ_COMPLETION_WALLCLOCK_NS = behindMutex(280);

        private CompletionQueueEx() {}
    }

    /** {@code struct ibv_qp_ex}, which begins with a {@code struct ibv_qp}: fields and pointers to functions. */
    public static final class QueuePairEx {
        public static final long SIZE = behindMutex(360);
        public static final long WR_ID = behindMutex(168);
        public static final long WR_FLAGS = behindMutex(176);
        public static final long WR_START = behindMutex(320);
        public static final long WR_COMPLETE = behindMutex(328);
        public static final long WR_ABORT = behindMutex(336);
        public static final long WR_ATOMIC_WRITE = behindMutex(344);
        public static final long WR_FLUSH = behindMutex(352);

        private QueuePairEx() {}
    }

    /** {@code struct ibv_dm}. */
    public static final class DeviceMemory {
        public static final long SIZE = 32;
        public static final long MEMCPY_TO_DM = 8;
        public static final long MEMCPY_FROM_DM = 16;

        private DeviceMemory() {}
    }

    /** {@code struct ibv_alloc_dm_attr}. */
    public static final class AllocDeviceMemory {
        public static final long SIZE = 16;
        public static final long LENGTH = 0;
        public static final long LOG_ALIGN_REQ = 8;

        private AllocDeviceMemory() {}
    }

    /** {@code struct ibv_td_init_attr}. */
    public static final class ThreadDomainInitAttr {
        public static final long SIZE = 4;

        private ThreadDomainInitAttr() {}
    }

    /** {@code struct ibv_parent_domain_init_attr}. */
    public static final class ParentDomainInitAttr {
        public static final long SIZE = 48;
        public static final long PD = 0;
        public static final long TD = 8;

        private ParentDomainInitAttr() {}
    }

    /** {@code struct ibv_values_ex}. */
    public static final class Values {
        public static final long SIZE = 24;
        public static final long COMP_MASK = 0;
        public static final long NANOSECONDS = 16;

        private Values() {}
    }
}
