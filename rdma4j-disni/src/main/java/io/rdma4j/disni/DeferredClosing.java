// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.disni;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;

import java.util.ArrayList;
import java.util.List;

/**
 * Closes objects in the order in which DiSNI destroys them, which is not always one that C allows: channels before their queues, and
 * a channel of events before its ids. C refuses and leaks those, since DiSNI does not look; here what is still used is closed as soon
 * as nothing uses it. Thread safe.
 */
final class DeferredClosing {
    private static final System.Logger LOG = System.getLogger(DeferredClosing.class.getName());

    interface Closing {
        void close() throws RdmaException;
    }

    private final List<Closing> waiting = new ArrayList<>();

    /** Closes an object now, or after those that use it. */
    synchronized void close(Closing object) throws RdmaException {
        if (isUsed(object)) {
            waiting.add(object);
            return;
        }
        while (closeThoseThatAreFree()) {
            // Others may have waited for these.
        }
    }

    /** {@return whether there were some that nothing uses any more} */
    private boolean closeThoseThatAreFree() {
        return waiting.removeIf(each -> {
            try {
                return !isUsed(each);
            } catch (RdmaException e) {
                LOG.log(System.Logger.Level.WARNING, "an object was not closed properly: {0}",
                        e.getMessage());
                return true;
            }
        });
    }

    private static boolean isUsed(Closing object) throws RdmaException {
        try {
            object.close();
            return false;
        } catch (RdmaException e) {
            if (e.errno() == Errno.EBUSY) {
                return true;
            }
            throw e;
        }
    }
}
