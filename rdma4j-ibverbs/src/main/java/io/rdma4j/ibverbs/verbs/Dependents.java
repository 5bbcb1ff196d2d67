package io.rdma4j.ibverbs.verbs;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Counts the objects that depend on an object, which must not be closed before them: libibverbs would free memory that
 * they point to.
 */
final class Dependents {
    private final AtomicInteger count = new AtomicInteger();

    void add() {
        count.incrementAndGet();
    }

    void remove() {
        count.decrementAndGet();
    }

    boolean isEmpty() {
        return count.get() == 0;
    }

    /** @throws RdmaException EBUSY if there are any */
    void requireNone(String operation) throws RdmaException {
        if (!isEmpty()) {
            throw new RdmaException(Errno.EBUSY, operation,
                    count.get() + " object(s) still depend on it; close them first");
        }
    }
}
