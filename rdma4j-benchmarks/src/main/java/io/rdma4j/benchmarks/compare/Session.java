// SPDX-License-Identifier: Apache-2.0
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
import java.util.function.Predicate;

/**
 * Trials in turn, round after round, and what they gave. One thread.
 *
 * <p>Where the processors are moved ({@link CoreDistance}), results of one place are compared with each other: those of
 * processors that share a cache, if there are any.
 */
final class Session {
    /** How many times the rounds there may be until each trial has met near processors as often as wanted. */
    private static final int PATIENCE = 3;

    /** How far apart the processors are. */
    @FunctionalInterface
    interface Distance {
        /** {@return nanoseconds} */
        double measureNs() throws InterruptedException;

        /** Waits a moment until they are near. {@return nanoseconds, more than near if they did not come} */
        default double settleNs() throws InterruptedException {
            return measureNs();
        }
    }

    private final List<Trial> trials;
    private final Distance distance;
    private final PrintStream progress;
    private final Map<String, List<Result>> results = new LinkedHashMap<>();
    private final Map<String, String> obstacles = new LinkedHashMap<>();
    private final Bystanders bystanders = new Bystanders();

    Session(List<Trial> trials, PrintStream progress, Distance distance) {
        this.trials = trials;
        this.distance = distance;
        this.progress = progress;
        for (Trial trial : trials) {
            results.put(trial.id(), new ArrayList<>());
            trial.runner().obstacle().ifPresent(why -> obstacles.put(trial.id(), why));
        }
    }

    /**
     * Runs every trial once a round, and those once more that met processors far apart. Every other round goes backwards,
     * so that none always follows the same.
     */
    void run(int rounds) throws InterruptedException {
        for (int round = 1; round <= PATIENCE * rounds; round++) {
            for (Trial trial : round % 2 == 1 ? trials : trials.reversed()) {
                if (trial.runner().obstacle().isEmpty()
                        && (round <= rounds || isWanted(trial, rounds))) {
                    run(trial, round, rounds);
                }
            }
        }
    }

    private boolean isWanted(Trial trial, int rounds) {
        List<Result> all = resultsOf(trial.id());
        long near = all.stream().filter(Result::isNear).count();
        return near < rounds && near < all.size();
    }

    private void run(Trial trial, int round, int rounds) throws InterruptedException {
        progress.printf("%-5s %-28s ", round <= rounds ? round + "/" + rounds : "again",
                trial.id());
        progress.flush();
        bystanders.look();
        try {
            double beforeNs = distance.settleNs();
            Figures result = trial.runner().run();
            Optional<Double> value = result.value(trial.chief());
            if (value.isEmpty()) {
                throw new IOException("it said no " + trial.chief());
            }
            Result placed = new Result(result, beforeNs, distance.measureNs());
            resultsOf(trial.id()).add(placed);
            progress.println(Text.value(trial.chief(), value.get()) + (placed.isNear() ? ""
                    : placed.isFar() ? ", processors far apart" : ", processors moved"));
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

    /** {@return what a trial gave with near processors, or at all if there were no near ones} */
    Optional<Samples> samples(String id, Quantity quantity) {
        boolean hasNear = resultsOf(id).stream().anyMatch(Result::isNear);
        return samples(id, quantity, each -> !hasNear || each.isNear());
    }

    /** {@return what a trial gave with processors far apart, if it met such} */
    Optional<Samples> samplesFar(String id, Quantity quantity) {
        return samples(id, quantity, Result::isFar);
    }

    private Optional<Samples> samples(String id, Quantity quantity, Predicate<Result> counts) {
        List<Double> values = new ArrayList<>();
        for (Result each : resultsOf(id)) {
            if (counts.test(each)) {
                each.figures().value(quantity).ifPresent(values::add);
            }
        }
        return values.isEmpty() ? Optional.empty() : Optional.of(new Samples(values));
    }

    /** {@return whether any trial met processors far apart} */
    boolean hasFar() {
        return results.values().stream().flatMap(List::stream).anyMatch(Result::isFar);
    }

    /** {@return how far apart the processors were, in words, if that changed} */
    Optional<String> distances() {
        List<Result> all = results.values().stream().flatMap(List::stream).toList();
        List<Double> near = all.stream().filter(Result::isNear).map(Result::afterNs).toList();
        List<Double> far = all.stream().filter(Result::isFar).map(Result::afterNs).toList();
        if (near.isEmpty() || near.size() == all.size()) {
            return Optional.empty();
        }
        return Optional.of(String.format(
                "a cache line there and back %.0f ns in %d trials, which count; %s%d trials in which that "
                        + "changed do not",
                new Samples(near).median(), near.size(),
                far.isEmpty() ? ""
                        : String.format("%.0f ns in %d, which are told apart; ",
                                new Samples(far).median(), far.size()),
                all.size() - near.size() - far.size()));
    }

    /** {@return what a trial gave each time} */
    List<Result> resultsOf(String id) {
        List<Result> found = results.get(id);
        return found == null ? List.of() : found;
    }

    /** {@return the trial of a name, if it is part of this} */
    Optional<Trial> trial(String id) {
        return trials.stream().filter(trial -> trial.id().equals(id)).findFirst();
    }
}
