// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs;

import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestExecutionResult.Status;
import org.junit.platform.engine.TestSource;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;

import java.io.PrintStream;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** Tells a line of each case, and in the end why cases have failed. Cases are run one after the other. */
final class CasePrinter implements TestExecutionListener {
    private static final String OURS = "io.rdma4j.";
    private static final int MOST_FRAMES = 12;

    private final PrintStream out;
    private final Map<Status, Integer> counts = new EnumMap<>(Status.class);
    private final List<String> failures = new ArrayList<>();
    private long startNs;

    CasePrinter(PrintStream out) {
        this.out = out;
    }

    /** {@return the name of a test as the report has it, empty if it is no method} */
    static String nameOf(Optional<TestSource> source) {
        return source.filter(MethodSource.class::isInstance).map(MethodSource.class::cast)
                .map(MethodSource::getJavaMethod).map(CasePrinter::nameOf).orElse("");
    }

    private static String nameOf(Method method) {
        return method.getDeclaringClass().getSimpleName() + '#' + method.getName();
    }

    @Override
    public void executionStarted(TestIdentifier test) {
        if (test.isTest()) {
            startNs = System.nanoTime();
            out.print(nameOf(test.getSource()) + " ... ");
            out.flush();
        }
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        if (test.isTest()) {
            long tookMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNs);
            out.println(switch (result.getStatus()) {
                case SUCCESSFUL -> "ok";
                case ABORTED -> result.getThrowable().map(Throwable::getMessage)
                        .flatMap(reason -> reason.lines().findFirst()).orElse("not supported");
                case FAILED -> "FAILED";
            } + " (" + tookMs + " ms)");
            counts.merge(result.getStatus(), 1, Integer::sum);
        }
        if (result.getStatus() == Status.FAILED) {
            String name = test.isTest() ? nameOf(test.getSource()) : test.getDisplayName();
            failures.add(name + '\n'
                    + result.getThrowable().map(CasePrinter::told).orElse("without a reason\n"));
        }
    }

    /** {@return a failure and its causes, with the frames that are this project's} */
    private static String told(Throwable failure) {
        StringBuilder text = new StringBuilder();
        for (Throwable each = failure; each != null; each = each.getCause()) {
            text.append(each.toString().indent(4));
            List.of(each.getStackTrace()).stream()
                    .filter(frame -> frame.getClassName().startsWith(OURS)).limit(MOST_FRAMES)
                    .forEach(frame -> text.append("        at ").append(frame).append('\n'));
        }
        return text.toString();
    }

    /** {@return how many cases have ended} */
    int cases() {
        return counts.values().stream().mapToInt(Integer::intValue).sum();
    }

    /** {@return whether a case has failed, or what holds for many of them} */
    boolean hasFailures() {
        return !failures.isEmpty();
    }

    /** Tells the failures in one block, and the counts. */
    void printSummary() {
        if (hasFailures()) {
            out.println("\nfailed:\n");
            failures.forEach(out::println);
        }
        out.println("\n" + cases() + " cases: " + count(Status.SUCCESSFUL) + " passed, "
                + count(Status.ABORTED) + " not supported, " + count(Status.FAILED)
                + " failed");
    }

    private int count(Status status) {
        return counts.getOrDefault(status, 0);
    }
}
