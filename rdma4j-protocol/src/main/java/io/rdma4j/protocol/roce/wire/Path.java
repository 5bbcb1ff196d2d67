// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.wire;

import io.rdma4j.protocol.work.Route;
import io.rdma4j.verbs.Gid;

/**
 * Where packets come from and go to.
 *
 * @param source the local address
 * @param destination the peer's address, of the same IP version
 * @param trafficClass the IP traffic class or type of service
 * @param flowLabel the IPv6 flow label, 20 bits
 * @param hopLimit the IP hop limit or time to live; 0 for the default
 */
public record Path(Gid source, Gid destination, int trafficClass, int flowLabel, int hopLimit)
        implements
            Route {
    /** The UDP port of RoCEv2. Source: IBTA annex A17.3.1.1. */
    public static final int UDP_PORT = 4791;

    /** The hop limit of packets when nothing else is asked for. */
    public static final int DEFAULT_HOPS = 64;

    /** No path. */
    public static final Path NONE = new Path(Gid.ZERO, Gid.ZERO, 0, 0, 0);

    /** {@return a path with nothing special about it} */
    public static Path between(Gid source, Gid destination) {
        return new Path(source, destination, 0, 0, DEFAULT_HOPS);
    }

    /** {@return the same path with another traffic class} */
    public Path withTrafficClass(int value) {
        return new Path(source, destination, value, flowLabel, hopLimit);
    }

    /** {@return the hop limit that packets get, 1 to 255} */
    public int hops() {
        return (hopLimit & 0xff) == 0 ? DEFAULT_HOPS : hopLimit & 0xff;
    }
}
