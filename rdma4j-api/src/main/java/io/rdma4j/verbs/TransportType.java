// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

/**
 * What carries the verbs of a device.
 *
 * <p>C: {@code enum} {@index ibv_transport_type}.
 *
 * <p>A later version may add constants, so a {@code switch} needs a {@code default}.
 *
 * @since 0.1.0
 */
public enum TransportType {
    /** InfiniBand and RoCE. C: {@index IBV_TRANSPORT_IB}. */
    INFINIBAND(0, "InfiniBand"),
    /** iWARP: RDMAP and DDP over TCP. C: {@index IBV_TRANSPORT_IWARP}. */
    IWARP(1, "iWARP"),
    /** Cisco usNIC. C: {@index IBV_TRANSPORT_USNIC}. */
    USNIC(2, "usNIC"),
    /** Cisco usNIC over UDP. C: {@index IBV_TRANSPORT_USNIC_UDP}. */
    USNIC_UDP(3, "usNIC UDP"),
    /** A driver of its own kind. C: {@index IBV_TRANSPORT_UNSPECIFIED}. */
    UNSPECIFIED(4, "unspecified"),
    /**
     * One that this version does not know; {@link RdmaDevice#transportCode} has its number. C:
     * {@index IBV_TRANSPORT_UNKNOWN}.
     */
    UNKNOWN(-1, "unknown");

    private final int code;
    private final String text;

    TransportType(int code, String text) {
        this.code = code;
        this.text = text;
    }

    /**
     * {@return the constant of a number of verbs.h, {@link #UNKNOWN} if there is none}
     *
     * @param code as in the C headers
     */
    public static TransportType ofCode(int code) {
        for (TransportType each : values()) {
            if (each.code == code) {
                return each;
            }
        }
        return UNKNOWN;
    }

    /** {@return the number verbs.h gives this, -1 for {@link #UNKNOWN}} */
    public int code() {
        return code;
    }

    /** {@return the name {@code ibv_devinfo} prints} */
    public String text() {
        return text;
    }
}
