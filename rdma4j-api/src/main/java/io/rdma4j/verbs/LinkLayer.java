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
    /** Not said. C: {@code IBV_LINK_LAYER_UNSPECIFIED}. */
    UNSPECIFIED("Unspecified"),
    /** InfiniBand. C: {@code IBV_LINK_LAYER_INFINIBAND}. */
    INFINIBAND("InfiniBand"),
    /** Ethernet, or any IP interface. C: {@code IBV_LINK_LAYER_ETHERNET}. */
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
