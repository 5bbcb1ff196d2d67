// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.calls;

import java.nio.channels.Selector;
import java.util.Map;
import java.util.WeakHashMap;

/** The descriptors of the selectors of this process that threads wait for beside packets, as far as known. For any thread. */
public final class SelectorDescriptors {
    private static final Map<Selector, SelectorSearch> KNOWN = new WeakHashMap<>();

    private SelectorDescriptors() {}

    /**
     * {@return a descriptor that is readable exactly while the selector has something for a selection, -1 if it has none or it is not
     * known} It is the selector's, and open as long. For a thread that selects by it: the first calls look for it in files of the system,
     * and wake the selector up.
     */
    public static int find(Selector selector) {
        SelectorSearch search = search(selector);
        int found = search.found();
        return found >= 0 ? found : search.search(selector);
    }

    /** {@return the descriptor that {@link #find} has found, -1 if it has found none} */
    public static int known(Selector selector) {
        return search(selector).found();
    }

    private static SelectorSearch search(Selector selector) {
        synchronized (KNOWN) {
            return KNOWN.computeIfAbsent(selector, SelectorSearch::of);
        }
    }
}
