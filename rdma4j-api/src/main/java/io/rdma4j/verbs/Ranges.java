// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

/** What fits a field of a header. */
final class Ranges {
    private Ranges() {}

    /** @throws IllegalArgumentException naming the range if a value does not fit */
    static void check(String field, long value, long most) {
        if (value < 0 || value > most) {
            throw new IllegalArgumentException(
                    field + " must be from 0 to " + most + ", not " + value);
        }
    }

    /** {@return the upper bits of a word that a prefix covers, from its first bit on} */
    static long prefix(int bits, int first) {
        int covered = Math.clamp((long) bits - first, 0, Long.SIZE);
        return covered == 0 ? 0 : -1L << (Long.SIZE - covered);
    }
}
