// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.compare;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;

/** The command {@code benchmarks/compare}. */
@Command(name = "compare", sortOptions = false, usageHelpAutoWidth = true,
        description = "Measures rdma4j side by side with what a user would take instead: all in one run, in "
                + "turn, repeated; prints medians, their spread and the ratios that are sought.")
public final class Compare implements Callable<Integer> {
    /** Seen from the clone, where the launcher starts it. */
    private static final Path DOCUMENTS = Path.of("docs", "evidence", "performance");
    private static final double QUICK_WARM_UP = 1.5;
    private static final double QUICK = 1;
    private static final double FULL_WARM_UP = 3;
    private static final double FULL = 3;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this help and exit.")
    @SuppressWarnings("unused")
    private boolean isHelp;

    @Option(names = "--repeats", paramLabel = "N",
            description = "How often each is measured (5; with --quick 3). Where a host moves the "
                    + "processors of a virtual machine apart, more often, until it was as often near.")
    private int repeats;

    @Option(names = "--quick", description = "Short times, fewer variants: some ten minutes.")
    private boolean isQuick;

    @Option(names = "--only", paramLabel = "REGEX",
            description = "Measure what has this in its name; --list lists the names.")
    private @Nullable Pattern only;

    @Option(names = "--seconds", paramLabel = "S", description = "How long each counts.")
    private @Nullable Double seconds;

    @Option(names = "--warm-up", paramLabel = "S",
            description = "How long each runs before it counts.")
    private @Nullable Double warmUpSeconds;

    @Option(names = "--output", paramLabel = "DIR",
            description = "Write compare.md, compare.json and plots there (docs/evidence/performance for a run"
                    + " of everything, otherwise nowhere).")
    private @Nullable Path output;

    @Option(names = "--note", paramLabel = "TEXT",
            description = "Something to say about this run, such as what else the machine did.")
    private @Nullable String note;

    @Option(names = "--list", description = "List what can be measured, and what cannot here.")
    private boolean isListing;

    /** Called by the command line. */
    public Compare() {}

    @Override
    public Integer call() throws IOException, InterruptedException {
        double warmUp = warmUpSeconds != null ? warmUpSeconds
                : isQuick ? QUICK_WARM_UP : FULL_WARM_UP;
        double counting = seconds != null ? seconds : isQuick ? QUICK : FULL;
        List<Trial> trials = new ArrayList<>(
                new Catalogue(isQuick, warmUp, counting).trials());
        Pattern wanted = only;
        if (wanted != null) {
            trials.removeIf(trial -> !wanted.matcher(trial.id()).find());
        }
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        Session session = new Session(trials, out, new CoreDistance());
        if (isListing) {
            trials.forEach(trial -> out.printf("%-28s %s: %s%s%n", trial.id(), trial.peer(),
                    trial.work(), session.obstacle(trial.id()).map(why -> " — " + why).orElse("")));
            return 0;
        }
        Map<String, String> facts = Machine.describe();
        int rounds = repeats > 0 ? repeats : isQuick ? 3 : 5;
        session.run(rounds);
        facts.put("load after", Machine.load());
        session.bystanders().share().ifPresent(share -> facts.put("busy with something else",
                String.format("%.0f %% of the processors, before the trials", 100 * share)));
        facts.put("rounds", rounds + ", each counted for " + counting + " s after " + warmUp
                + " s that were not");
        session.distances().ifPresent(words -> facts.put("distance of processors", words));
        if (note != null) {
            facts.put("note", note);
        }
        String report = report(session, facts);
        out.println();
        out.println(report);
        Path folder = folder();
        if (folder != null) {
            Files.createDirectories(folder);
            Files.writeString(folder.resolve("compare.md"), "# A run of `benchmarks/compare`\n\n"
                    + report);
            Files.writeString(folder.resolve("compare.json"), SessionJson.of(session, facts));
            Plots.write(session, folder);
            out.println("written to " + folder);
        }
        return 0;
    }

    /** {@return where the run is kept; null for nowhere} */
    private @Nullable Path folder() {
        if (output != null) {
            return output;
        }
        return isQuick || only != null ? null : DOCUMENTS;
    }

    private static String report(Session session, Map<String, String> facts) {
        String obstacles = Tables.obstacles(session);
        String objection = session.bystanders().objection().map(words -> words + "\n\n").orElse("");
        return objection + Tables.facts(facts) + "\n## Ratios\n\n" + Tables.goals(session)
                + "\n## Figures\n\n"
                + Tables.figures(session) + service(session)
                + (obstacles.isEmpty() ? ""
                        : "\n## Not measured, or not in every round\n\n" + obstacles);
    }

    private static String service(Session session) {
        String figures = Tables.service(session);
        return figures.isEmpty() ? ""
                : "\n## Service, operations a second of all clients\n\n" + figures;
    }
}
