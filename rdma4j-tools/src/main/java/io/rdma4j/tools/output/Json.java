package io.rdma4j.tools.output;

import java.util.Collection;
import java.util.Map;
import java.util.stream.Collectors;

/** JSON, on one line. */
public final class Json {
    private Json() {}

    /** {@return a map, a collection, a number, or the text of anything else} */
    public static String text(Object value) {
        return switch (value) {
            case Map<?, ?> map -> map.entrySet().stream()
                    .map(each -> quoted(String.valueOf(each.getKey())) + ":"
                            + text(each.getValue()))
                    .collect(Collectors.joining(",", "{", "}"));
            case Collection<?> list -> list.stream().map(Json::text)
                    .collect(Collectors.joining(",", "[", "]"));
            case Number number -> number.toString();
            default -> quoted(value.toString());
        };
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
