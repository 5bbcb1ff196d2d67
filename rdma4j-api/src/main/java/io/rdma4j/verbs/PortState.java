// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

/**
 * The logical state of a port.
 *
 * <p>C: {@code enum} {@index ibv_port_state}, {@index ibv_port_state_str}.
 *
 * <p>A later version may add constants, so a {@code switch} needs a {@code default}.
 *
 * @since 0.1.0
 */
public enum PortState {
    /** The device reports no state. C: {@index IBV_PORT_NOP}. */
    NOP(0, "PORT_NOP"),
    /** The link is down: check cable and interface. C: {@index IBV_PORT_DOWN}. */
    DOWN(1, "PORT_DOWN"),
    /** The link is up, but no subnet manager has configured the port yet. C: {@index IBV_PORT_INIT}. */
    INIT(2, "PORT_INIT"),
    /** The port is configured, but the subnet manager has not activated it yet. C: {@index IBV_PORT_ARMED}. */
    ARMED(3, "PORT_ARMED"),
    /** The port sends and receives. C: {@index IBV_PORT_ACTIVE}. */
    ACTIVE(4, "PORT_ACTIVE"),
    /** The port is active, but its link is down for a moment and may recover. C: {@index IBV_PORT_ACTIVE_DEFER}. */
    ACTIVE_DEFER(5, "PORT_ACTIVE_DEFER"),
    /** One that this version does not know; {@link PortAttributes#stateCode} has its number. */
    UNKNOWN(-1, "invalid state");

    private final int code;
    private final String text;

    PortState(int code, String text) {
        this.code = code;
        this.text = text;
    }

    /**
     * {@return the constant of a number of verbs.h, {@link #UNKNOWN} if there is none}
     *
     * @param code as in the C headers
     */
    public static PortState ofCode(int code) {
        for (PortState each : values()) {
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
