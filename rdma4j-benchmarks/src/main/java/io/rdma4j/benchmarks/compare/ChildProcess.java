// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.compare;

import java.io.BufferedReader;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/** A process of a trial; it is ended when it takes too long, when it is closed and when this one ends. */
final class ChildProcess implements AutoCloseable {
    private static final int KEPT_LINES = 10_000;
    private static final Duration GRACE = Duration.ofSeconds(5);
    private static final Set<Process> LIVING = ConcurrentHashMap.newKeySet();

    static {
        Runtime.getRuntime().addShutdownHook(
                new Thread(() -> LIVING.forEach(Process::destroyForcibly)));
    }

    private final String name;
    private final Process process;
    private final BufferedReader output;
    private final List<String> lines = new ArrayList<>();
    private final CompletableFuture<Void> watch;
    private volatile boolean isLate;

    private ChildProcess(String name, Process process, Duration limit) {
        this.name = name;
        this.process = process;
        output = process.inputReader();
        LIVING.add(process);
        Executor later = CompletableFuture.delayedExecutor(limit.toMillis(), TimeUnit.MILLISECONDS);
        watch = CompletableFuture.runAsync(() -> {
            isLate = true;
            process.destroyForcibly();
        }, later);
    }

    /** Starts a program; what it writes to standard error is read like its output. */
    static ChildProcess start(List<String> command, Map<String, String> environment,
            Duration limit) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().putAll(environment);
        return new ChildProcess(command.getFirst(), builder.start(), limit);
    }

    /** Reads until a line fits. {@return it} */
    String awaitLine(Predicate<String> wanted) throws IOException {
        while (true) {
            String line = output.readLine();
            if (line == null) {
                throw failure("ended");
            }
            keep(line);
            if (wanted.test(line)) {
                return line;
            }
        }
    }

    /** Writes a line to its standard input. */
    void send(String line) throws IOException {
        process.outputWriter().append(line).append('\n').flush();
    }

    /** Waits for its end, whatever its status. {@return all that it said} */
    List<String> awaitEnd() throws IOException {
        for (String line = output.readLine(); line != null; line = output.readLine()) {
            keep(line);
        }
        if (isLate) {
            throw failure("");
        }
        return lines;
    }

    /** Waits for its end. {@return all that it said} */
    List<String> awaitSuccess() throws IOException, InterruptedException {
        awaitEnd();
        int status = process.waitFor();
        if (status != 0) {
            throw failure("ended with status " + status);
        }
        return lines;
    }

    private void keep(String line) {
        if (lines.size() < KEPT_LINES) {
            lines.add(line);
        }
    }

    private IOException failure(String how) {
        String last = lines.isEmpty() ? "it said nothing" : String.join(" | ",
                lines.subList(Math.max(0, lines.size() - 3), lines.size()));
        return new IOException(name + (isLate ? " took too long" : " " + how) + ": " + last);
    }

    @Override
    public void close() {
        watch.cancel(false);
        try {
            // A server that is done ends by itself.
            if (!process.waitFor(GRACE.toMillis(), TimeUnit.MILLISECONDS)) {
                process.destroyForcibly().waitFor();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        } finally {
            LIVING.remove(process);
        }
    }

    /** Ends it at once. */
    void end() {
        process.destroyForcibly();
    }
}
