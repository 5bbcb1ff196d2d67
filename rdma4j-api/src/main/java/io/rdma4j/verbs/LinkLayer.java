package io.rdma4j.verbs;

/**
 * The link below a port.
 *
 * <p>C: {@code IBV_LINK_LAYER_*}.
 */
public enum LinkLayer {
    /** Not said. */
    UNSPECIFIED("Unspecified"),
    /** InfiniBand. */
    INFINIBAND("InfiniBand"),
    /** Ethernet, or any IP interface. */
    ETHERNET("Ethernet");

    private final String text;

    LinkLayer(String text) {
        this.text = text;
    }

    /** {@return the name the tools print} */
    public String text() {
        return text;
    }
}
