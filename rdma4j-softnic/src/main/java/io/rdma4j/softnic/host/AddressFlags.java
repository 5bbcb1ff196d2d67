// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.host;

/**
 * What Linux says of an address. Source: rtnetlink(7) and {@code linux/if_addr.h}, {@code IFA_F_…}.
 *
 * @param bits all flags
 */
record AddressFlags(int bits) {
    private static final int OPTIMISTIC = 0x04;
    private static final int DADFAILED = 0x08;
    private static final int DEPRECATED = 0x20;
    private static final int TENTATIVE = 0x40;

    HostAddress.State state() {
        if (has(DADFAILED)) {
            return HostAddress.State.DUPLICATE;
        }
        // RFC 4429: an optimistic address is in use while it is tried out.
        if (has(TENTATIVE) && !has(OPTIMISTIC)) {
            return HostAddress.State.TENTATIVE;
        }
        return has(DEPRECATED) ? HostAddress.State.DEPRECATED : HostAddress.State.USABLE;
    }

    private boolean has(int flag) {
        return (bits & flag) != 0;
    }
}
