// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

/**
 * How packets of a GID are framed.
 *
 * <p>C: {@code enum} {@index ibv_gid_type}.
 *
 * <p>A later version may add constants, so a {@code switch} needs a {@code default}.
 *
 * @since 0.1.0
 */
public enum GidType {
    /** Native InfiniBand. C: {@index IBV_GID_TYPE_IB}. */
    INFINIBAND(0, "IB"),
    /** RoCE directly on Ethernet. C: {@index IBV_GID_TYPE_ROCE_V1}. */
    ROCE_V1(1, "RoCE v1"),
    /** RoCE over UDP and IP. C: {@index IBV_GID_TYPE_ROCE_V2}. */
    ROCE_V2(2, "RoCE v2"),
    /** One that this version does not know; {@link GidEntry#typeCode} has its number. */
    UNKNOWN(-1, "unknown");

    private final int code;
    private final String text;

    GidType(int code, String text) {
        this.code = code;
        this.text = text;
    }

    /**
     * {@return the constant of a number of verbs.h, {@link #UNKNOWN} if there is none}
     *
     * @param code as in the C headers
     */
    public static GidType ofCode(int code) {
        for (GidType each : values()) {
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
