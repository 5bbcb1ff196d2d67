// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.options;

import java.util.Locale;

/** Enums whose constants users name in lower case, in properties and options. */
final class Names {
    private Names() {}

    static String text(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }

    /**
     * {@return the constant with a name}
     *
     * @param refusal the text after the name in the error: what it is not, and the valid names
     */
    static <E extends Enum<E>> E parse(Class<E> type, String text, String refusal) {
        for (E constant : type.getEnumConstants()) {
            if (text(constant).equals(text)) {
                return constant;
            }
        }
        throw new IllegalArgumentException("'" + text + "' " + refusal);
    }
}
