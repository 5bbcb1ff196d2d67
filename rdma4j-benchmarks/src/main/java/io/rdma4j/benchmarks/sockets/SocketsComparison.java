// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.sockets;

import org.jspecify.annotations.Nullable;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/**
 * Runs each workload over TCP, over RDMA in memory and over RDMA over the network, in turns, and prints a table of the medians, and of
 * the medians of the ratios of each turn.
 */
final class SocketsComparison {
    /** Beside the warm-up. */
    private static final long SLACK_SECONDS = 60;
    private static final String MEASURED = "3";

    private static final int TCP = 0;

    /**
     * How the bytes of a process travel.
     *
     * @param variable the options of its JVM
     * @param classPath in front of that of the workloads; empty for none
     * @param isOurs false for one of others, which may have no result
     */
    private record Way(String title, String variable, String classPath, boolean isOurs) {}

    private final List<Way> ways;
    private final String warmUpSeconds;
    private final long longestSeconds;

    private SocketsComparison(String jar, String warmUpSeconds, @Nullable Way beside) {
        this.warmUpSeconds = warmUpSeconds;
        longestSeconds = SLACK_SECONDS + Long.parseLong(warmUpSeconds);
        String agent = "\"-javaagent:" + jar + "=rdma\" -Drdma4j.device=roce_lo";
        ways = new ArrayList<>(List.of(new Way("TCP", "", "", true),
                new Way("memory", agent + " -Drdma4j.loopback=shared", "", true),
                new Way("network", agent + " -Drdma4j.loopback=network", "", true)));
        if (beside != null) {
            ways.add(beside);
        }
    }

    /**
     * @param arguments the jar of rdma4j-sockets; the seconds of the warm-up; how many turns; of a way of others its name, class path and
     *        options of the JVM, empty without one; names of workloads, all without any
     */
    public static void main(String[] arguments) throws Exception {
        Way beside = arguments[3].isEmpty()
                ? null
                : new Way(arguments[3], arguments[5], arguments[4], false);
        SocketsComparison comparison = new SocketsComparison(arguments[0], arguments[1], beside);
        int turns = Integer.parseInt(arguments[2]);
        List<SocketWorkload> wanted;
        try {
            wanted = wanted(List.of(arguments).subList(6, arguments.length));
        } catch (IllegalArgumentException e) {
            System.err.println("benchmarks/sockets: " + e.getMessage());
            System.exit(2);
            return;
        }
        String name = beside == null ? "" : " " + beside.title() + " | : TCP |";
        System.out.println("| workload | TCP | RDMA, memory | RDMA, network | memory : TCP |"
                + " network : TCP |" + name + "\n|---|---|---|---|---|---|"
                + (beside == null ? "" : "---|---|"));
        for (SocketWorkload each : wanted) {
            comparison.compare(each, turns);
        }
    }

    /** {@return the workloads of some names, all without any} */
    static List<SocketWorkload> wanted(List<String> names) {
        return names.isEmpty()
                ? List.of(SocketWorkload.values())
                : names.stream().map(SocketWorkload::named).toList();
    }

    private void compare(SocketWorkload workload, int turns) throws Exception {
        double[][] figures = new double[ways.size()][turns];
        for (int turn = 0; turn < turns; turn++) {
            for (int way = 0; way < ways.size(); way++) {
                // Over RDMA Netty has the JVM's channels.
                SocketWorkload run = workload == SocketWorkload.NETTY_EPOLL && way > TCP
                        ? SocketWorkload.NETTY
                        : workload;
                figures[way][turn] = figure(run, ways.get(way));
            }
        }
        System.out.printf(Locale.ROOT, "| %s | %s %s | %s | %s | %s | %s |%s%n", workload.title,
                text(median(figures[TCP])), workload.unit, text(median(figures[1])),
                text(median(figures[2])), ratio(figures, 1, workload.inMemory, workload),
                ratio(figures, 2, workload.overNetwork, workload), beside(figures));
    }

    private String beside(double[][] figures) {
        if (ways.getLast().isOurs()) {
            return "";
        }
        int last = figures.length - 1;
        double figure = median(figures[last]);
        return Double.isNaN(figure)
                ? " no result | |"
                : String.format(Locale.ROOT, " %s | %.2f |", text(figure), ratio(figures, last));
    }

    private static String ratio(double[][] figures, int way, double wanted,
            SocketWorkload workload) {
        return String.format(Locale.ROOT, "%.2f of %s %.1f", ratio(figures, way),
                workload.isMoreBetter ? "≥" : "≤", wanted);
    }

    /** {@return a way's part of TCP's figure, the median of all turns} */
    private static double ratio(double[][] figures, int way) {
        double[] ratios = new double[figures[TCP].length];
        Arrays.setAll(ratios, turn -> figures[way][turn] / figures[TCP][turn]);
        return median(ratios);
    }

    private static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1
                ? sorted[middle]
                : (sorted[middle - 1] + sorted[middle]) / 2;
    }

    private static String text(double value) {
        return String.format(Locale.ROOT, value < 100 ? "%.1f" : "%,.0f", value);
    }

    /** {@return the figure of a workload, not a number if a way of others has no result} */
    private double figure(SocketWorkload workload, Way way) throws Exception {
        try {
            return measure(workload, way);
        } catch (IllegalStateException noResult) {
            if (way.isOurs()) {
                throw noResult;
            }
            return Double.NaN;
        }
    }

    private double measure(SocketWorkload workload, Way way) throws Exception {
        Process server = start(way, workload.name());
        try {
            String port = line(server, "port ");
            Process client = start(way, workload.name(), port, warmUpSeconds, MEASURED);
            try {
                double result = Double.parseDouble(line(client, "result "));
                if (!client.waitFor(longestSeconds, TimeUnit.SECONDS)) {
                    throw new IllegalStateException("the client does not end");
                }
                return result;
            } finally {
                client.destroyForcibly().waitFor();
            }
        } finally {
            server.destroyForcibly().waitFor();
        }
    }

    private static Process start(Way way, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC", "-Xms256m", "-Xmx1g", "-cp",
                classPath(way), SocketEnd.class.getName()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.DISCARD);
        builder.environment().remove("JDK_JAVA_OPTIONS");
        if (!way.variable().isEmpty()) {
            builder.environment().put("JDK_JAVA_OPTIONS", way.variable());
        }
        return builder.start();
    }

    private static String classPath(Way way) {
        String workloads = System.getProperty("java.class.path");
        return way.classPath().isEmpty()
                ? workloads
                : way.classPath() + File.pathSeparator + workloads;
    }

    /** {@return what follows a word at the beginning of a line} The end of a process ends the wait, and so does a limit. */
    private String line(Process process, String word) {
        Thread limit = Thread.ofVirtual().start(() -> {
            try {
                Thread.sleep(TimeUnit.SECONDS.toMillis(longestSeconds));
                process.destroyForcibly();
            } catch (InterruptedException e) {
                // It has said it.
            }
        });
        BufferedReader lines = new BufferedReader(
                new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        try {
            return lines.lines().filter(line -> line.startsWith(word)).findFirst()
                    .map(line -> line.substring(word.length()))
                    .orElseThrow(() -> new IllegalStateException(
                            "a process has ended without " + word));
        } finally {
            limit.interrupt();
        }
    }
}
