// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.stat;

import org.jspecify.annotations.Nullable;

import java.util.HashMap;
import java.util.Map;

/**
 * How much numbers of processes have grown since the last look at each. It knows the last look alone: what was not there then has grown from
 * nothing.
 */
final class Growth {
    private record Look(long atNs, Map<String, Long> values) {}

    private final Map<Long, Look> last = new HashMap<>();
    private @Nullable Look before;
    private Look now = new Look(0, new HashMap<>());

    /** Begins a look at a process. */
    void begin(long pid, long nowNs) {
        now = new Look(nowNs, new HashMap<>());
        before = last.put(pid, now);
    }

    /**
     * {@return what a number has grown by} 0 at the first look at its process. One that has become smaller belongs to another object of its name.
     *
     * @param name in the process, which has one number of it
     */
    long added(String name, long value) {
        now.values.put(name, value);
        if (before == null) {
            return 0;
        }
        long earlier = before.values.getOrDefault(name, 0L);
        return value < earlier ? value : value - earlier;
    }

    /** {@return what that is a second; 0 at the first look at the process} */
    double perSecond(long added) {
        return before == null ? 0 : added * 1e9 / (now.atNs - before.atNs);
    }
}
