// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

/**
 * The physical state of a port.
 *
 * <p>C: the values of {@code ibv_port_attr.phys_state}.
 *
 * <p>A later version may add constants, so a {@code switch} needs a {@code default}.
 *
 * @since 0.1.0
 */
public enum PhysicalState {
    /** The port saves power and has no link. */
    SLEEP(1, "SLEEP"),
    /** The port is on and searches for a link partner: there is no cable, or the other end is off. */
    POLLING(2, "POLLING"),
    /** An administrator has switched the port off. */
    DISABLED(3, "DISABLED"),
    /** The port has found a partner and negotiates the link. */
    PORT_CONFIGURATION_TRAINING(4, "PORT_CONFIGURATION TRAINNING"),
    /** The link works. */
    LINK_UP(5, "LINK_UP"),
    /** The link had errors and is being restored. */
    LINK_ERROR_RECOVERY(6, "LINK_ERROR_RECOVERY"),
    /** The port is in a test mode and carries no data. */
    PHY_TEST(7, "PHY TEST"),
    /** One that this version does not know; {@link PortAttributes#physicalStateCode} has its number. */
    UNKNOWN(-1, "invalid physical state");

    private final int code;
    private final String text;

    PhysicalState(int code, String text) {
        this.code = code;
        this.text = text;
    }

    /**
     * {@return the constant of a number of verbs.h, {@link #UNKNOWN} if there is none}
     *
     * @param code as in the C headers
     */
    public static PhysicalState ofCode(int code) {
        for (PhysicalState each : values()) {
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
