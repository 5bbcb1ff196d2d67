// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.rules;

import org.jspecify.annotations.Nullable;

/**
 * Ports that follow each other.
 *
 * @param first the lowest one
 * @param last the highest one
 */
record PortRange(int first, int last) {
    private static final int HIGHEST = 65535;
    /** Also 0, by which a program leaves the choice to the system. */
    static final PortRange ALL = new PortRange(0, HIGHEST);

    /** @param text a port, or two with a hyphen; null or an asterisk for all */
    static PortRange parse(@Nullable String text) {
        if (text == null || text.equals("*")) {
            return ALL;
        }
        int hyphen = text.indexOf('-');
        if (hyphen < 0) {
            int port = RuleNumbers.parse(text, 1, HIGHEST, "the port");
            return new PortRange(port, port);
        }
        int first = RuleNumbers.parse(text.substring(0, hyphen), 1, HIGHEST, "the first port");
        int last = RuleNumbers.parse(text.substring(hyphen + 1), first, HIGHEST, "the last port");
        return new PortRange(first, last);
    }

    boolean contains(int port) {
        return port >= first && port <= last;
    }
}
