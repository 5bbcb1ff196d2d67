// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.disni;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;

import java.util.ArrayList;
import java.util.List;

/**
 * Closes objects in the order in which DiSNI destroys them, which is not always one that C allows: channels before their queues, and
 * a channel of events before its ids. C refuses and leaks those, since DiSNI does not look; here what is still used is closed as soon
 * as nothing uses it. An object of which another thread has just taken an event is closed when that is acknowledged, for which C waits. Thread safe.
 */
final class DeferredClosing {
    private static final System.Logger LOG = System.getLogger(DeferredClosing.class.getName());

    interface Closing {
        void close() throws RdmaException;
    }

    private record Deferred(Object object, Closing closing) {}

    private final List<Deferred> waiting = new ArrayList<>();
    /** Whether something waits, or is about to; changes under the lock. */
    private volatile boolean isAnyWaiting;

    /**
     * Closes an object now, or after those that use it.
     *
     * @param object it, or what belongs to it and has its events
     */
    synchronized void close(Object object, Closing closing) throws RdmaException {
        // Before it is tried: whoever acknowledges after it was refused sees this.
        isAnyWaiting = true;
        try {
            if (isUsed(closing)) {
                waiting.add(new Deferred(object, closing));
                return;
            }
            closeThoseThatAreFree();
        } finally {
            isAnyWaiting = !waiting.isEmpty();
        }
    }

    /** An event of an object was acknowledged: that may have been all that used it. Costs nothing while nothing waits. */
    void onAcknowledged(Object object) {
        if (isAnyWaiting) {
            closeIfWaiting(object);
        }
    }

    private synchronized void closeIfWaiting(Object object) {
        if (waiting.stream().anyMatch(each -> each.object.equals(object))) {
            closeThoseThatAreFree();
            isAnyWaiting = !waiting.isEmpty();
        }
    }

    private void closeThoseThatAreFree() {
        while (closeEach()) {
            // Others may have waited for these.
        }
    }

    /** {@return whether there were some that nothing uses any more} */
    private boolean closeEach() {
        return waiting.removeIf(each -> {
            try {
                return !isUsed(each.closing);
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
