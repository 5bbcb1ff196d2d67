// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.compare;

import io.rdma4j.benchmarks.workload.Figures;
import io.rdma4j.benchmarks.workload.Quantity;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Programs as their users start them: how each is called, and what its words mean. */
final class Tools {
    private static final Map<String, String> UCX_OVER_TCP = Map.of("UCX_TLS", "tcp",
            "UCX_NET_DEVICES", "lo");
    private static final Map<String, String> UCX_IN_MEMORY = Map.of("UCX_TLS", "posix,self");
    private static final Pattern RECEIVED = Pattern.compile(
            "\"sum_received\":.*?\"bits_per_second\":\\s*([0-9.e+]+)", Pattern.DOTALL);
    /** The columns of ucx_perftest's line of values. */
    private static final int UCX_COLUMNS = 8;
    private static final int UCX_MEDIAN_US = 1;
    private static final int UCX_MESSAGES = 7;
    /** perftest calls so many bytes 1 MB. */
    private static final int PERFTEST_MB = 1 << 20;
    /** What each measures a second, roughly; they count messages, not time. */
    private static final int UCX_PUTS = 1_000;
    private static final int UCX_ROUNDS = 80_000;
    private static final int UCX_MEMORY_MESSAGES = 8_000;
    private static final int UCX_MEMORY_ROUNDS = 1_000_000;
    private static final int FABRIC_ROUNDS = 20_000;
    /** Bytes and iterations, with which the line of values begins, and columns of it. */
    private static final Pattern OWN_FIRST_COLUMNS = Pattern
            .compile("\\s*[0-9]+\\s+[0-9]+\\s+[0-9]");
    private static final int OWN_AVERAGE = 3;
    private static final int OWN_TYPICAL = 4;

    private Tools() {}

    /** {@return the environment that keeps UCX to TCP on loopback} */
    static Map<String, String> ucxOverTcp() {
        return UCX_OVER_TCP;
    }

    /** iperf3 with writes of 1 MiB; more arguments choose the congestion control. */
    static Runner iperf(double warmUpSeconds, double seconds, String... more) {
        List<String> client = new ArrayList<>(List.of("-c", "127.0.0.1", "-p", "PORT", "-l", "1M",
                "-O", whole(warmUpSeconds), "-t", whole(seconds), "-J"));
        client.addAll(List.of(more));
        return new ToolRunner(Tool.IPERF,
                List.of("-s", "-1", "-p", "PORT", "-B", "127.0.0.1"), client, Map.of(), lines -> {
                    Matcher matcher = RECEIVED.matcher(String.join("\n", lines));
                    if (!matcher.find()) {
                        throw new IOException("iperf3 told no bandwidth in " + lines.size()
                                + " lines");
                    }
                    return new Figures().with(Quantity.BYTES_PER_SECOND,
                            Double.parseDouble(matcher.group(1)) / 8);
                });
    }

    /** UCX puts of a size. */
    static Runner ucxPut(int sizeBytes, double seconds) {
        return ucxStream("ucp_put_bw", UCX_OVER_TCP, sizeBytes, UCX_PUTS * seconds);
    }

    /** UCX messages to and fro. */
    static Runner ucxPingPong(int sizeBytes, double seconds) {
        return ucxPingPong(UCX_OVER_TCP, sizeBytes, UCX_ROUNDS * seconds);
    }

    /** UCX puts of a size into memory that both processes have mapped. */
    static Runner ucxMemoryPut(int sizeBytes, double seconds) {
        return ucxStream("ucp_put_bw", UCX_IN_MEMORY, sizeBytes, UCX_MEMORY_MESSAGES * seconds);
    }

    /** UCX messages of a size through memory. */
    static Runner ucxMemoryStream(int sizeBytes, double seconds) {
        return ucxStream("tag_bw", UCX_IN_MEMORY, sizeBytes, UCX_MEMORY_MESSAGES * seconds);
    }

    /** UCX messages to and fro through memory. */
    static Runner ucxMemoryPingPong(int sizeBytes, double seconds) {
        return ucxPingPong(UCX_IN_MEMORY, sizeBytes, UCX_MEMORY_ROUNDS * seconds);
    }

    private static Runner ucxStream(String test, Map<String, String> environment, int sizeBytes,
            double count) {
        return ucx(test, environment, sizeBytes, (int) count, values -> new Figures()
                .with(Quantity.BYTES_PER_SECOND, values[UCX_MESSAGES] * sizeBytes));
    }

    private static Runner ucxPingPong(Map<String, String> environment, int sizeBytes,
            double count) {
        return ucx("tag_lat", environment, sizeBytes, (int) count, values -> new Figures()
                .with(Quantity.LATENCY_NS, values[UCX_MEDIAN_US] * 1000));
    }

    private interface Columns {
        Figures of(double[] values);
    }

    private static Runner ucx(String test, Map<String, String> environment, int sizeBytes,
            int count, Columns columns) {
        return new ToolRunner(Tool.UCX, List.of("-p", "PORT"),
                List.of("127.0.0.1", "-p", "PORT", "-t", test, "-s", Integer.toString(sizeBytes),
                        "-n", Integer.toString(count), "-w", Integer.toString(count / 4), "-f",
                        "-v"),
                environment, lines -> {
                    for (String line : lines.reversed()) {
                        String[] words = line.split(",", -1);
                        if (words.length == UCX_COLUMNS && !line.contains("_")) {
                            double[] values = new double[UCX_COLUMNS];
                            for (int i = 0; i < UCX_COLUMNS; i++) {
                                values[i] = Double.parseDouble(words[i]);
                            }
                            return columns.of(values);
                        }
                    }
                    throw new IOException("ucx_perftest told no values: " + lines);
                });
    }

    /** libfabric's messages to and fro over its TCP provider; it tells the mean. */
    static Runner fabricPingPong(int sizeBytes, double seconds) {
        List<String> both = List.of("-p", "tcp", "-e", "msg", "-I",
                Integer.toString((int) (FABRIC_ROUNDS * seconds)), "-S",
                Integer.toString(sizeBytes));
        List<String> server = new ArrayList<>(both);
        server.addAll(List.of("-B", "PORT"));
        List<String> client = new ArrayList<>(both);
        client.addAll(List.of("-P", "PORT", "127.0.0.1"));
        return new ToolRunner(Tool.FABRIC, server, client, Map.of(), lines -> {
            // bytes, sent, acknowledged, total, time, MB/s, µs each, millions a second
            for (String line : lines) {
                String[] words = line.strip().split("\\s+", -1);
                if (words.length == 8 && words[0].equals(Integer.toString(sizeBytes))) {
                    return new Figures().with(Quantity.LATENCY_NS,
                            Double.parseDouble(words[6]) * 1000);
                }
            }
            throw new IOException("fi_pingpong told no values: " + lines);
        });
    }

    /** rdma4j's own bandwidth tool, as its users start it: the average of a pair of fresh processes. */
    static Runner ownBandwidth(String program, String... options) {
        return own(program, OWN_AVERAGE, options, value -> new Figures()
                .with(Quantity.BYTES_PER_SECOND, value * PERFTEST_MB));
    }

    /** rdma4j's own latency tool, as its users start it: the typical half of a round trip. */
    static Runner ownLatency(String program, String... options) {
        return own(program, OWN_TYPICAL, options, value -> new Figures()
                .with(Quantity.LATENCY_NS, value * 1000));
    }

    private interface Value {
        Figures of(double value);
    }

    private static Runner own(String program, int column, String[] options, Value value) {
        List<String> server = new ArrayList<>(List.of(program, "-p", "PORT"));
        server.addAll(List.of(options));
        List<String> client = new ArrayList<>(server);
        client.add("127.0.0.1");
        return new ToolRunner(Tool.RDMA4J, server, client, Map.of(), lines -> {
            for (String line : lines.reversed()) {
                String[] words = line.strip().split("\\s+", -1);
                if (words.length > column && OWN_FIRST_COLUMNS.matcher(line).lookingAt()) {
                    return value.of(Double.parseDouble(words[column]));
                }
            }
            throw new IOException(program + " told no values: " + lines);
        });
    }

    private static String whole(double seconds) {
        return Integer.toString((int) Math.ceil(seconds));
    }
}
