// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

/**
 * The link below a port.
 *
 * <p>C: {@code IBV_LINK_LAYER_*}.
 *
 * <p>A later version may add constants, so a {@code switch} needs a {@code default}.
 *
 * @since 0.1.0
 */
public enum LinkLayer {
    /** Not said. C: {@index IBV_LINK_LAYER_UNSPECIFIED}. */
    UNSPECIFIED(0, "Unspecified"),
    /** InfiniBand. C: {@index IBV_LINK_LAYER_INFINIBAND}. */
    INFINIBAND(1, "InfiniBand"),
    /** Ethernet, or any IP interface. C: {@index IBV_LINK_LAYER_ETHERNET}. */
    ETHERNET(2, "Ethernet"),
    /** One that this version does not know; {@link PortAttributes#linkLayerCode} has its number. */
    UNKNOWN(-1, "Unknown");

    private final int code;
    private final String text;

    LinkLayer(int code, String text) {
        this.code = code;
        this.text = text;
    }

    /**
     * {@return the constant of a number of verbs.h, {@link #UNKNOWN} if there is none}
     *
     * @param code as in the C headers
     */
    public static LinkLayer ofCode(int code) {
        for (LinkLayer each : values()) {
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

    /** {@return the name the tools print} */
    public String text() {
        return text;
    }
}
