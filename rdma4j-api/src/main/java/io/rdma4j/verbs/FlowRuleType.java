// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

/**
 * What a flow rule chooses frames by.
 *
 * <p>C: {@code enum} {@index ibv_flow_attr_type}.
 *
 * <p>A later version may add constants, so a {@code switch} needs a {@code default}.
 *
 * @since 0.1.0
 */
@Experimental
public enum FlowRuleType {
    /** By their headers. C: {@index IBV_FLOW_ATTR_NORMAL}. */
    NORMAL(0),
    /** All that no other rule takes. C: {@index IBV_FLOW_ATTR_ALL_DEFAULT}. */
    ALL_DEFAULT(1),
    /** All multicast frames that no other rule takes. C: {@index IBV_FLOW_ATTR_MC_DEFAULT}. */
    MULTICAST_DEFAULT(2),
    /** A copy of all traffic of the port. C: {@index IBV_FLOW_ATTR_SNIFFER}. */
    SNIFFER(3);

    private final int code;

    FlowRuleType(int code) {
        this.code = code;
    }

    /** {@return the number verbs.h gives this} */
    public int code() {
        return code;
    }
}
