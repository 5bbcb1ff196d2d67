// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.compare;

import io.rdma4j.benchmarks.workload.Quantity;
import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What a session gave, as text that reads well and is Markdown. */
final class Tables {
    private Tables() {}

    static String goals(Session session) {
        List<List<String>> rows = new ArrayList<>();
        boolean hasFar = session.hasFar();
        rows.add(row(List.of("what", "sought", "measured", "met"), hasFar ? "far apart" : null));
        for (Goal goal : Goals.all()) {
            if (session.trial(goal.trial()).isEmpty()) {
                continue;
            }
            Optional<Double> measured = goal.measured(session);
            String met = measured.map(value -> goal.isMetBy(value) ? "yes" : "**no**")
                    .orElse("");
            String far = goal.measuredFar(session).map(goal::shown).orElse("");
            rows.add(row(List.of(goal.what(), goal.sought(),
                    measured.map(goal::shown).orElse("not measured"), met), hasFar ? far : null));
        }
        return table(rows);
    }

    private static List<String> row(List<String> cells, @Nullable String last) {
        List<String> row = new ArrayList<>(cells);
        if (last != null) {
            row.add(last);
        }
        return row;
    }

    static String figures(Session session) {
        List<List<String>> rows = new ArrayList<>();
        boolean hasFar = session.hasFar();
        rows.add(row(List.of("who", "what", "median", "least to most", "99th percentile",
                "B allocated an operation"), hasFar ? "far apart" : null));
        for (Trial trial : session.trials()) {
            Optional<Samples> chief = session.samples(trial.id(), trial.chief());
            if (chief.isEmpty() || isOfService(trial)) {
                continue;
            }
            Quantity unit = trial.chief();
            Samples samples = chief.get();
            String far = session.samplesFar(trial.id(), unit)
                    .map(all -> Text.number(unit, all.median())).orElse("");
            rows.add(row(List.of(trial.peer(), trial.work(), Text.value(unit, samples.median()),
                    Text.number(unit, samples.least()) + " – "
                            + Text.number(unit, samples.most()),
                    median(session, trial, Quantity.LATENCY_99_NS),
                    median(session, trial, Quantity.ALLOCATED_BYTES)), hasFar ? far : null));
        }
        return table(rows);
    }

    /** {@return the figures of the service, empty if none was measured} */
    static String service(Session session) {
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("who", "what", "first 5 s", "first 10 s", "first 20 s", "warm",
                "least to most", "beside it by TCP", "99th percentile, µs",
                "processor time an operation, µs"));
        for (Trial trial : session.trials()) {
            Optional<Samples> chief = session.samples(trial.id(), trial.chief());
            if (chief.isEmpty() || !isOfService(trial)) {
                continue;
            }
            Samples samples = chief.get();
            rows.add(List.of(trial.peer(), trial.work(),
                    median(session, trial, Quantity.FIRST_5_S_PER_SECOND),
                    median(session, trial, Quantity.FIRST_10_S_PER_SECOND),
                    median(session, trial, Quantity.FIRST_20_S_PER_SECOND),
                    Text.number(trial.chief(), samples.median()),
                    Text.number(trial.chief(), samples.least()) + " – "
                            + Text.number(trial.chief(), samples.most()),
                    median(session, trial, Quantity.WARM_BESIDE_PER_SECOND),
                    median(session, trial, Quantity.LATENCY_99_NS),
                    median(session, trial, Quantity.CPU_NS)));
        }
        return rows.size() == 1 ? "" : table(rows);
    }

    private static boolean isOfService(Trial trial) {
        return trial.chief() == Quantity.WARM_PER_SECOND;
    }

    private static String median(Session session, Trial trial, Quantity quantity) {
        return session.samples(trial.id(), quantity)
                .map(samples -> Text.number(quantity, samples.median())).orElse("");
    }

    static String obstacles(Session session) {
        StringBuilder lines = new StringBuilder();
        for (Trial trial : session.trials()) {
            session.obstacle(trial.id()).ifPresent(why -> lines.append("- ").append(trial.id())
                    .append(" (").append(trial.peer()).append("): ").append(why).append('\n'));
        }
        return lines.toString();
    }

    static String facts(Map<String, String> facts) {
        StringBuilder lines = new StringBuilder();
        facts.forEach((name, value) -> lines.append("- ").append(name).append(": ").append(value)
                .append('\n'));
        return lines.toString();
    }

    private static String table(List<List<String>> rows) {
        int columns = rows.getFirst().size();
        int[] widths = new int[columns];
        for (List<String> row : rows) {
            for (int i = 0; i < columns; i++) {
                widths[i] = Math.max(widths[i], row.get(i).length());
            }
        }
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < rows.size(); i++) {
            append(text, rows.get(i), widths);
            if (i == 0) {
                for (int width : widths) {
                    text.append('|').append("-".repeat(width + 2));
                }
                text.append("|\n");
            }
        }
        return text.toString();
    }

    private static void append(StringBuilder text, List<String> row, int[] widths) {
        for (int i = 0; i < widths.length; i++) {
            text.append("| ").append(row.get(i))
                    .append(" ".repeat(widths[i] - row.get(i).length() + 1));
        }
        text.append("|\n");
    }
}
