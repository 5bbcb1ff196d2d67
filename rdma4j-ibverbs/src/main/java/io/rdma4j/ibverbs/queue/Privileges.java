// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.queue;

import io.rdma4j.ibverbs.abi.Outcome;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;

/**
 * Errors of calls for which the kernel requires a privilege: sending and receiving arbitrary
 * frames.
 */
public final class Privileges {
    private Privileges() {}

    /**
     * {@return the pointer of an object that may require a privilege}
     *
     * @throws RdmaException with the error number if it is null; EPERM names the privilege
     */
    public static long pointer(Outcome outcome, String operation, String advice)
            throws RdmaException {
        if (outcome.value() == 0 && outcome.errno() == Errno.EPERM.number()) {
            throw new RdmaException(Errno.EPERM, operation, "raw packets and flows need the"
                    + " capability CAP_NET_RAW; run as root, in a container with --cap-add NET_RAW,"
                    + " or as a service with AmbientCapabilities=CAP_NET_RAW");
        }
        return outcome.pointer(operation, advice);
    }
}
