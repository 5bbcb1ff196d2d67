package io.rdma4j.verbs;

/**
 * How packets of a GID are framed.
 *
 * <p>C: {@code enum ibv_gid_type}.
 */
public enum GidType {
    /** Native InfiniBand. C: {@code IBV_GID_TYPE_IB}. */
    INFINIBAND("IB"),
    /** RoCE directly on Ethernet. C: {@code IBV_GID_TYPE_ROCE_V1}. */
    ROCE_V1("RoCE v1"),
    /** RoCE over UDP and IP. C: {@code IBV_GID_TYPE_ROCE_V2}. */
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
