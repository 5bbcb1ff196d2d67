// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import java.util.Locale;

/**
 * Options that two devices of one vendor agree on when they connect.
 *
 * <p>C: {@code struct ibv_ece}, {@code ibv_set_ece}, {@code ibv_query_ece}.
 *
 * @param vendorId whose options they are ({@code vendor_id})
 * @param options bits of that vendor's choice; 0 for none ({@code options})
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
