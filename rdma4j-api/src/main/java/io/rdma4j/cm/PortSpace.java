package io.rdma4j.cm;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;

/**
 * The kind of service behind a port number.
 *
 * <p>C: {@code enum rdma_port_space}. Source: IBTA annex A11.
 */
public enum PortSpace {
    /** IP over InfiniBand; on native InfiniBand only. */
    IPOIB(0x0002),
    /** Connections: RC queue pairs. */
    TCP(0x0106),
    /** Datagrams: UD queue pairs. */
    UDP(0x0111),
    /** InfiniBand services, with RC queue pairs unless {@link AddressInfo} says another type. */
    IB(0x013F);

    private final int code;

    PortSpace(int code) {
        this.code = code;
    }

    /** {@return the number rdma_cma.h gives this} */
    public int code() {
        return code;
    }

    /** {@return the type of queue pair its ids have unless told otherwise} */
    QueuePairType usualType() {
        return switch (this) {
            case TCP, IB -> QueuePairType.RC;
            case UDP, IPOIB -> QueuePairType.UD;
        };
    }

    /** Checks that its ids can have queue pairs of a type. */
    void check(QueuePairType type) throws RdmaException {
        if (this == IPOIB) {
            throw RdmaException.unsupported("create id",
                    "port space IPOIB needs an InfiniBand link; use TCP, UDP or IB");
        }
        boolean fits = this == IB
                ? type == QueuePairType.RC || type == QueuePairType.UC || type == QueuePairType.UD
                : type == usualType();
        if (!fits) {
            throw new RdmaException(Errno.EINVAL, "create id", "port space " + this
                    + " takes queue pairs of type " + (this == IB ? "RC, UC or UD" : usualType())
                    + ", not " + type);
        }
    }
}
