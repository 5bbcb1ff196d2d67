// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

/**
 * How far the atomic operations of a device are atomic.
 *
 * <p>C: {@code enum} {@index ibv_atomic_cap}.
 *
 * <p>A later version may add constants, so a {@code switch} needs a {@code default}.
 *
 * @since 0.1.0
 */
public enum AtomicCapability {
    /** No atomic operations. C: {@index IBV_ATOMIC_NONE}. */
    NONE(0, "ATOMIC_NONE"),
    /** Atomic among all work of this device. C: {@index IBV_ATOMIC_HCA}. */
    HCA(1, "ATOMIC_HCA"),
    /** Atomic also against the processor. C: {@index IBV_ATOMIC_GLOB}. */
    GLOBAL(2, "ATOMIC_GLOB"),
    /**
     * One that this version does not know, of a device that has atomic operations;
     * {@link DeviceAttributes#atomicCapabilityCode} has its number.
     */
    UNKNOWN(-1, "invalid atomic capability");

    private final int code;
    private final String text;

    AtomicCapability(int code, String text) {
        this.code = code;
        this.text = text;
    }

    /**
     * {@return the constant of a number of verbs.h, {@link #UNKNOWN} if there is none}
     *
     * @param code as in the C headers
     */
    public static AtomicCapability ofCode(int code) {
        for (AtomicCapability each : values()) {
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
