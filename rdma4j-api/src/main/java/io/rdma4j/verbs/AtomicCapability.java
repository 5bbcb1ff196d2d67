package io.rdma4j.verbs;

/**
 * How far the atomic operations of a device are atomic.
 *
 * <p>C: {@code enum ibv_atomic_cap}.
 *
 * @since 0.1.0
 */
public enum AtomicCapability {
    /** No atomic operations. C: {@code IBV_ATOMIC_NONE}. */
    NONE(0, "ATOMIC_NONE"),
    /** Atomic among all work of this device. C: {@code IBV_ATOMIC_HCA}. */
    HCA(1, "ATOMIC_HCA"),
    /** Atomic also against the processor. C: {@code IBV_ATOMIC_GLOB}. */
    GLOBAL(2, "ATOMIC_GLOB");

    private final int code;
    private final String text;

    AtomicCapability(int code, String text) {
        this.code = code;
        this.text = text;
    }

    /** {@return the number verbs.h gives this} */
    public int code() {
        return code;
    }

    /** {@return the name {@code ibv_devinfo} prints} */
    public String text() {
        return text;
    }
}
