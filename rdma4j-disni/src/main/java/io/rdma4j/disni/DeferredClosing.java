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
    interface Closing {
        void close() throws RdmaException;
    }

    private final List<Closing> waiting = new ArrayList<>();

    /** Closes an object now, or after those that use it. */
    synchronized void close(Closing object) throws RdmaException {
        if (!isClosed(object)) {
            waiting.add(object);
            return;
        }
        boolean isProgress = true;
        while (isProgress) {
            isProgress = closeOneOfThoseThatWait();
        }
    }

    private boolean closeOneOfThoseThatWait() throws RdmaException {
        for (Closing each : waiting) {
            if (isClosed(each)) {
                waiting.remove(each);
                return true;
            }
        }
        return false;
    }

    /** {@return how many objects are still used} */
    synchronized int count() {
        return waiting.size();
    }

    private static boolean isClosed(Closing object) throws RdmaException {
        try {
            object.close();
            return true;
        } catch (RdmaException e) {
            if (e.errno() == Errno.EBUSY) {
                return false;
            }
            throw e;
        }
    }
}
