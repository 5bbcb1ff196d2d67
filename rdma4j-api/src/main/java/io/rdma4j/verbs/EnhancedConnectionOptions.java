// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import java.util.Locale;

/**
 * Options that two devices of one vendor agree on when they connect.
 *
 * <p>C: {@code struct} {@index ibv_ece}, {@index ibv_set_ece}, {@index ibv_query_ece}.
 *
 * @param vendorId whose options they are ({@index vendor_id of struct ibv_ece})
 * @param options bits of that vendor's choice; 0 for none ({@index options of struct ibv_ece})
 * @since 0.1.0
 */
public record EnhancedConnectionOptions(int vendorId, int options) {
    /** No options. */
    public static final EnhancedConnectionOptions NONE = new EnhancedConnectionOptions(0, 0);

    /** {@return the options in hex, such as {@code options 0x10 of vendor 0x0015b3}} */
    @Override
    public String toString() {
        return String.format(Locale.ROOT, "options 0x%x of vendor 0x%06x", options, vendorId);
    }
}
