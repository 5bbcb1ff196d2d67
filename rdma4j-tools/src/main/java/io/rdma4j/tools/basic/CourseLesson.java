// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.basic;

import io.rdma4j.examples.course.Lesson;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

import java.io.PrintWriter;
import java.util.concurrent.Callable;

/** Runs the program of a lesson of the course. */
@Command(name = "lesson",
        description = "Run the program of a lesson of the course, or list the lessons.")
public final class CourseLesson implements Callable<Integer> {
    @Parameters(arity = "0..1", paramLabel = "NUMBER",
            description = "The lesson, from 1; without it, all are listed.")
    private @Nullable Integer number;

    @Parameters(arity = "0..1", paramLabel = "ADDRESS|DEVICE",
            description = "What the lesson is to use instead of the loopback interface.")
    private @Nullable String target;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() throws Exception {
        if (number == null) {
            PrintWriter out = spec.commandLine().getOut();
            for (Lesson lesson : Lesson.values()) {
                out.println(lesson.number() + "  " + lesson.title());
            }
            return 0;
        }
        Lesson lesson = Lesson.of(number).orElseThrow(() -> new ParameterException(
                spec.commandLine(), "there is no lesson " + number + "; there are 1 to "
                        + Lesson.values().length));
        lesson.run(target == null ? new String[0] : new String[]{target});
        return 0;
    }
}
