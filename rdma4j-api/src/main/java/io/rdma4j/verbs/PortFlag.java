// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

/**
 * What a port demands of those who use it.
 *
 * <p>C: {@code IBV_QPF_*}, the bits of {@code flags} in {@code struct ibv_port_attr}.
 *
 * <p>A later version may add constants, so a {@code switch} needs a {@code default}.
 *
 * @since 0.1.0
 */
public enum PortFlag {
    /**
     * A path must be global: its destination is a GID, as on every RoCE port
     * ({@link AddressHandleAttributes#isGlobal}). C: {@index IBV_QPF_GRH_REQUIRED}.
     */
    GRH_REQUIRED(1 << 0);

    private final int bit;

    PortFlag(int bit) {
        this.bit = bit;
    }

    /** {@return the bit verbs.h gives this} */
    public int bit() {
        return bit;
    }
}
