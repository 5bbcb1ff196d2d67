// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.rules;

import java.util.Arrays;
import java.util.Locale;

/** What a rule says of the connections it is for. */
public enum Way {
    /** Over RDMA, or not at all. */
    RDMA,
    /** Over TCP; datagrams over UDP. */
    TCP,
    /** Over RDMA if the peer can, else over TCP; a server listens for both. */
    AUTO;

    /** {@return the way of a word, as rules for datagrams have it} */
    static Way parseOfDatagrams(String text) {
        return switch (text) {
            case "rdma" -> RDMA;
            case "udp" -> TCP;
            default -> throw new IllegalArgumentException(text.isEmpty()
                    ? "it does not say rdma or udp"
                    : "'" + text + "' is not rdma or udp, which datagrams go over");
        };
    }

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
