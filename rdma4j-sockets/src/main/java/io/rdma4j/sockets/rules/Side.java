// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.rules;

import java.util.Locale;

/** Which side of a connection this process is. */
public enum Side {
    /** The client, whose rule is that of the address it connects to. */
    CONNECT,
    /** The server, whose rule is that of the address it binds to. */
    LISTEN;

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
