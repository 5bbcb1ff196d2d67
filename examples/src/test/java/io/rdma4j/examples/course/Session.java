// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.examples.course;

import jdk.jshell.JShell;
import jdk.jshell.Snippet;
import jdk.jshell.Snippet.Status;
import jdk.jshell.SnippetEvent;
import jdk.jshell.VarSnippet;

import java.util.concurrent.atomic.AtomicInteger;

import static org.assertj.core.api.Assertions.assertThat;

/** Lines typed into jshell, and what it answers. */
final class Session {
    private Session() {}

    /** {@return each line of a script with what it printed and its value} Fails if jshell refuses one or one throws. */
    static String of(String script) throws Exception {
        StringBuilder session = new StringBuilder();
        AtomicInteger line = new AtomicInteger();
        // The tool names a value without a name after the number of its line.
        try (JShell shell = JShell.builder().executionEngine("local")
                .tempVariableNameGenerator(() -> "$" + line).build()) {
            shell.addToClasspath(System.getProperty("java.class.path"));
            for (String typed : script.lines().toList()) {
                line.incrementAndGet();
                session.append("jshell> ").append(typed).append('\n');
                session.append(CourseTest.printed(() -> {
                    for (SnippetEvent event : shell.eval(shell
                            .sourceCodeAnalysis().analyzeCompletion(typed).source())) {
                        assertThat(event.exception()).as(typed).isNull();
                        assertThat(event.status()).as("%s %s", typed, shell
                                .diagnostics(event.snippet())
                                .map(each -> each.getMessage(null)).toList())
                                .isEqualTo(Status.VALID);
                        if (event.snippet() instanceof VarSnippet variable
                                && event.value() != null
                                && variable.kind() == Snippet.Kind.VAR) {
                            System.out.println(variable.name() + " ==> " + event.value());
                        }
                    }
                }));
            }
        }
        return session.toString();
    }
}
