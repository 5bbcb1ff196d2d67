// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The tags of the Javadoc that its search finds, as {@code ibv_post_send} or {@code wr_id of struct ibv_wc}. */
final class IndexTags {
    private static final Pattern TAG = Pattern.compile(
            "\\{@index\\s+(\\w+)(?:[\\s*]+of[\\s*]+((?:struct|union)[\\s*]+\\w+))?\\s*}");
    private static final Pattern JAVADOC = Pattern.compile("/\\*\\*.*?\\*/", Pattern.DOTALL);
    private static final String MODIFIERS = "(?:(?:public|protected|private|static|final|abstract|default|sealed|non-sealed)\\s+)*";
    private static final Pattern TYPE = Pattern.compile(
            "^\\s*" + MODIFIERS + "(class|interface|enum|record|@interface)\\s+(\\w+)",
            Pattern.MULTILINE);
    private static final Pattern ANNOTATION = Pattern.compile(
            "^\\s*@(?!interface\\b)[\\w.]+(?:\\((?:[^()]|\\([^()]*\\))*\\))?");
    private static final Pattern BLOCK = Pattern
            .compile("@(param\\s+(\\w+)|return|throws|since)\\b");
    /** Of a field or method, or a constant. */
    private static final Pattern DECLARED = Pattern.compile("(\\w+)\\s*[(;={,}]");

    private IndexTags() {}

    /**
     * A tag in the Javadoc of something.
     *
     * @param of the struct or union that has a field of this name, null for a name of its own
     * @param file the class that the file is of
     * @param type the class whose Javadoc it is in, or whose member's
     * @param member null in the Javadoc of the class
     */
    record Tag(String name, @Nullable String of, ApiSources.Source file, String type,
            @Nullable String member) {
        /** {@return what to look for in the Javadoc} */
        String place() {
            return member == null ? type : type + "." + member;
        }
    }

    /** A class and where in its file it is. */
    private record Declared(String name, boolean isRecord, int start, int end) {}

    static List<Tag> all() {
        return ApiSources.all().stream().flatMap(source -> of(source).stream()).toList();
    }

    private static List<Tag> of(ApiSources.Source source) {
        String code = source.code();
        List<Declared> types = types(code);
        List<Tag> tags = new ArrayList<>();
        Matcher javadoc = JAVADOC.matcher(source.text());
        while (javadoc.find()) {
            Matcher tag = TAG.matcher(javadoc.group());
            while (tag.find()) {
                String of = tag.group(2);
                tags.add(tag(source, tag.group(1),
                        of == null ? null : of.replaceAll("[\\s*]+", " "),
                        javadoc.group().substring(0, tag.start()), code.substring(javadoc.end()),
                        javadoc.start(), types));
            }
        }
        return tags;
    }

    /** @param before the Javadoc up to the tag */
    private static Tag tag(ApiSources.Source source, String name, @Nullable String of,
            String before, String behind, int at, List<Declared> types) {
        String declaration = withoutAnnotations(behind);
        Matcher type = TYPE.matcher(declaration);
        if (type.lookingAt()) {
            Declared declared = types.stream().filter(each -> each.start() >= at).findFirst()
                    .orElseThrow();
            return new Tag(name, of, source, named(declared, types),
                    declared.isRecord() ? component(before) : null);
        }
        Declared enclosing = types.stream().filter(each -> each.start() < at && at < each.end())
                .reduce((outer, inner) -> inner).orElseThrow();
        Matcher declared = DECLARED.matcher(withoutTypeArguments(declaration));
        if (!declared.find()) {
            throw new IllegalStateException(source.name() + ": a tag without declaration: " + name);
        }
        String member = declared.group(1);
        return new Tag(name, of, source, named(enclosing, types),
                member.equals(enclosing.name()) ? null : member);
    }

    /** {@return the component of a record that the text behind {@code before} is about} */
    private static @Nullable String component(String before) {
        String component = null;
        Matcher block = BLOCK.matcher(before);
        while (block.find()) {
            component = block.group(2);
        }
        return component;
    }

    private static String withoutAnnotations(String code) {
        String rest = code;
        Matcher annotation = ANNOTATION.matcher(rest);
        while (annotation.find()) {
            rest = rest.substring(annotation.end());
            annotation = ANNOTATION.matcher(rest);
        }
        return rest;
    }

    private static String withoutTypeArguments(String declaration) {
        String text = declaration.substring(0, Math.min(400, declaration.length()));
        String shorter = text.replaceAll("<[^<>]*>", "");
        while (!shorter.equals(text)) {
            text = shorter;
            shorter = text.replaceAll("<[^<>]*>", "");
        }
        return text;
    }

    private static List<Declared> types(String code) {
        List<Declared> types = new ArrayList<>();
        Matcher type = TYPE.matcher(code);
        while (type.find()) {
            int open = code.indexOf('{', type.end());
            int depth = 0;
            int end = open;
            do {
                char at = code.charAt(end++);
                depth += at == '{' ? 1 : at == '}' ? -1 : 0;
            } while (depth > 0);
            types.add(new Declared(type.group(2), type.group(1).equals("record"), type.start(2),
                    end));
        }
        return types;
    }

    /** {@return the name, behind those of the classes around it} */
    private static String named(Declared type, List<Declared> types) {
        StringBuilder name = new StringBuilder();
        for (Declared each : types) {
            if (each.start() < type.start() && type.end() <= each.end()) {
                name.append(each.name()).append('.');
            }
        }
        return name.append(type.name()).toString();
    }
}
