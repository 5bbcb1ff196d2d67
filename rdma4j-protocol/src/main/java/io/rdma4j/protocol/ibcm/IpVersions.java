// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.ibcm;

import io.rdma4j.verbs.Gid;

/** The IP versions a service is offered to. */
public enum IpVersions {
    /** Both. */
    BOTH,
    /** IPv4 only. */
    IPV4,
    /** IPv6 only. */
    IPV6;

    boolean include(Gid address) {
        return switch (this) {
            case BOTH -> true;
            case IPV4 -> address.isIpv4();
            case IPV6 -> !address.isIpv4();
        };
    }

    boolean overlap(IpVersions other) {
        return this == BOTH || other == BOTH || this == other;
    }
}
