// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.output;

import java.util.Collection;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** JSON of maps, collections, numbers, truth values and the text of anything else. */
public final class Json {
    private Json() {}

    /** {@return a value on one line, without a blank} */
    public static String text(Object value) {
        return switch (value) {
            case Map<?, ?> map -> joined(map.entrySet().stream().map(
                    each -> quoted(String.valueOf(each.getKey())) + ":" + text(each.getValue())),
                    "{", "}");
            case Collection<?> list -> joined(list.stream().map(Json::text), "[", "]");
            case Number number -> number.toString();
            case Boolean truth -> truth.toString();
            default -> quoted(value.toString());
        };
    }

    private static String joined(Stream<String> parts, String start, String end) {
        return parts.collect(Collectors.joining(",", start, end));
    }

    private static String quoted(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                quoted.append('\\').append(c);
            } else if (c < ' ') {
                quoted.append(String.format("\\u%04x", (int) c));
            } else {
                quoted.append(c);
            }
        }
        return quoted.append('"').toString();
    }
}
