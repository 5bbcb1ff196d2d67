// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import java.util.Locale;

/**
 * Where frames to a GID go on the local link.
 *
 * <p>C: the results of {@index ibv_resolve_eth_l2_from_gid}.
 *
 * @param mac the MAC address, in the low 48 bits
 * @param vlan the VLAN, 0xffff for none
 * @since 0.1.0
 */
public record EthernetAddress(long mac, int vlan) {
    /** No VLAN. */
    public static final int NO_VLAN = 0xffff;

    /** {@return six pairs of digits with colons} */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        for (int shift = 40; shift >= 0; shift -= 8) {
            text.append(text.isEmpty() ? "" : ":")
                    .append(String.format(Locale.ROOT, "%02x", mac >>> shift & 0xff));
        }
        return vlan == NO_VLAN ? text.toString() : text + " vlan " + vlan;
    }
}
