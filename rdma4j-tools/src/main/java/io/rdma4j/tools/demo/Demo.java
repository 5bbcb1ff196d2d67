// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.demo;

import io.rdma4j.tools.output.Terminal;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Shows RDMA happen between two processes. */
@Command(name = "demo", description = {
    "Start a server and a client process that talk RDMA over loopback, and show each step.",
    "With FILE, carry that file across by RDMA WRITE and compare SHA-256."})
public final class Demo implements Callable<Integer> {
    private static final int STEPS_TIMEOUT_SECONDS = 60;
    private static final int FILE_TIMEOUT_SECONDS = 24 * 3600;
    private static final String ONE_COMPILER = "-XX:TieredStopAtLevel=1";

    @Parameters(index = "0", arity = "0..1", paramLabel = "FILE",
            description = "A file to carry across, of any size.")
    private @Nullable Path file;

    @Option(names = "--pcap", paramLabel = "OUT",
            description = "Record the packets in this file; Wireshark opens it.")
    private @Nullable Path capture;

    @Option(names = {"-o",
        "--output"}, paramLabel = "COPY",
            description = "Where the server stores the file (default: it only digests it).")
    private @Nullable Path output;

    @Option(names = {"-d", "--device"}, paramLabel = "DEV",
            description = "Use this device, such as iwarp_lo (default: the RoCE device of loopback).")
    private @Nullable String device;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    private final List<Report> checks = Collections.synchronizedList(new ArrayList<>());
    private final Map<String, Long> figures = Collections.synchronizedMap(new TreeMap<>());

    /** Called by the command line. */
    public Demo() {}

    @Override
    public Integer call() throws Exception {
        new FileArguments(spec.commandLine()).check(file, output, capture);
        PrintWriter out = spec.commandLine().getOut();
        Timeline timeline = new Timeline(out, Terminal.isPresent(), Terminal.columns());
        long startNs = System.nanoTime();
        // Both JVMs start at once; the client waits for the server's address.
        try (Side server = startServer(timeline); Side client = startClient(timeline)) {
            Report listening = server.listening();
            timeline.start("server " + listening.word(0), "client");
            client.send(listening.word(0) + ":" + listening.word(1));
            int status = awaitBoth(server, client, timeline);
            timeline.finish();
            return status == 0
                    ? summarize(out, System.nanoTime() - startNs)
                    : fail(server.failedBefore(client) ? server : client);
        }
    }

    /** Reports the first failure; its effect on the other side explains nothing. */
    private int fail(Side failed) {
        PrintWriter err = spec.commandLine().getErr();
        err.println("demo: " + failed.failure());
        err.flush();
        return 1;
    }

    private int summarize(PrintWriter out, long elapsedNs) {
        boolean allHold = true;
        out.println();
        for (Report check : checks) {
            boolean holds = Boolean.parseBoolean(check.word(0));
            allHold &= holds;
            out.printf("  %s  %s%n", holds ? "ok      " : "MISMATCH",
                    check.text().substring(check.word(0).length() + 1));
        }
        out.printf("%n  payload        %,15d bytes%n", figures.getOrDefault("payload", 0L));
        out.printf("  packets        %15s sent by the server, %s by the client%n",
                shown(figures.get("server packets")), shown(figures.get("client packets")));
        out.printf("  on the wire    %15s bytes%n", shown(ofBoth("bytes")));
        out.printf("  sent again     %15s packets%n", shown(ofBoth("retransmitted")));
        out.printf("  time           %,15.2f s, with the start of both processes%n",
                elapsedNs / 1e9);
        if (capture != null) {
            out.printf("  packets are recorded in %s%n", capture);
        }
        out.flush();
        return allHold && !checks.isEmpty() ? 0 : 1;
    }

    /** {@return a figure of both sides together, null if one of them did not report it} */
    private @Nullable Long ofBoth(String figure) {
        Long ofServer = figures.get("server " + figure);
        Long ofClient = figures.get("client " + figure);
        return ofServer == null || ofClient == null ? null : ofServer + ofClient;
    }

    private static String shown(@Nullable Long figure) {
        return figure == null ? "not counted" : String.format("%,d", figure);
    }

    private int awaitBoth(Side server, Side client, Timeline timeline) throws Exception {
        int seconds = file == null ? STEPS_TIMEOUT_SECONDS : FILE_TIMEOUT_SECONDS;
        long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        while (!server.hasEnded() || !client.hasEnded()) {
            if (System.nanoTime() > deadlineNs) {
                throw new TimeoutException("the demo did not end within " + seconds + " s");
            }
            if (server.hasFailed() || client.hasFailed()) {
                // The other side may wait for it until its time-outs.
                server.awaitEnd(2);
                client.awaitEnd(2);
                return 1;
            }
            server.awaitEnd(server.hasEnded() ? 0 : 0.02);
            client.awaitEnd(0.02);
            timeline.print(System.nanoTime());
        }
        return server.hasFailed() || client.hasFailed() ? 1 : 0;
    }

    private Side startServer(Timeline timeline) throws IOException {
        List<String> arguments = side();
        if (file != null) {
            arguments.add("--file");
        }
        if (output != null) {
            arguments.add(output.toString());
        }
        return new Side(true, timeline, List.of(), arguments);
    }

    private List<String> side() {
        List<String> arguments = new ArrayList<>(List.of("demo-side"));
        if (device != null) {
            arguments.addAll(List.of("--device", device));
        }
        return arguments;
    }

    private Side startClient(Timeline timeline) throws IOException {
        List<String> arguments = side();
        arguments.addAll(List.of("--server", "-"));
        if (file != null) {
            arguments.add(file.toString());
        }
        return new Side(false, timeline,
                capture == null ? List.of() : List.of("-Drdma4j.pcap=" + capture), arguments);
    }

    /** A process of the demo and what it reports. */
    private final class Side implements AutoCloseable {
        private final boolean isServer;
        private final Timeline timeline;
        private final Process process;
        private final CompletableFuture<Report> listening = new CompletableFuture<>();
        private final Queue<String> problems = new ConcurrentLinkedQueue<>();
        private final Thread reader;
        private final Thread errorReader;
        private final Thread atShutdown = new Thread(this::destroy, "rdma4j-end-side");
        private final CompletableFuture<Long> endedNs;

        Side(boolean isServer, Timeline timeline, List<String> options, List<String> arguments)
                throws IOException {
            this.isServer = isServer;
            this.timeline = timeline;
            List<String> command = new ArrayList<>();
            command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
            command.add(OwnProgram.nativeAccess());
            command.addAll(inherited());
            command.addAll(options);
            command.addAll(OwnProgram.words());
            command.addAll(arguments);
            process = new ProcessBuilder(command).start();
            endedNs = process.onExit().thenApply(end -> System.nanoTime());
            Runtime.getRuntime().addShutdownHook(atShutdown);
            reader = Thread.ofVirtual().start(this::readReports);
            errorReader = Thread.ofVirtual().start(this::readErrors);
        }

        /**
         * {@return the options of this JVM, without {@link #ONE_COMPILER} if a file is transferred}
         */
        private List<String> inherited() {
            return OwnProgram.options().stream()
                    .filter(option -> file == null || !option.equals(ONE_COMPILER)).toList();
        }

        /** Writes the only line of input to the process. */
        void send(String line) {
            try (PrintWriter input = new PrintWriter(
                    process.outputWriter(StandardCharsets.UTF_8))) {
                input.println(line);
            }
        }

        /** By its handle: {@link Process#destroy} would close the streams under those who read them. */
        private void destroy() {
            process.toHandle().destroy();
        }

        private void readReports() {
            ProcessLines.read(process.inputReader(StandardCharsets.UTF_8), line -> {
                Report report = Report.parse(line);
                if (report != null) {
                    onReport(report);
                }
            }, problems::add);
            listening.completeExceptionally(new IOException("the server ended early"));
        }

        private void readErrors() {
            ProcessLines.read(process.errorReader(StandardCharsets.UTF_8), problems::add,
                    problems::add);
        }

        private void onReport(Report report) {
            switch (report.kind()) {
                case STEP -> timeline.add(isServer, report);
                case LISTENING -> listening.complete(report);
                case PROGRESS -> timeline.progress(report.atNs(), Long.parseLong(report.word(0)),
                        Long.parseLong(report.word(1)));
                case CHECK -> checks.add(report);
                case FIGURE -> figures.put(
                        report.word(0).equals("payload")
                                ? "payload"
                                : (isServer ? "server " : "client ") + report.word(0),
                        Long.parseLong(report.word(1)));
            }
        }

        Report listening() throws Exception {
            try {
                return listening.get(STEPS_TIMEOUT_SECONDS, TimeUnit.SECONDS);
            } catch (ExecutionException e) {
                errorReader.join();
                process.waitFor();
                throw new IOException(failure());
            }
        }

        boolean hasEnded() {
            return !process.isAlive();
        }

        boolean hasFailed() {
            return hasEnded() && process.exitValue() != 0;
        }

        void awaitEnd(double seconds) throws InterruptedException {
            if (process.waitFor((long) (seconds * 1e9), TimeUnit.NANOSECONDS)) {
                reader.join();
                errorReader.join();
            }
        }

        boolean failedBefore(Side other) {
            return hasFailed()
                    && (!other.hasFailed() || endedNs.join() <= other.endedNs.join());
        }

        /** {@return why it failed, in one line} */
        String failure() {
            String own = "demo-side: ";
            String said = problems.stream().filter(line -> line.startsWith(own)).findFirst()
                    .map(line -> line.substring(own.length()))
                    .orElseGet(() -> String.join(" ", problems));
            return (isServer ? "the server" : "the client") + " failed: "
                    + (said.isBlank() ? "it ended with status " + process.exitValue() : said);
        }

        @Override
        public void close() {
            try {
                Runtime.getRuntime().removeShutdownHook(atShutdown);
            } catch (IllegalStateException shuttingDown) {
                // Then it does the same.
            }
            destroy();
            process.onExit().orTimeout(5, TimeUnit.SECONDS)
                    .exceptionally(late -> process.destroyForcibly()).join();
            // Has ended, so this closes the input that it was perhaps never given.
            process.destroy();
        }
    }
}
