package io.rdma4j.protocol.wire;

import io.rdma4j.verbs.Gid;

/**
 * Where packets come from and go to.
 *
 * @param source the local address
 * @param destination the peer's address, of the same IP version
 * @param trafficClass the IP traffic class or type of service
 * @param flowLabel the IPv6 flow label, 20 bits
 * @param hopLimit the IP hop limit
 */
public record Path(Gid source, Gid destination, int trafficClass, int flowLabel, int hopLimit) {
    /** The UDP port of RoCEv2. Source: IBTA annex A17.3.1.1. */
    public static final int UDP_PORT = 4791;

    /** No path. */
    public static final Path NONE = new Path(Gid.ZERO, Gid.ZERO, 0, 0, 0);

    /** {@return a path with nothing special about it} */
    public static Path between(Gid source, Gid destination) {
        return new Path(source, destination, 0, 0, 64);
    }
}
