// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.device;

import java.util.Collection;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;
import java.util.function.ToIntFunction;

/** Bits that a device reports, of which some have names. */
public final class ReportedBits {
    private ReportedBits() {}

    /** {@return the bits of some constants} */
    public static <E extends Enum<E>> int of(Collection<E> constants, ToIntFunction<E> bit) {
        return constants.stream().mapToInt(bit).reduce(0, (some, more) -> some | more);
    }

    /** {@return the constants that name bits, unmodifiable} Bits without a name are skipped. */
    static <E extends Enum<E>> Set<E> named(int bits, Class<E> type, ToIntFunction<E> bit) {
        Set<E> named = EnumSet.allOf(type);
        named.removeIf(each -> (bits & bit.applyAsInt(each)) == 0);
        return Collections.unmodifiableSet(named);
    }
}
