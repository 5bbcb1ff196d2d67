// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

/**
 * What kind of node a device is.
 *
 * <p>C: {@code enum} {@index ibv_node_type}, {@index ibv_node_type_str}.
 *
 * <p>A later version may add constants, so a {@code switch} needs a {@code default}.
 *
 * @since 0.1.0
 */
public enum NodeType {
    /** A host or target channel adapter. C: {@index IBV_NODE_CA}. */
    CHANNEL_ADAPTER(1, "InfiniBand channel adapter"),
    /** A switch. C: {@index IBV_NODE_SWITCH}. */
    SWITCH(2, "InfiniBand switch"),
    /** A router. C: {@index IBV_NODE_ROUTER}. */
    ROUTER(3, "InfiniBand router"),
    /** An RDMA NIC of iWARP. C: {@index IBV_NODE_RNIC}. */
    RNIC(4, "iWARP NIC"),
    /** Cisco usNIC. C: {@index IBV_NODE_USNIC}. */
    USNIC(5, "usNIC"),
    /** Cisco usNIC over UDP. C: {@index IBV_NODE_USNIC_UDP}. */
    USNIC_UDP(6, "usNIC UDP"),
    /** Unspecified. C: {@index IBV_NODE_UNSPECIFIED}. */
    UNSPECIFIED(7, "unspecified"),
    /** One that this version does not know; {@link RdmaDevice#nodeTypeCode} has its number. C: {@index IBV_NODE_UNKNOWN}. */
    UNKNOWN(-1, "unknown");

    private final int code;
    private final String text;

    NodeType(int code, String text) {
        this.code = code;
        this.text = text;
    }

    /**
     * {@return the constant of a number of verbs.h, {@link #UNKNOWN} if there is none}
     *
     * @param code as in the C headers
     */
    public static NodeType ofCode(int code) {
        for (NodeType each : values()) {
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

    /** {@return the text {@code ibv_node_type_str} gives} */
    public String text() {
        return text;
    }
}
