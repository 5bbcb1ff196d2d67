// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.verbs;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;

import java.util.EnumMap;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Counts the objects that depend on an object and must be closed before it. For the engine's owner.
 */
public final class ChildCounts {
    private final Map<ObjectKind, Integer> counts = new EnumMap<>(ObjectKind.class);
    private final Runnable onEmpty;

    /** Creates counts without a callback. */
    public ChildCounts() {
        this(() -> {});
    }

    /** @param onEmpty called by the engine's owner when the last one was closed */
    public ChildCounts(Runnable onEmpty) {
        this.onEmpty = onEmpty;
    }

    /** One more of a kind. */
    public void add(ObjectKind kind) {
        counts.merge(kind, 1, Integer::sum);
    }

    /** @throws RdmaException ENOMEM naming the limit, if no more objects of a kind are allowed */
    public void requireRoom(ObjectKind kind, int limit, String limitName) throws RdmaException {
        if (count(kind) >= limit) {
            throw new RdmaException(Errno.ENOMEM, "create " + kind.text(),
                    "the device has all it can have: " + limitName + " is " + limit);
        }
    }

    /** One less of a kind. */
    public void remove(ObjectKind kind) {
        counts.computeIfPresent(kind, (k, count) -> count == 1 ? null : count - 1);
        if (counts.isEmpty()) {
            onEmpty.run();
        }
    }

    private int count(ObjectKind kind) {
        return counts.getOrDefault(kind, 0);
    }

    /** @throws RdmaException EBUSY naming the open objects */
    void requireNone(String operation) throws RdmaException {
        if (!counts.isEmpty()) {
            throw new RdmaException(Errno.EBUSY, operation,
                    counts.entrySet().stream()
                            .map(e -> e.getValue() + " " + e.getKey().text() + "(s)")
                            .collect(Collectors.joining(", "))
                            + " still depend on it; close them first");
        }
    }
}
