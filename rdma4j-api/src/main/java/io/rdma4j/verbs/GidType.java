package io.rdma4j.verbs;

/**
 * How packets of a GID are framed.
 *
 * <p>C: {@code enum ibv_gid_type}.
 */
public enum GidType {
    /** Native InfiniBand. */
    INFINIBAND("IB"),
    /** RoCE directly on Ethernet. */
    ROCE_V1("RoCE v1"),
    /** RoCE over UDP and IP. */
    ROCE_V2("RoCE v2");

    private final String text;

    GidType(String text) {
        this.text = text;
    }

    /** {@return the name the tools print} */
    public String text() {
        return text;
    }
}
