// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.stat;

import io.rdma4j.tools.output.Terminal;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

import javax.management.JMException;

/** Shows the counters of devices that other processes have open. */
@Command(name = "stat",
        description = "Show the counters of rdma4j devices that are open in running JVMs of"
                + " this user, under the names Linux uses, or their sockets.")
public final class Stat implements Callable<Integer> {
    private static final int NONE_FOUND = 1;

    @Parameters(index = "0", arity = "0..1", paramLabel = "PID",
            description = "Show this process only (default: all).")
    private @Nullable Long pid;

    @Option(names = "-d", paramLabel = "DEV",
            description = "Show this device only (default: all).")
    private @Nullable String device;

    @Option(names = "--qp", description = "Show each queue pair, too.")
    private boolean withPairs;

    @Option(names = "-a", description = "Show counters that are zero, too, and idle devices.")
    private boolean withZeros;

    @Option(names = "--sockets",
            description = "Show the sockets over RDMA instead, as ss -tin does those over TCP.")
    private boolean withSockets;

    @Option(names = "--json",
            description = "Print a JSON array of devices, with all counters, or of sockets, on one"
                    + " line.")
    private boolean isJson;

    @Option(names = "--prometheus",
            description = "Print all counters as Prometheus reads them, once.")
    private boolean isPrometheus;

    @Option(names = "--watch", paramLabel = "SECONDS",
            description = "Show them again every so often, with the time, what was added and how much that"
                    + " is a second, until the processes that were found first have ended.")
    private @Nullable Double watchSeconds;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    private Stat() {}

    @Override
    public Integer call() throws Exception {
        Double seconds = watchSeconds;
        if (seconds != null && !(seconds >= 0.01 && seconds <= 86_400)) {
            throw new ParameterException(spec.commandLine(),
                    "--watch takes from 0.01 to 86400 seconds, not " + seconds);
        }
        if (withSockets && (withPairs || withZeros)) {
            throw new ParameterException(spec.commandLine(),
                    "--sockets goes with neither --qp nor -a");
        }
        if (isPrometheus && (withSockets || isJson || seconds != null)) {
            throw new ParameterException(spec.commandLine(),
                    "--prometheus goes with neither --sockets, --json nor --watch");
        }
        try {
            return show(seconds);
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            return seconds == null ? NONE_FOUND : 0;
        }
    }

    private int show(@Nullable Double seconds) throws IOException, InterruptedException {
        List<WatchedProcess> processes = new ArrayList<>(
                pid == null ? WatchedProcess.all(this::leftOut) : List.of(WatchedProcess.of(pid)));
        try {
            return show(processes, seconds);
        } finally {
            processes.forEach(WatchedProcess::close);
        }
    }

    private void leftOut(@Nullable String why) {
        spec.commandLine().getErr().printf("stat: %s, and is left out%n", why);
    }

    private int show(List<WatchedProcess> processes, @Nullable Double seconds)
            throws InterruptedException {
        PrintWriter out = spec.commandLine().getOut();
        if (withSockets) {
            Consumer<List<SocketsReading>> printer = isJson
                    ? new SocketsJson(out)::print
                    : new SocketsText(out, Terminal.columns())::print;
            String what = device == null ? "a socket over RDMA" : "a connection over " + device;
            return show(processes, seconds, each -> each.readSockets(device), printer, what);
        }
        Consumer<List<ProcessReading>> printer;
        if (isPrometheus) {
            printer = new StatPrometheus(out, withPairs)::print;
        } else if (isJson) {
            printer = new StatJson(out, withPairs)::print;
        } else {
            printer = new StatText(out, Terminal.columns(), withZeros || device != null, withZeros,
                    withPairs)::print;
        }
        return show(processes, seconds, each -> each.read(device), printer,
                device == null ? "an rdma4j device" : device);
    }

    /** One look at a process. */
    private interface Look<R extends Reading> {
        /** {@return what it has open} */
        R at(WatchedProcess process) throws IOException, JMException;
    }

    /** @param what that which nobody has if there is nothing to show */
    private <R extends Reading> int show(List<WatchedProcess> processes, @Nullable Double seconds,
            Look<R> look, Consumer<List<R>> printer, String what) throws InterruptedException {
        Map<WatchedProcess, R> readings = read(processes, look);
        List<WatchedProcess> found = new ArrayList<>();
        readings.forEach((process, reading) -> {
            if (!reading.isEmpty()) {
                found.add(process);
            }
        });
        if (found.isEmpty()) {
            spec.commandLine().getErr().printf("stat: no running JVM of this user has %s open%n",
                    what);
            return NONE_FOUND;
        }
        printer.accept(List.copyOf(readings.values()));
        while (seconds != null) {
            awaitEnd(found, seconds);
            readings = read(processes, look);
            found.retainAll(processes);
            if (found.isEmpty()) {
                break;
            }
            if (!readings.isEmpty()) {
                printer.accept(List.copyOf(readings.values()));
            }
        }
        return 0;
    }

    /** Returns after a time, or when all processes have ended. */
    private static void awaitEnd(List<WatchedProcess> processes, double seconds)
            throws InterruptedException {
        long untilNs = System.nanoTime() + (long) (seconds * 1e9);
        for (WatchedProcess process : processes) {
            try {
                process.end().get(untilNs - System.nanoTime(), TimeUnit.NANOSECONDS);
            } catch (TimeoutException next) {
                return;
            } catch (ExecutionException e) {
                throw new IllegalStateException("the end of a process does not fail", e);
            }
        }
    }

    /** {@return what the processes have open that answer} Those that have ended are removed. */
    private <R extends Reading> Map<WatchedProcess, R> read(List<WatchedProcess> processes,
            Look<R> look) throws InterruptedException {
        Map<WatchedProcess, Question<R>> questions = new LinkedHashMap<>();
        for (WatchedProcess process : List.copyOf(processes)) {
            Question<R> question = process.ask(() -> look.at(process));
            if (question != null) {
                questions.put(process, question);
            } else if (process.end().isDone()) {
                processes.remove(process);
                process.close();
            }
        }
        Map<WatchedProcess, R> readings = new LinkedHashMap<>();
        for (Map.Entry<WatchedProcess, Question<R>> each : questions.entrySet()) {
            WatchedProcess process = each.getKey();
            try {
                readings.put(process, each.getValue().await());
            } catch (TimeoutException noAnswer) {
                leftOut(noAnswer.getMessage());
            } catch (ExecutionException e) {
                failed(process, e.getCause());
                processes.remove(process);
                process.close();
            }
        }
        return readings;
    }

    private void failed(WatchedProcess process, @Nullable Throwable why) {
        switch (why) {
            case IOException ended -> {}
            case JMException e -> spec.commandLine().getErr().printf(
                    "stat: process %d is of another version of rdma4j: %s%n", process.pid(),
                    e.getMessage());
            case null, default -> throw new IllegalStateException(
                    "process " + process.pid() + " could not be asked", why);
        }
    }
}
