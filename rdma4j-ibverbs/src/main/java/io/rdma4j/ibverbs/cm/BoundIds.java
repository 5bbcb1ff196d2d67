// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.cm;

import org.jspecify.annotations.Nullable;

import java.util.List;

/**
 * The ids of a port: one, or two at the wildcard address, one for each IP version.
 *
 * @param first over IPv6, if there are two
 * @param second over IPv4, null if there is one id
 */
record BoundIds(NativeId first, @Nullable NativeId second) {
    static BoundIds of(NativeId only) {
        return new BoundIds(only, null);
    }

    List<NativeId> all() {
        return second == null ? List.of(first) : List.of(first, second);
    }

    /** {@return the first; the other gives its port back} */
    NativeId one() {
        if (second != null) {
            second.destroy();
        }
        return first;
    }

    void destroy() {
        all().forEach(NativeId::destroy);
    }
}
