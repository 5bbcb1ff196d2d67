package io.rdma4j.cm;

/**
 * The kind of service behind a port number.
 *
 * <p>C: {@code enum rdma_port_space}. Source: IBTA annex A11.
 */
public enum PortSpace {
    /** IP over InfiniBand. */
    IPOIB(0x0002),
    /** Connections: RC queue pairs. */
    TCP(0x0106),
    /** Datagrams: UD queue pairs. */
    UDP(0x0111),
    /** InfiniBand services. */
    IB(0x013F);

    private final int code;

    PortSpace(int code) {
        this.code = code;
    }

    /** {@return the number rdma_cma.h gives this} */
    public int code() {
        return code;
    }
}
