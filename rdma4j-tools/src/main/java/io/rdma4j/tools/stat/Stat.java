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
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
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
        List<WatchedProcess> processes = new ArrayList<>(
                pid == null ? WatchedProcess.all(this::leftOut) : List.of(WatchedProcess.of(pid)));
        try {
            return show(processes, seconds);
        } finally {
            for (WatchedProcess process : processes) {
                close(process);
            }
        }
    }

    private void leftOut(String why) {
        spec.commandLine().getErr().printf("stat: %s, and is left out%n", why);
    }

    private int show(List<WatchedProcess> processes, @Nullable Double seconds)
            throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        if (withSockets) {
            Consumer<List<SocketsReading>> printer = isJson
                    ? new SocketsJson(out)::print
                    : new SocketsText(out, Terminal.columns())::print;
            String what = device == null ? "a socket over RDMA" : "a connection over " + device;
            return show(processes, seconds, this::sockets, printer, what);
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
        return show(processes, seconds, this::devices, printer,
                device == null ? "an rdma4j device" : device);
    }

    private @Nullable ProcessReading devices(WatchedProcess process)
            throws IOException, JMException {
        ProcessReading reading = process.read(device);
        return reading.devices().isEmpty() ? null : reading;
    }

    private @Nullable SocketsReading sockets(WatchedProcess process)
            throws IOException, JMException {
        SocketsReading reading = process.readSockets(device);
        return reading.isEmpty() ? null : reading;
    }

    /** One look at a process. */
    private interface Look<R> {
        /** {@return what it has open, null for nothing} */
        @Nullable
        R at(WatchedProcess process) throws IOException, JMException;
    }

    /** @param what that which nobody has if there is nothing to show */
    private <R> int show(List<WatchedProcess> processes, @Nullable Double seconds, Look<R> look,
            Consumer<List<R>> printer, String what) throws IOException {
        List<R> readings = read(processes, look);
        if (readings.isEmpty()) {
            spec.commandLine().getErr().printf("stat: no running JVM of this user has %s open%n",
                    what);
            return NONE_FOUND;
        }
        while (!readings.isEmpty()) {
            printer.accept(readings);
            if (seconds == null) {
                return 0;
            }
            if (!hasTimePassed(processes, seconds)) {
                return 0;
            }
            readings = read(processes, look);
        }
        return 0;
    }

    /** {@return false if the watch was interrupted} It ends early when there is nothing left to watch. */
    private static boolean hasTimePassed(List<WatchedProcess> processes, double seconds) {
        CompletableFuture<Void> end = CompletableFuture.allOf(
                processes.stream().map(WatchedProcess::end).toArray(CompletableFuture<?>[]::new));
        try {
            end.get((long) (seconds * 1e9), TimeUnit.NANOSECONDS);
            return true;
        } catch (TimeoutException next) {
            return true;
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            return false;
        } catch (ExecutionException e) {
            throw new IllegalStateException("the end of a process does not fail", e);
        }
    }

    /** {@return what the processes have open; those that have ended are removed} */
    private <R> List<R> read(List<WatchedProcess> processes, Look<R> look) {
        List<R> readings = new ArrayList<>();
        for (WatchedProcess process : List.copyOf(processes)) {
            try {
                R reading = look.at(process);
                if (reading != null) {
                    readings.add(reading);
                }
            } catch (IOException ended) {
                processes.remove(process);
                close(process);
            } catch (JMException e) {
                spec.commandLine().getErr().printf(
                        "stat: process %d is of another version of rdma4j: %s%n", process.pid(),
                        e.getMessage());
                processes.remove(process);
                close(process);
            }
        }
        return readings;
    }

    private static void close(WatchedProcess process) {
        try {
            process.close();
        } catch (IOException gone) {
            // It has ended before us.
        }
    }
}
