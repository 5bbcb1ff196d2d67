// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.rules;

import java.util.Arrays;
import java.util.Locale;

/** What a rule says of the connections it is for. */
public enum Way {
    /** Over RDMA, or not at all. */
    RDMA,
    /** Over TCP. */
    TCP,
    /** Over RDMA if the peer can, else over TCP; a server listens for both. */
    AUTO;

    static Way parse(String text) {
        return Arrays.stream(values()).filter(each -> each.toString().equals(text)).findFirst()
                .orElseThrow(() -> new IllegalArgumentException(
                        text.isEmpty()
                                ? "it does not say rdma, tcp or auto"
                                : "'" + text + "' is not rdma, tcp or auto"));
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
