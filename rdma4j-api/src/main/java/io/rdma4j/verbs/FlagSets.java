// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/** Sets of the flags that a program lists. */
final class FlagSets {
    private FlagSets() {}

    /** {@return an unmodifiable set of them; one that is named twice counts once} */
    static <E extends Enum<E>> Set<E> of(Class<E> type, E[] flags) {
        EnumSet<E> set = EnumSet.noneOf(type);
        set.addAll(List.of(flags));
        return Collections.unmodifiableSet(set);
    }
}
