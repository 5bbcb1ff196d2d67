// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.connection;

import io.rdma4j.verbs.QueuePairType;

import java.util.EnumSet;
import java.util.Set;

/**
 * The kind of service behind a port number.
 *
 * <p>C: {@code enum} {@index rdma_port_space}. Source: IBTA annex A11.
 *
 * <p>A later version may add constants, so a {@code switch} needs a {@code default}.
 *
 * @since 0.1.0
 */
public enum PortSpace {
    /** Connections: RC queue pairs. C: {@index RDMA_PS_TCP}. */
    TCP(0x0106),
    /** Datagrams: UD queue pairs. C: {@index RDMA_PS_UDP}. */
    UDP(0x0111),
    /**
     * InfiniBand services, with RC queue pairs unless an address information says another type. C:
     * {@index RDMA_PS_IB}.
     */
    IB(0x013F);

    private final int code;

    PortSpace(int code) {
        this.code = code;
    }

    /** {@return the number rdma_cma.h gives this} */
    public int code() {
        return code;
    }

    /** {@return the type of queue pair its ids have by default} */
    public QueuePairType usualType() {
        return switch (this) {
            case TCP, IB -> QueuePairType.RC;
            case UDP -> QueuePairType.UD;
        };
    }

    /** {@return the types of queue pairs its ids can have} */
    public Set<QueuePairType> types() {
        return switch (this) {
            case TCP -> EnumSet.of(QueuePairType.RC);
            case UDP -> EnumSet.of(QueuePairType.UD);
            case IB -> EnumSet.of(QueuePairType.RC, QueuePairType.UC, QueuePairType.UD);
        };
    }
}
