// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.connection;

import org.jspecify.annotations.Nullable;

/**
 * Why a peer, or its connection manager, refused a connection: the reasons of InfiniBand and RoCE. After each of them
 * the id is of no use any more; close it and connect with a new one. {@link #CONSUMER_DEFINED} and
 * {@link #VENDOR_OPTION_NOT_SUPPORTED} are mostly decisions of the peer's application.
 *
 * <p>C: {@code rdma_reject_msg}, {@code enum} {@index ib_cm_rej_reason}. Source: IBTA 12.6.7.2, table 108.
 *
 * <p>A later version may add constants, so a {@code switch} needs a {@code default}.
 *
 * @since 0.1.0
 */
public enum RejectReason implements NumberedText {
    /** The peer has no queue pair left for the connection. C: {@index IB_CM_REJ_NO_QP}. */
    NO_QP(1, "no QP available"),
    /** The peer has no end-to-end context left for reliable datagrams. C: {@index IB_CM_REJ_NO_EEC}. */
    NO_EEC(2, "no EEC available"),
    /** The peer lacks resources, such as memory. Try again later. C: {@index IB_CM_REJ_NO_RESOURCES}. */
    NO_RESOURCES(3, "no resources available"),
    /** The peer waited too long for a message of this side. C: {@index IB_CM_REJ_TIMEOUT}. */
    TIMEOUT(4, "timeout"),
    /** The peer does not support what was requested. C: {@index IB_CM_REJ_UNSUPPORTED}. */
    UNSUPPORTED(5, "unsupported request"),
    /** The peer knows no connection with this communication ID. C: {@index IB_CM_REJ_INVALID_COMM_ID}. */
    INVALID_COMMUNICATION_ID(6, "invalid communication ID"),
    /** Invalid communication instance. C: {@index IB_CM_REJ_INVALID_COMM_INSTANCE}. */
    INVALID_COMMUNICATION_INSTANCE(7, "invalid communication instance"),
    /**
     * No program listens at the port. Check address, port and port space, and that the server runs. C:
     * {@index IB_CM_REJ_INVALID_SERVICE_ID}.
     */
    INVALID_SERVICE_ID(8,
            "invalid service ID: no process listens at that port of that address"),
    /** Invalid transport service type. C: {@index IB_CM_REJ_INVALID_TRANSPORT_TYPE}. */
    INVALID_TRANSPORT_TYPE(9, "invalid transport service type"),
    /**
     * The peer still has an old connection with the same queue pair number or communication ID, and ends it now. Connect
     * again. C: {@index IB_CM_REJ_STALE_CONN}.
     */
    STALE_CONNECTION(10, "stale connection"),
    /** The resolution domain does not exist. C: {@index IB_CM_REJ_RDC_NOT_EXIST}. */
    RDC_NOT_EXIST(11, "RDC does not exist"),
    /** The primary path's remote GID was rejected. C: {@index IB_CM_REJ_INVALID_GID}. */
    INVALID_GID(12, "primary remote port GID rejected"),
    /** The primary path's remote LID was rejected. C: {@index IB_CM_REJ_INVALID_LID}. */
    INVALID_LID(13, "primary remote port LID rejected"),
    /** Invalid primary service level. C: {@index IB_CM_REJ_INVALID_SL}. */
    INVALID_SL(14, "invalid primary SL"),
    /** Invalid primary traffic class. C: {@index IB_CM_REJ_INVALID_TRAFFIC_CLASS}. */
    INVALID_TRAFFIC_CLASS(15, "invalid primary traffic class"),
    /** Invalid primary hop limit. C: {@index IB_CM_REJ_INVALID_HOP_LIMIT}. */
    INVALID_HOP_LIMIT(16, "invalid primary hop limit"),
    /** Invalid primary packet rate. C: {@index IB_CM_REJ_INVALID_PACKET_RATE}. */
    INVALID_PACKET_RATE(17, "invalid primary packet rate"),
    /** The alternate path's remote GID was rejected. C: {@index IB_CM_REJ_INVALID_ALT_GID}. */
    INVALID_ALTERNATE_GID(18, "alternate remote port GID rejected"),
    /** The alternate path's remote LID was rejected. C: {@index IB_CM_REJ_INVALID_ALT_LID}. */
    INVALID_ALTERNATE_LID(19, "alternate remote port LID rejected"),
    /** Invalid alternate service level. C: {@index IB_CM_REJ_INVALID_ALT_SL}. */
    INVALID_ALTERNATE_SL(20, "invalid alternate SL"),
    /** Invalid alternate traffic class. C: {@index IB_CM_REJ_INVALID_ALT_TRAFFIC_CLASS}. */
    INVALID_ALTERNATE_TRAFFIC_CLASS(21, "invalid alternate traffic class"),
    /** Invalid alternate hop limit. C: {@index IB_CM_REJ_INVALID_ALT_HOP_LIMIT}. */
    INVALID_ALTERNATE_HOP_LIMIT(22, "invalid alternate hop limit"),
    /** Invalid alternate packet rate. C: {@index IB_CM_REJ_INVALID_ALT_PACKET_RATE}. */
    INVALID_ALTERNATE_PACKET_RATE(23, "invalid alternate packet rate"),
    /** The peer names another port and another connection manager to use. C: {@index IB_CM_REJ_PORT_CM_REDIRECT}. */
    PORT_CM_REDIRECT(24, "port and CM redirection"),
    /** The peer names another port to use. C: {@index IB_CM_REJ_PORT_REDIRECT}. */
    PORT_REDIRECT(25, "port redirection"),
    /** Invalid path MTU. C: {@index IB_CM_REJ_INVALID_MTU}. */
    INVALID_MTU(26, "invalid path MTU"),
    /**
     * The peer accepts fewer READs and atomics at once than requested. Ask for fewer. C:
     * {@index IB_CM_REJ_INSUFFICIENT_RESP_RESOURCES}.
     */
    INSUFFICIENT_RESPONDER_RESOURCES(27, "insufficient responder resources"),
    /**
     * The peer's application rejected the request; its private data may say why. C:
     * {@index IB_CM_REJ_CONSUMER_DEFINED}.
     */
    CONSUMER_DEFINED(28, "consumer defined"),
    /** Invalid RNR retry. C: {@index IB_CM_REJ_INVALID_RNR_RETRY}. */
    INVALID_RNR_RETRY(29, "invalid RNR retry"),
    /** A duplicate local communication ID. C: {@index IB_CM_REJ_DUPLICATE_LOCAL_COMM_ID}. */
    DUPLICATE_LOCAL_COMMUNICATION_ID(30, "duplicate local communication ID"),
    /** Invalid class version. C: {@index IB_CM_REJ_INVALID_CLASS_VERSION}. */
    INVALID_CLASS_VERSION(31, "invalid class version"),
    /** Invalid flow label. C: {@index IB_CM_REJ_INVALID_FLOW_LABEL}. */
    INVALID_FLOW_LABEL(32, "invalid primary flow label"),
    /** Invalid alternate flow label. C: {@index IB_CM_REJ_INVALID_ALT_FLOW_LABEL}. */
    INVALID_ALTERNATE_FLOW_LABEL(33, "invalid alternate flow label"),
    /** The vendor's option is not supported. C: {@index IB_CM_REJ_VENDOR_OPTION_NOT_SUPPORTED}. */
    VENDOR_OPTION_NOT_SUPPORTED(35, "vendor option is not supported");

    private final int code;
    private final String text;

    RejectReason(int code, String text) {
        this.code = code;
        this.text = text;
    }

    /** {@return the number on the wire} */
    @Override
    public int code() {
        return code;
    }

    /** {@return the reason in words} */
    @Override
    public String text() {
        return text;
    }

    /**
     * {@return the reason of that code, or null if none has it}
     *
     * @param code as the message has it
     */
    public static @Nullable RejectReason ofCode(int code) {
        return NumberedText.ofCode(values(), code);
    }

    /**
     * {@return a code in words, also one that is not known}
     *
     * @param code as the message has it
     */
    public static String text(int code) {
        return NumberedText.text(values(), code, "unknown reason");
    }
}
