// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import org.junit.jupiter.api.Test;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import static org.assertj.core.api.Assertions.assertThat;

/** Each method that a device can refuse says in its Javadoc when it does, and with which errno. */
class DocumentedErrorsTest {
    private static final Pattern REFUSABLE = Pattern
            .compile("\\bthrows\\s[^;{]*\\bRdmaException\\b");
    private static final Pattern TYPE = Pattern.compile("\\b(class|interface|enum|record)\\s+\\w+");
    /** The text of a tag, to the next tag or the end of the comment. */
    private static final Pattern SAID = Pattern.compile(
            "@throws (?:RdmaException|PostException)\\b(.*?)(?=\\n\\s*\\*\\s@|\\*/)",
            Pattern.DOTALL);
    /** An errno, or a method that says it. */
    private static final Pattern ERRNO_OR_REFERENCE = Pattern.compile("\\b("
            + Arrays.stream(Errno.values()).map(Enum::name).collect(Collectors.joining("|"))
            + ")\\b|\\bas (above|registering|for|\\{@link)");

    /**
     * A method that declares it.
     *
     * @param declaration its signature in one line
     * @param javadoc its comment, empty if there is none
     */
    private record Method(String type, String declaration, String javadoc) {
        boolean saysWhen() {
            Matcher said = SAID.matcher(javadoc);
            return said.find() && ERRNO_OR_REFERENCE.matcher(said.group(1)).find();
        }

        @Override
        public String toString() {
            return type + ": " + declaration;
        }
    }

    @Test
    void eachMethodThatCanBeRefusedSaysWithWhichErrno() {
        List<Method> methods = new ArrayList<>();
        ApiSources.all().forEach(source -> methods.addAll(refusable(source)));
        assertThat(methods).hasSizeGreaterThan(120).filteredOn(method -> !method.saysWhen())
                .isEmpty();
    }

    /** {@return the methods for applications and devices that declare it, but for those that inherit their comment} */
    private static List<Method> refusable(ApiSources.Source source) {
        List<Method> methods = new ArrayList<>();
        String code = source.code();
        REFUSABLE.matcher(code).results().forEach(match -> {
            int start = 1 + Math.max(code.lastIndexOf(';', match.start()), Math.max(
                    code.lastIndexOf('{', match.start()), code.lastIndexOf('}', match.start())));
            String declaration = code.substring(start, match.start()).strip()
                    .replaceAll("\\s+", " ");
            if (!declaration.contains("@Override") && isOpen(code, start, declaration)) {
                methods.add(new Method(source.name(), declaration,
                        source.javadoc(start, match.start())));
            }
        });
        return methods;
    }

    /** Whether a member, and each type around it, is for everybody. */
    private static boolean isOpen(String code, int at, String declaration) {
        String member = declaration;
        for (String around : around(code, at)) {
            if (!TYPE.matcher(around).find()) {
                return false;
            }
            boolean isInInterface = around.contains("interface ");
            if (member.contains("private ")
                    || !(isInInterface || member.matches("(?s).*\\b(public|protected)\\s.*"))) {
                return false;
            }
            member = around;
        }
        return member.contains("public ");
    }

    /** {@return what stands before each brace that is open at a place, the innermost first} */
    private static List<String> around(String code, int at) {
        Deque<String> open = new ArrayDeque<>();
        int last = 0;
        for (int i = 0; i < at; i++) {
            char character = code.charAt(i);
            if (character == '{') {
                open.push(code.substring(last, i));
            } else if (character == '}') {
                open.pop();
            }
            if (character == '{' || character == '}' || character == ';') {
                last = i + 1;
            }
        }
        return List.copyOf(open);
    }
}
