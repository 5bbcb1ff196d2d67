// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.testkit;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The results of runs of the suite as a document that is the same whenever the results are. Thread safe. */
final class ConformanceReport {
    private static final String HEAD = """
            # Conformance

            What a device of rdma4j must do, tested by `rdma4j-testkit` through the interface alone. A run of the whole suite
            writes this file; nothing in it is written by hand. `mvn verify` writes that of the
            [software devices](conformance.md), and `interop/native conformance --record` those of Linux's
            [rxe](conformance-rxe.md) and [siw](conformance-siw.md).

            Many cases were written after a test of rdma-core's or after a fault of roce-sim (`ConformanceCase` names it); they are
            not these tests, and say nothing of them. rdma-core's own tests, unchanged, have [results of their own](pyverbs.md).

            A row is a run of its own: a device, what its packets travel over, and who connects the queue pairs.
            Faults need a wire that loses packets as told, so they run on a simulated network alone.

            A case that is *required* must pass; the device's
            [profile](../../rdma4j-testkit/src/main/resources/io/rdma4j/testkit/cases.txt) says which. An *optional* one may be
            *not supported*, and the reason stands with it. *Accepted, no effect* is what the device takes and
            works with, while nothing shows that it does anything about it; such a case counts neither as passed
            nor as failed.

            """;

    private final Map<ConformanceRun, Map<String, Result>> runs = new LinkedHashMap<>();

    /** How a case ended. */
    enum Outcome {
        PASSED("passed", ""),
        WITHOUT_EFFECT("accepted, no effect",
                "accepted without effect"),
        NOT_SUPPORTED("not supported",
                "not supported"),
        FAILED("**failed**", "failed");

        private final String text;
        private final String counted;

        Outcome(String text, String counted) {
            this.text = text;
            this.counted = counted;
        }
    }

    private record Result(Outcome outcome, String reason) {
        String text() {
            return reason.isEmpty() ? outcome.text : outcome.text + ": " + reason;
        }
    }

    /** Says that runs belong into the report, in this order. */
    synchronized void expect(List<ConformanceRun> expected) {
        expected.forEach(each -> runs.computeIfAbsent(each, run -> new HashMap<>()));
    }

    /** Notes how a test ended in a run; a test that is repeated has the worst of its results. */
    synchronized void add(ConformanceRun run, String test, Outcome outcome, String reason) {
        Result result = new Result(outcome, reason.lines().findFirst().orElse(""));
        runs.computeIfAbsent(run, each -> new HashMap<>()).merge(test, result,
                (first, second) -> second.outcome.compareTo(first.outcome) > 0 ? second : first);
    }

    /** {@return whether every run has met all cases of its classes} */
    synchronized boolean isComplete() {
        return !runs.isEmpty() && runs.entrySet().stream()
                .allMatch(each -> each.getValue().keySet().containsAll(ConformanceEntry
                        .of(each.getKey().classes()).stream().map(ConformanceEntry::test)
                        .toList()));
    }

    /** {@return the document} */
    synchronized String text() {
        StringBuilder text = new StringBuilder(HEAD);
        text.append("| device | path | profile | required | optional |\n|---|---|---|---|---|\n");
        runs.forEach((run, results) -> text.append("| ").append(run.device()).append(" | ")
                .append(run.path()).append(" | ").append(run.profile().text()).append(" | ")
                .append(total(run, results, true)).append(" | ")
                .append(total(run, results, false)).append(" |\n"));
        runs.forEach((run, results) -> appendRun(text, run, results));
        return text.toString();
    }

    private static String total(ConformanceRun run, Map<String, Result> results,
            boolean isRequired) {
        List<Result> ofKind = ConformanceEntry.of(run.classes()).stream()
                .filter(each -> run.profile().requires(each.test()) == isRequired)
                .map(each -> result(results, each)).toList();
        if (ofKind.isEmpty()) {
            return "none";
        }
        StringBuilder total = new StringBuilder();
        total.append(count(ofKind, Outcome.PASSED)).append(" of ").append(ofKind.size());
        for (Outcome outcome : Outcome.values()) {
            long count = count(ofKind, outcome);
            if (outcome != Outcome.PASSED && count > 0) {
                total.append(", ").append(count).append(' ').append(outcome.counted);
            }
        }
        return total.toString();
    }

    private static long count(List<Result> results, Outcome outcome) {
        return results.stream().filter(each -> each.outcome == outcome).count();
    }

    private static Result result(Map<String, Result> results, ConformanceEntry entry) {
        Result result = results.get(entry.test());
        if (result == null) {
            throw new IllegalStateException("no result of " + entry.test());
        }
        return result;
    }

    private static void appendRun(StringBuilder text, ConformanceRun run,
            Map<String, Result> results) {
        text.append("\n## ").append(run.device()).append(", ").append(run.path())
                .append("\n\n| case | | result |\n|---|---|---|\n");
        for (ConformanceEntry entry : ConformanceEntry.of(run.classes())) {
            text.append("| `").append(entry.test()).append("` | ")
                    .append(run.profile().requires(entry.test()) ? "required" : "optional")
                    .append(" | ").append(result(results, entry).text().replace("|", "\\|"))
                    .append(" |\n");
        }
    }
}
