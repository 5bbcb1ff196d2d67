package io.rdma4j.benchmarks.compare;

import io.rdma4j.benchmarks.workload.Figures;
import io.rdma4j.benchmarks.workload.Quantity;

import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Trials in turn, round after round, and what they gave. One thread. */
final class Session {
    private final List<Trial> trials;
    private final PrintStream progress;
    private final Map<String, List<Figures>> figures = new LinkedHashMap<>();
    private final Map<String, String> obstacles = new LinkedHashMap<>();
    private final Bystanders bystanders = new Bystanders();

    Session(List<Trial> trials, PrintStream progress) {
        this.trials = trials;
        this.progress = progress;
        for (Trial trial : trials) {
            figures.put(trial.id(), new ArrayList<>());
            trial.runner().obstacle().ifPresent(why -> obstacles.put(trial.id(), why));
        }
    }

    /**
     * Runs every trial once a round. Every other round goes backwards, so that none always follows the same.
     */
    void run(int rounds) throws InterruptedException {
        for (int round = 1; round <= rounds; round++) {
            for (Trial trial : round % 2 == 1 ? trials : trials.reversed()) {
                if (trial.runner().obstacle().isEmpty()) {
                    run(trial, round, rounds);
                }
            }
        }
    }

    private void run(Trial trial, int round, int rounds) throws InterruptedException {
        progress.printf("%d/%d %-28s ", round, rounds, trial.id());
        progress.flush();
        bystanders.look();
        try {
            Figures result = trial.runner().run();
            Optional<Double> value = result.value(trial.chief());
            if (value.isEmpty()) {
                throw new IOException("it said no " + trial.chief());
            }
            figuresOf(trial.id()).add(result);
            progress.println(Text.value(trial.chief(), value.get()));
        } catch (IOException e) {
            obstacles.put(trial.id(), "round " + round + " failed: " + e.getMessage());
            progress.println("failed: " + e.getMessage());
        }
    }

    /** {@return what else was seen to run} */
    Bystanders bystanders() {
        return bystanders;
    }

    List<Trial> trials() {
        return trials;
    }

    /** {@return why a trial was skipped, or how it failed} */
    Optional<String> obstacle(String id) {
        return Optional.ofNullable(obstacles.get(id));
    }

    /** {@return what the repetitions of a trial gave, if it was run} */
    Optional<Samples> samples(String id, Quantity quantity) {
        List<Double> values = new ArrayList<>();
        for (Figures each : figuresOf(id)) {
            each.value(quantity).ifPresent(values::add);
        }
        return values.isEmpty() ? Optional.empty() : Optional.of(new Samples(values));
    }

    /** {@return what a trial gave in each round} */
    List<Figures> figuresOf(String id) {
        List<Figures> found = figures.get(id);
        return found == null ? List.of() : found;
    }

    /** {@return the trial of a name, if it is part of this} */
    Optional<Trial> trial(String id) {
        return trials.stream().filter(trial -> trial.id().equals(id)).findFirst();
    }
}
