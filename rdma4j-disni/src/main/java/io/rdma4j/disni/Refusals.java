// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.disni;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;

/**
 * How failures reach DiSNI: those of calls that may throw as an {@link RdmaException}, those of the others as −1, which DiSNI does not
 * look at. A mistake of the program, which the API reports by an unchecked exception, is an EINVAL here, as in C.
 */
final class Refusals {
    private static final System.Logger LOG = System.getLogger(Refusals.class.getName());
    static final int FAILED = -1;
    private static final int DONE = 0;

    interface Call<T> {
        T run() throws RdmaException;
    }

    interface Command {
        void run() throws RdmaException;
    }

    private Refusals() {}

    static <T> T thrown(String operation, Call<T> call) throws RdmaException {
        try {
            return call.run();
        } catch (IllegalArgumentException | IllegalStateException e) {
            throw invalid(operation, e);
        }
    }

    static void thrown(String operation, Command command) throws RdmaException {
        try {
            command.run();
        } catch (IllegalArgumentException | IllegalStateException e) {
            throw invalid(operation, e);
        }
    }

    /** {@return 0 or −1} */
    static int returned(String operation, Command command) {
        try {
            command.run();
            return DONE;
        } catch (RdmaException | IllegalArgumentException | IllegalStateException e) {
            LOG.log(System.Logger.Level.DEBUG, "{0}: {1}", operation, e.getMessage());
            return FAILED;
        }
    }

    static RdmaException invalid(String operation, RuntimeException e) {
        return new RdmaException(Errno.EINVAL, operation, String.valueOf(e.getMessage()), e);
    }
}
