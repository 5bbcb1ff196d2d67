// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.connection;

import org.jspecify.annotations.Nullable;

/** A number on the wire that has words for it. */
interface NumberedText {
    /** {@return the number on the wire} */
    int code();

    /** {@return it in words} */
    String text();

    /** {@return the one that has a code, or null} */
    static <T extends NumberedText> @Nullable T ofCode(T[] known, int code) {
        for (T one : known) {
            if (one.code() == code) {
                return one;
            }
        }
        return null;
    }

    /** {@return a code in words, also one that is not known} */
    static String text(NumberedText[] known, int code, String otherwise) {
        NumberedText one = ofCode(known, code);
        return one == null ? otherwise : one.text();
    }
}
