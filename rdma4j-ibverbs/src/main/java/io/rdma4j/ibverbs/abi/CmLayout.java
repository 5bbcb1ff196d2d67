// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.abi;

/**
 * The offsets in bytes of the fields of librdmacm's structures, as {@link Layout} has those of libibverbs.
 *
 * <p>Source: {@code rdma/rdma_cma.h}; the offsets were computed by a C compiler.
 */
public final class CmLayout {
    private CmLayout() {}

    /** {@code struct rdma_cm_id}. */
    public static final class CmId {
        public static final long SIZE = 416;
        public static final long VERBS = 0;
        public static final long SRC_ADDR = 32;
        public static final long DST_ADDR = 160;
        public static final int ADDRESS_LENGTH = 128;
        public static final long PORT_NUM = 348;

        private CmId() {}
    }

    /** {@code struct rdma_cm_event}. */
    public static final class CmEvent {
        public static final long SIZE = 80;
        public static final long ID = 0;
        public static final long LISTEN_ID = 8;
        public static final long EVENT = 16;
        public static final long STATUS = 20;
        public static final long PRIVATE_DATA = 24;
        public static final long PRIVATE_DATA_LEN = 32;
        public static final long RESPONDER_RESOURCES = 33;
        public static final long INITIATOR_DEPTH = 34;
        public static final long FLOW_CONTROL = 35;
        public static final long RETRY_COUNT = 36;
        public static final long RNR_RETRY_COUNT = 37;
        public static final long SRQ = 38;
        public static final long QP_NUM = 40;
        public static final long UD_AH_ATTR = 40;
        public static final long UD_QP_NUM = 72;
        public static final long UD_QKEY = 76;

        private CmEvent() {}
    }

    /** {@code struct rdma_conn_param}. */
    public static final class ConnectionParam {
        public static final long SIZE = 24;
        public static final long PRIVATE_DATA = 0;
        public static final long PRIVATE_DATA_LEN = 8;
        public static final long RESPONDER_RESOURCES = 9;
        public static final long INITIATOR_DEPTH = 10;
        public static final long FLOW_CONTROL = 11;
        public static final long RETRY_COUNT = 12;
        public static final long RNR_RETRY_COUNT = 13;
        public static final long SRQ = 14;
        public static final long QP_NUM = 16;

        private ConnectionParam() {}
    }

    /** {@code struct rdma_event_channel}. */
    public static final class EventChannel {
        public static final long SIZE = 4;
        public static final long FD = 0;

        private EventChannel() {}
    }

    /** {@code struct rdma_addrinfo}. */
    public static final class AddressInfo {
        public static final long SIZE = 96;
        public static final long FLAGS = 0;
        public static final long FAMILY = 4;
        public static final long QP_TYPE = 8;
        public static final long PORT_SPACE = 12;
        public static final long SRC_LEN = 16;
        public static final long SRC_ADDR = 24;

        private AddressInfo() {}
    }

    /** {@code struct rdma_cm_join_mc_attr_ex}. */
    public static final class JoinMulticast {
        public static final long SIZE = 16;
        public static final long COMP_MASK = 0;
        public static final long JOIN_FLAGS = 4;
        public static final long ADDR = 8;

        private JoinMulticast() {}
    }
}
