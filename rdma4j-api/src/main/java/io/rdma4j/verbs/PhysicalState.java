package io.rdma4j.verbs;

/**
 * The physical state of a port.
 *
 * <p>C: the values of {@code ibv_port_attr.phys_state}.
 */
public enum PhysicalState {
    /** Sleeping. */
    SLEEP(1, "SLEEP"),
    /** Looking for a partner. */
    POLLING(2, "POLLING"),
    /** Switched off. */
    DISABLED(3, "DISABLED"),
    /** Training. */
    PORT_CONFIGURATION_TRAINING(4, "PORT_CONFIGURATION TRAINNING"),
    /** Connected. */
    LINK_UP(5, "LINK_UP"),
    /** Recovering from an error. */
    LINK_ERROR_RECOVERY(6, "LINK_ERROR_RECOVERY"),
    /** Under test. */
    PHY_TEST(7, "PHY TEST");

    private final int code;
    private final String text;

    PhysicalState(int code, String text) {
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
