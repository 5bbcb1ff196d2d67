package io.rdma4j.verbs;

/**
 * The logical state of a port.
 *
 * <p>C: {@code enum ibv_port_state}, {@code ibv_port_state_str}.
 */
public enum PortState {
    /** No state. C: {@code IBV_PORT_NOP}. */
    NOP(0, "PORT_NOP"),
    /** The link is down. C: {@code IBV_PORT_DOWN}. */
    DOWN(1, "PORT_DOWN"),
    /** The link is up, not configured. C: {@code IBV_PORT_INIT}. */
    INIT(2, "PORT_INIT"),
    /** Configured, not yet in use. C: {@code IBV_PORT_ARMED}. */
    ARMED(3, "PORT_ARMED"),
    /** In use. C: {@code IBV_PORT_ACTIVE}. */
    ACTIVE(4, "PORT_ACTIVE"),
    /** In use, with the link failing for a moment. C: {@code IBV_PORT_ACTIVE_DEFER}. */
    ACTIVE_DEFER(5, "PORT_ACTIVE_DEFER");

    private final int code;
    private final String text;

    PortState(int code, String text) {
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
