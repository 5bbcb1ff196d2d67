package io.rdma4j.testkit;

import io.rdma4j.testkit.ConformanceCase.Kind;
import io.rdma4j.testkit.ConformanceSuite.Entry;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The results of a run as a document that is the same whenever the results are. Thread safe. */
final class ConformanceReport {
    private static final String HEAD = """
            # Conformance

            The cases of rdma-core's own test-suite that depend on no vendor's device, and the faults of
            roce-sim, as `rdma4j-testkit` tests them through the interface alone. A run of the whole suite
            (`mvn verify`) writes this file; nothing in it is written by hand.

            """;

    private final Map<String, Map<String, Result>> devices = new TreeMap<>();

    /** How a case ended. */
    enum Outcome {
        PASSED("passed"), NOT_SUPPORTED("not supported"), FAILED("**failed**");

        private final String text;

        Outcome(String text) {
            this.text = text;
        }
    }

    private record Result(Outcome outcome, String reason) {
        String text() {
            return reason.isEmpty() ? outcome.text : outcome.text + ": " + reason;
        }
    }

    /** Notes how a test ended on a device; the last time counts. */
    synchronized void add(String device, String test, Outcome outcome, String reason) {
        devices.computeIfAbsent(device, name -> new HashMap<>()).put(test,
                new Result(outcome, reason.lines().findFirst().orElse("")));
    }

    /** {@return whether every device that took part met every case} */
    synchronized boolean isComplete() {
        List<String> tests = ConformanceSuite.entries().stream().map(Entry::test).toList();
        return !devices.isEmpty()
                && devices.values().stream().allMatch(each -> each.keySet().containsAll(tests));
    }

    /** {@return the document} */
    synchronized String text() {
        StringBuilder text = new StringBuilder(HEAD);
        text.append("| device | required | optional | faults |\n|---|---|---|---|\n");
        devices.forEach((device, results) -> text.append("| ").append(device).append(" | ")
                .append(total(results, Kind.REQUIRED)).append(" | ")
                .append(total(results, Kind.OPTIONAL)).append(" | ")
                .append(total(results, Kind.FAULT)).append(" |\n"));
        devices.forEach((device, results) -> appendDevice(text, device, results));
        return text.toString();
    }

    private static String total(Map<String, Result> results, Kind kind) {
        List<Result> ofKind = ConformanceSuite.entries().stream()
                .filter(each -> each.conformanceCase().kind() == kind)
                .map(each -> result(results, each)).toList();
        StringBuilder total = new StringBuilder();
        total.append(count(ofKind, Outcome.PASSED)).append(" of ").append(ofKind.size());
        long unsupported = count(ofKind, Outcome.NOT_SUPPORTED);
        if (unsupported > 0) {
            total.append(", ").append(unsupported).append(" not supported");
        }
        long failed = count(ofKind, Outcome.FAILED);
        if (failed > 0) {
            total.append(", ").append(failed).append(" failed");
        }
        return total.toString();
    }

    private static long count(List<Result> results, Outcome outcome) {
        return results.stream().filter(each -> each.outcome == outcome).count();
    }

    private static Result result(Map<String, Result> results, Entry entry) {
        Result result = results.get(entry.test());
        if (result == null) {
            throw new IllegalStateException("no result of " + entry.test());
        }
        return result;
    }

    private static void appendDevice(StringBuilder text, String device,
            Map<String, Result> results) {
        text.append("\n## ").append(device)
                .append("\n\n| file | case | | result | test |\n|---|---|---|---|---|\n");
        for (Entry entry : ConformanceSuite.entries()) {
            ConformanceCase known = entry.conformanceCase();
            text.append("| ").append(known.file()).append(" | ").append(known.name())
                    .append(" | ").append(known.kind().text()).append(" | ")
                    .append(result(results, entry).text().replace("|", "\\|")).append(" | `")
                    .append(entry.test()).append("` |\n");
        }
    }
}
