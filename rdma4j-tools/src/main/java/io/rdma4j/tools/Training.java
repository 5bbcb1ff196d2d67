// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import org.jspecify.annotations.Nullable;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PipedReader;
import java.io.PipedWriter;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Runs the most frequent operations of the tools, to create the JVM's ahead-of-time cache: the launcher runs it once
 * for each build. It takes some seconds; failures are ignored.
 */
public final class Training {
    private static final long MOST_SECONDS = 60;
    private static final int ROOM = 1 << 16;
    private static final String SERVE = "serve";
    private static final String LISTENING = "listening on port ";
    private static final String DEMO_LISTENING = "@LISTENING ";

    /** Commands that end at once. */
    private static final List<String> SHORT = List.of("--help", "ibv_devices", "ibv_devinfo -v",
            "ib_send_lat --help");
    /** Server and client in one process, so that the classes of both are loaded. */
    private static final List<String> PAIRS = List.of("ibv_rc_pingpong -n 50",
            "ibv_ud_pingpong -n 50", "ib_send_lat -n 50 -R --no-perform_warm_up",
            "ib_write_bw -n 50 -b --no-perform_warm_up",
            "ib_read_lat -n 50 --no-perform_warm_up");
    private static final String LOOPBACK = "rdma4j.loopback";

    /** A tool between two processes, and how their packets travel; the warm-up is what is wanted of it. */
    private record Measured(String loopback, String tool) {}

    private static final List<Measured> MEASURED = List.of(
            new Measured("auto", "ib_send_lat -s 64"),
            new Measured("auto", "ib_write_bw -s 1048576 -n 100"),
            new Measured("network", "ib_send_lat -s 64"),
            new Measured("network", "ib_write_bw -s 1048576 -n 100"),
            new Measured("network", "ib_read_bw -s 1048576 -n 100"));

    private Training() {}

    /**
     * Does it.
     *
     * @param arguments none; or {@code serve}, to be the process that the other one measures with
     */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        endInTime();
        if (arguments.length > 0 && SERVE.equals(arguments[0])) {
            PrintWriter out = new PrintWriter(System.out, true, StandardCharsets.UTF_8);
            for (Measured each : MEASURED) {
                System.setProperty(LOOPBACK, each.loopback());
                run(out, each.tool() + " -p 0");
            }
        } else {
            SHORT.forEach(command -> run(nowhere(), command));
            for (String tool : PAIRS) {
                pair(tool + " -p 0", LISTENING, tool + " 127.0.0.1 -p ");
            }
            pair("demo-side", DEMO_LISTENING, "demo-side --server ");
            measure();
        }
        System.exit(0);
    }

    /** Ends the training after a time limit, so that the user does not wait. */
    private static void endInTime() {
        Thread.ofPlatform().daemon().name("rdma4j-training-end").start(() -> {
            try {
                TimeUnit.SECONDS.sleep(MOST_SECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            Runtime.getRuntime().halt(1);
        });
    }

    private static PrintWriter nowhere() {
        return new PrintWriter(Writer.nullWriter());
    }

    private static void run(PrintWriter out, String line) {
        String[] arguments = line.split(" ", -1);
        Main.commandLine(arguments).setOut(out).execute(arguments);
    }

    /** Runs a server and, as soon as it prints a line with the port that it listens on, a client. */
    private static void pair(String server, String words, String client)
            throws IOException, InterruptedException {
        try (PipedReader output = new PipedReader(ROOM);
                PipedWriter input = new PipedWriter(output);
                BufferedReader lines = new BufferedReader(output)) {
            Thread serving = Thread.ofPlatform().daemon().start(() -> {
                try (PrintWriter out = new PrintWriter(input, true)) {
                    run(out, server);
                }
            });
            String where = where(lines, words);
            if (where != null) {
                run(nowhere(), client + where);
                serving.join();
            }
        }
    }

    /** {@return where a server listens according to its output: a port, or address and port; null if it has ended} */
    private static @Nullable String where(BufferedReader lines, String words) throws IOException {
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            int at = line.indexOf(words);
            if (at >= 0) {
                String[] rest = line.substring(at + words.length()).split(" ", -1);
                // The demo's line has the time before the address.
                return rest.length < 3 ? rest[0] : rest[1] + ":" + rest[2];
            }
        }
        return null;
    }

    private static void measure() throws IOException {
        Process other = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED", "-XX:+UseSerialGC", "-cp",
                System.getProperty("java.class.path"), Training.class.getName(), SERVE)
                .redirectError(ProcessBuilder.Redirect.DISCARD).start();
        try (BufferedReader lines = other.inputReader(StandardCharsets.UTF_8)) {
            for (Measured each : MEASURED) {
                String port = where(lines, LISTENING);
                if (port == null) {
                    return;
                }
                System.setProperty(LOOPBACK, each.loopback());
                run(nowhere(), each.tool() + " 127.0.0.1 -p " + port);
            }
        } finally {
            other.destroy();
        }
    }
}
