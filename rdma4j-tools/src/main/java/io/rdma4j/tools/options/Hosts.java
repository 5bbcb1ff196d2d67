// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.options;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;

import java.net.InetAddress;
import java.net.UnknownHostException;

/** Names of machines given as arguments. */
public final class Hosts {
    private Hosts() {}

    /** {@return the address of a name or an address in text} */
    public static InetAddress resolve(String name) throws RdmaException {
        try {
            return InetAddress.getByName(name);
        } catch (UnknownHostException e) {
            throw new RdmaException(Errno.EHOSTUNREACH, "resolve address",
                    "unknown host '" + name + "'", e);
        }
    }
}
