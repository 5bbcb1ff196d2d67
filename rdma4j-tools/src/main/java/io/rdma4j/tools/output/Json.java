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
        return text(value, ",", ":");
    }

    /** {@return a value for people to read, too: the members of its two outer levels each on a line, which ends} */
    public static String lines(Object value) {
        return lines(value, 2, "\n") + "\n";
    }

    private static String lines(Object value, int levels, String lineBreak) {
        if (levels == 0) {
            return text(value, ", ", ": ");
        }
        String inside = lineBreak + "  ";
        return switch (value) {
            case Map<?, ?> map -> joined(map.entrySet().stream().map(each -> name(each, ": ")
                    + lines(each.getValue(), levels - 1, inside)), "," + inside, "{" + inside,
                    lineBreak + "}");
            case Collection<?> list -> joined(
                    list.stream().map(each -> lines(each, levels - 1, inside)), "," + inside,
                    "[" + inside, lineBreak + "]");
            default -> text(value);
        };
    }

    private static String text(Object value, String comma, String colon) {
        return switch (value) {
            case Map<?, ?> map -> joined(map.entrySet().stream().map(
                    each -> name(each, colon) + text(each.getValue(), comma, colon)), comma, "{",
                    "}");
            case Collection<?> list -> joined(
                    list.stream().map(each -> text(each, comma, colon)), comma, "[", "]");
            case Number number -> number.toString();
            case Boolean truth -> truth.toString();
            default -> quoted(value.toString());
        };
    }

    private static String name(Map.Entry<?, ?> member, String colon) {
        return quoted(String.valueOf(member.getKey())) + colon;
    }

    private static String joined(Stream<String> parts, String comma, String start, String end) {
        return parts.collect(Collectors.joining(comma, start, end));
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
