// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.abi;

/** The offsets in bytes of the fields of the system's structures. */
public final class SystemLayout {
    private SystemLayout() {}

    /** {@code struct pollfd}: poll(2). */
    public static final class PollDescriptor {
        public static final long SIZE = 8;
        public static final long FD = 0;
        public static final long EVENTS = 4;
        public static final long REVENTS = 6;

        private PollDescriptor() {}
    }

    /** {@code struct sockaddr_in} and {@code struct sockaddr_in6}, which begin alike: ip(7), ipv6(7). */
    public static final class SocketAddress {
        public static final long SIZE = 28;
        public static final long FAMILY = 0;
        /** In network byte order, as the addresses. */
        public static final long PORT = 2;
        public static final long IPV4 = 4;
        public static final long IPV6 = 8;
        public static final long SCOPE = 24;

        private SocketAddress() {}
    }
}
