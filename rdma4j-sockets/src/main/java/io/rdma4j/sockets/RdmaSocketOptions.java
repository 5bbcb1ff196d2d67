// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import java.net.SocketOption;

/**
 * Options of channels over RDMA that channels over TCP do not have. They count when the channel connects or listens; connections
 * that a listener accepts have its options.
 */
public final class RdmaSocketOptions {
    /** The depth of the send queue. C: {@index RDMA_SQSIZE}. Default: 384. */
    public static final SocketOption<Integer> RDMA_SQSIZE = new Option<>("RDMA_SQSIZE",
            Integer.class);
    /** How many messages can be received before the peer needs more credits. C: {@index RDMA_RQSIZE}. Default: 384. */
    public static final SocketOption<Integer> RDMA_RQSIZE = new Option<>("RDMA_RQSIZE",
            Integer.class);
    /** How many bytes are sent without a copy in the send buffer. C: {@index RDMA_INLINE}. Default: 64. */
    public static final SocketOption<Integer> RDMA_INLINE = new Option<>("RDMA_INLINE",
            Integer.class);
    /**
     * How many ranges the peer may map for {@link RdmaSocketChannel#write(java.nio.ByteBuffer, long)}. C: {@index RDMA_IOMAPSIZE}.
     * Default: 0.
     */
    public static final SocketOption<Integer> RDMA_IOMAPSIZE = new Option<>("RDMA_IOMAPSIZE",
            Integer.class);
    /** The name of the device, or {@code ""} for that of the route. Default: {@code ""}. */
    public static final SocketOption<String> RDMA_DEVICE = new Option<>("RDMA_DEVICE",
            String.class);

    private record Option<T>(String name, Class<T> type) implements SocketOption<T> {
        @Override
        public String toString() {
            return name;
        }
    }

    private RdmaSocketOptions() {}
}
