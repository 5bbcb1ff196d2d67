package io.rdma4j.verbs;

/**
 * Something a device can do.
 *
 * <p>C: {@code enum ibv_device_cap_flags}.
 */
public enum DeviceCapability {
    /** Queue sizes can change. */
    RESIZE_MAX_WR(1 << 0),
    /** Counts packets of a wrong P_Key. */
    BAD_PKEY_CNTR(1 << 1),
    /** Counts packets of a wrong Q_Key. */
    BAD_QKEY_CNTR(1 << 2),
    /** Raw packet multicast. */
    RAW_MULTI(1 << 3),
    /** Automatic path migration. */
    AUTO_PATH_MIG(1 << 4),
    /** A queue pair can change its port. */
    CHANGE_PHY_PORT(1 << 5),
    /** Checks the port of an address handle. */
    UD_AV_PORT_ENFORCE(1 << 6),
    /** Understands the current state given to modify. */
    CURR_QP_STATE_MOD(1 << 7),
    /** A port can be shut down. */
    SHUTDOWN_PORT(1 << 8),
    /** Reports the kind of initialization. */
    INIT_TYPE(1 << 9),
    /** Reports ports that become active. */
    PORT_ACTIVE_EVENT(1 << 10),
    /** Has a system image GUID. */
    SYS_IMAGE_GUID(1 << 11),
    /** Answers receiver-not-ready. */
    RC_RNR_NAK_GEN(1 << 12),
    /** Shared receive queues can be resized. */
    SRQ_RESIZE(1 << 13),
    /** Notifies after N completions. */
    N_NOTIFY_CQ(1 << 14),
    /** Memory windows of type 1. */
    MEM_WINDOW(1 << 17),
    /** IP checksums for UD. */
    UD_IP_CSUM(1 << 18),
    /** Extended reliable connections. */
    XRC(1 << 20),
    /** Local and remote invalidation. */
    MEM_MGT_EXTENSIONS(1 << 21),
    /** Memory windows of type 2A. */
    MEM_WINDOW_TYPE_2A(1 << 23),
    /** Memory windows of type 2B. */
    MEM_WINDOW_TYPE_2B(1 << 24),
    /** IP checksums for RC. */
    RC_IP_CSUM(1 << 25),
    /** IP checksums for raw packets. */
    RAW_IP_CSUM(1 << 26),
    /** Flow steering. */
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
