// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.host;

import java.net.InetAddress;

/**
 * An address of a network interface at one moment.
 *
 * @param address the address; one of the link has the number of its interface as scope
 * @param state whether it can be used
 */
public record HostAddress(InetAddress address, State state) {
    /** What the system makes of an address. Source: RFC 4862. */
    public enum State {
        /** It can be used. */
        USABLE("is usable"),
        /** It can be used, and new connections should better use another one. */
        DEPRECATED("is deprecated"),
        /** The system still asks the link whether another machine has it; until then no socket can use it. */
        TENTATIVE("is tentative: the system still looks for another machine that has it"),
        /** Another machine of the link has it: no socket can use it until it is removed and added anew. */
        DUPLICATE("is a duplicate: another machine of the link has it");

        private final String text;

        State(String text) {
            this.text = text;
        }

        /** {@return what to say of an address in this state, after the address} */
        public String text() {
            return text;
        }
    }

    /** {@return whether sockets can use it} */
    public boolean isUsable() {
        return switch (state) {
            case USABLE, DEPRECATED -> true;
            case TENTATIVE, DUPLICATE -> false;
        };
    }
}
