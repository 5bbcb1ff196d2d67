// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.device;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;

import java.util.EnumMap;
import java.util.Map;
import java.util.stream.Collectors;

/** Counts the objects that depend on an object and must be closed before it. Thread safe. */
public final class ChildCounts {
    /** Guarded by this. */
    private final Map<ObjectKind, Integer> counts = new EnumMap<>(ObjectKind.class);
    private final Runnable onEmpty;

    /** Creates counts without a callback. */
    public ChildCounts() {
        this(() -> {});
    }

    /** @param onEmpty called when the last one was closed, by the thread that has closed it; must not block */
    public ChildCounts(Runnable onEmpty) {
        this.onEmpty = onEmpty;
    }

    /** One more of a kind. */
    public synchronized void add(ObjectKind kind) {
        counts.merge(kind, 1, Integer::sum);
    }

    /** One less of a kind. */
    public void remove(ObjectKind kind) {
        boolean isEmpty;
        synchronized (this) {
            counts.computeIfPresent(kind, (k, count) -> count == 1 ? null : count - 1);
            isEmpty = counts.isEmpty();
        }
        if (isEmpty) {
            onEmpty.run();
        }
    }

    /** {@return how many there are of all kinds together} */
    public synchronized int total() {
        return counts.values().stream().mapToInt(Integer::intValue).sum();
    }

    /** @throws RdmaException ENOMEM naming the limit, if no more objects of a kind are allowed */
    public synchronized void requireRoom(ObjectKind kind, int limit, String limitName)
            throws RdmaException {
        if (counts.getOrDefault(kind, 0) >= limit) {
            throw new RdmaException(Errno.ENOMEM, "create " + kind.text(),
                    "the device has all it can have: " + limitName + " is " + limit);
        }
    }

    /** @throws RdmaException EBUSY naming the open objects */
    public synchronized void requireNone(String operation) throws RdmaException {
        if (!counts.isEmpty()) {
            throw new RdmaException(Errno.EBUSY, operation,
                    counts.entrySet().stream()
                            .map(e -> e.getValue() + " " + e.getKey().text() + "(s)")
                            .collect(Collectors.joining(", "))
                            + " still depend on it; close them first");
        }
    }
}
