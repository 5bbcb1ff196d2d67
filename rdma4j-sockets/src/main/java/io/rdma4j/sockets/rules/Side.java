// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.rules;

import java.util.Locale;

/** What a rule is for: which side of a connection this process is, or datagrams. */
public enum Side {
    /** The client, whose rule is that of the address it connects to. */
    CONNECT,
    /** The server, whose rule is that of the address it binds to. */
    LISTEN,
    /** Datagrams, whose rule is that of the address that is bound to, or of the peer if there is none yet. They are UDP's if no rule is for them. */
    DATAGRAMS;

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
