// SPDX-License-Identifier: Apache-2.0
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
    private final Runnable onEmpty;

    Dependents() {
        this(() -> {});
    }

    /** @param onEmpty called when the last one was closed, under the lock of the context; must not block */
    Dependents(Runnable onEmpty) {
        this.onEmpty = onEmpty;
    }

    void add() {
        count.incrementAndGet();
    }

    void remove() {
        if (count.decrementAndGet() == 0) {
            onEmpty.run();
        }
    }

    boolean isEmpty() {
        return count.get() == 0;
    }

    boolean isOne() {
        return count.get() == 1;
    }

    /** @throws RdmaException EBUSY if there are any */
    void requireNone(String operation) throws RdmaException {
        if (!isEmpty()) {
            throw new RdmaException(Errno.EBUSY, operation,
                    count.get() + " object(s) still depend on it; close them first");
        }
    }
}
