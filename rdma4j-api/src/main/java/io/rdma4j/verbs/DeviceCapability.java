// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

/**
 * Something a device can do.
 *
 * <p>C: {@code enum} {@index ibv_device_cap_flags}.
 *
 * <p>A later version may add constants, so a {@code switch} needs a {@code default}.
 *
 * @since 0.1.0
 */
public enum DeviceCapability {
    /** Queue sizes can change. C: {@index IBV_DEVICE_RESIZE_MAX_WR}. */
    RESIZE_MAX_WR(1 << 0),
    /** Counts packets of a wrong P_Key. C: {@index IBV_DEVICE_BAD_PKEY_CNTR}. */
    BAD_PKEY_CNTR(1 << 1),
    /** Counts packets of a wrong Q_Key. C: {@index IBV_DEVICE_BAD_QKEY_CNTR}. */
    BAD_QKEY_CNTR(1 << 2),
    /** Raw packet multicast. C: {@index IBV_DEVICE_RAW_MULTI}. */
    RAW_MULTI(1 << 3),
    /** Automatic path migration. C: {@index IBV_DEVICE_AUTO_PATH_MIG}. */
    AUTO_PATH_MIG(1 << 4),
    /** A queue pair can change its port. C: {@index IBV_DEVICE_CHANGE_PHY_PORT}. */
    CHANGE_PHY_PORT(1 << 5),
    /** Checks the port of an address handle. C: {@index IBV_DEVICE_UD_AV_PORT_ENFORCE}. */
    UD_AV_PORT_ENFORCE(1 << 6),
    /** Understands the current state given to modify. C: {@index IBV_DEVICE_CURR_QP_STATE_MOD}. */
    CURR_QP_STATE_MOD(1 << 7),
    /** A port can be shut down. C: {@index IBV_DEVICE_SHUTDOWN_PORT}. */
    SHUTDOWN_PORT(1 << 8),
    /** Reports the kind of initialization. C: {@index IBV_DEVICE_INIT_TYPE}. */
    INIT_TYPE(1 << 9),
    /** Reports ports that become active. C: {@index IBV_DEVICE_PORT_ACTIVE_EVENT}. */
    PORT_ACTIVE_EVENT(1 << 10),
    /** Has a system image GUID. C: {@index IBV_DEVICE_SYS_IMAGE_GUID}. */
    SYS_IMAGE_GUID(1 << 11),
    /** Answers receiver-not-ready. C: {@index IBV_DEVICE_RC_RNR_NAK_GEN}. */
    RC_RNR_NAK_GEN(1 << 12),
    /** Shared receive queues can be resized. C: {@index IBV_DEVICE_SRQ_RESIZE}. */
    SRQ_RESIZE(1 << 13),
    /** Notifies after N completions. C: {@index IBV_DEVICE_N_NOTIFY_CQ}. */
    N_NOTIFY_CQ(1 << 14),
    /** Memory windows of type 1. C: {@index IBV_DEVICE_MEM_WINDOW}. */
    MEM_WINDOW(1 << 17),
    /** IP checksums for UD. C: {@index IBV_DEVICE_UD_IP_CSUM}. */
    UD_IP_CSUM(1 << 18),
    /** Extended reliable connections. C: {@index IBV_DEVICE_XRC}. */
    XRC(1 << 20),
    /** Local and remote invalidation. C: {@index IBV_DEVICE_MEM_MGT_EXTENSIONS}. */
    MEM_MGT_EXTENSIONS(1 << 21),
    /** Memory windows of type 2A. C: {@index IBV_DEVICE_MEM_WINDOW_TYPE_2A}. */
    MEM_WINDOW_TYPE_2A(1 << 23),
    /** Memory windows of type 2B. C: {@index IBV_DEVICE_MEM_WINDOW_TYPE_2B}. */
    MEM_WINDOW_TYPE_2B(1 << 24),
    /** IP checksums for RC. C: {@index IBV_DEVICE_RC_IP_CSUM}. */
    RC_IP_CSUM(1 << 25),
    /** IP checksums for raw packets. C: {@index IBV_DEVICE_RAW_IP_CSUM}. */
    RAW_IP_CSUM(1 << 26),
    /** Flow steering. C: {@index IBV_DEVICE_MANAGED_FLOW_STEERING}. */
    MANAGED_FLOW_STEERING(1 << 29);

    private final int bit;

    DeviceCapability(int bit) {
        this.bit = bit;
    }

    /** {@return the bit verbs.h gives this} */
    public int bit() {
        return bit;
    }
}
