// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.examples.spark;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Runs {@link Shuffle} with two executors over TCP, over RDMA in memory and over RDMA over the network, by one variable, and prints
 * how long each took. It fails unless all bytes between the executors went the way they should.
 */
public final class Comparison {
    private static final long LONGEST_SECONDS = 300;
    private static final long LOOK_MS = 50;
    /** As sockets that listen have it in the tables of Linux; iWARP devices have some. */
    private static final String LISTENING = "0A";
    /** What Spark's launcher gives to JVMs. */
    private static final List<String> OPENED = List.of("java.lang", "java.lang.invoke",
            "java.lang.reflect", "java.io", "java.net", "java.nio", "java.util",
            "java.util.concurrent", "java.util.concurrent.atomic", "jdk.internal.ref", "sun.nio.ch",
            "sun.nio.cs", "sun.util.calendar");

    private final Path directory;
    private final long mib;

    private Comparison(Path directory, long mib) {
        this.directory = directory;
        this.mib = mib;
    }

    /** @param arguments where jars and classes are, and room for the rest; the jar of rdma4j-sockets; how many MiB to shuffle */
    public static void main(String[] arguments) throws Exception {
        Comparison comparison = new Comparison(Path.of(arguments[0]), Long.parseLong(arguments[2]));
        try {
            comparison.requireRoom();
            String agent = "\"-javaagent:" + arguments[1] + "=rdma\" -Drdma4j.device=roce_lo";
            // What looks on, which is no part of the program.
            String counting = " -Dspark.plugins=" + DeviceCounters.class.getName() + " -D"
                    + DeviceCounters.DIRECTORY + "=" + comparison.counters();
            System.out.printf("Spark shuffles %d MiB between two executors.%n%n", comparison.mib);
            System.out.printf("%-24s%8s%8s%8s%22s%22s%n", "", "write", "read", "job",
                    "between executors", "received over RDMA");
            comparison.compare("TCP", "", false);
            comparison.compare("RDMA, in memory",
                    agent + " -Drdma4j.loopback=shared" + counting, true);
            comparison.compare("RDMA, over the network",
                    agent + " -Drdma4j.loopback=network" + counting, true);
        } catch (IllegalStateException e) {
            System.out.flush();
            System.err.println("spark: " + e.getMessage());
            System.exit(1);
        }
    }

    private void requireRoom() throws IOException {
        long needed = 3 * mib << 20;
        long there = Files.getFileStore(directory).getUsableSpace();
        if (there < needed) {
            throw new IllegalStateException("a shuffle of " + mib + " MiB needs " + (needed >> 20)
                    + " MiB in " + directory + ", where " + (there >> 20) + " MiB are free");
        }
    }

    private Path work() {
        return directory.resolve("work");
    }

    private Path counters() {
        return work().resolve("counters");
    }

    private void compare(String name, String variable, boolean isRdma) throws Exception {
        delete(work());
        Files.createDirectories(counters());
        try {
            Set<String> sockets = new HashSet<>();
            String said = run(variable, sockets);
            long remote = number(said, "remote bytes");
            long counted = counted();
            System.out.printf(Locale.ROOT, "%-24s%6.1f s%6.1f s%6.1f s%,16d bytes%,16d bytes%n",
                    name, number(said, "write ms") / 1e3, number(said, "read ms") / 1e3,
                    number(said, "job ms") / 1e3, remote, counted);
            require(number(said, "bytes") == mib << 20, "not all was shuffled: " + said);
            // About half of all; the rest stays in its executor.
            require(remote > mib << 18, "only " + remote + " bytes went from one executor to"
                    + " the other");
            require(isRdma == counted >= remote, name + ": the devices have received "
                    + counted + " bytes of " + remote);
            require(isRdma == sockets.isEmpty(),
                    name + ": there were " + sockets.size() + " connections of TCP");
        } finally {
            delete(work());
        }
    }

    private static void require(boolean isTrue, String otherwise) {
        if (!isTrue) {
            throw new IllegalStateException(otherwise);
        }
    }

    /** {@return what the program has printed} */
    private String run(String variable, Set<String> sockets) throws Exception {
        Path home = Files.createDirectories(work().resolve("home"));
        Files.createSymbolicLink(home.resolve("jars"), directory.resolve("jars"));
        Path output = directory.resolve("program.txt");
        ProcessBuilder builder = new ProcessBuilder(command()).directory(work().toFile())
                .redirectOutput(output.toFile())
                .redirectError(directory.resolve("spark.txt").toFile());
        builder.environment().put("SPARK_HOME", home.toString());
        builder.environment().put("SPARK_SCALA_VERSION", "2.13");
        builder.environment().put("SPARK_LOCAL_IP", "127.0.0.1");
        builder.environment().remove("JDK_JAVA_OPTIONS");
        if (!variable.isEmpty()) {
            builder.environment().put("JDK_JAVA_OPTIONS", variable);
        }
        Process driver = builder.start();
        Set<ProcessHandle> executors = new HashSet<>();
        try {
            long startNs = System.nanoTime();
            while (!driver.waitFor(LOOK_MS, TimeUnit.MILLISECONDS)) {
                require(System.nanoTime() - startNs < TimeUnit.SECONDS.toNanos(LONGEST_SECONDS),
                        "it does not end in " + LONGEST_SECONDS + " s; see " + directory);
                driver.descendants().forEach(executors::add);
                sockets.addAll(tcpSockets(driver.pid()));
                executors.forEach(each -> sockets.addAll(tcpSockets(each.pid())));
            }
        } finally {
            driver.destroyForcibly().waitFor();
            executors.forEach(ProcessHandle::destroyForcibly);
            executors.forEach(each -> each.onExit().join());
        }
        require(driver.exitValue() == 0,
                "the program has failed; see " + directory.resolve("spark.txt"));
        return Files.readString(output);
    }

    private List<String> command() {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        OPENED.forEach(each -> command.add("--add-opens=java.base/" + each + "=ALL-UNNAMED"));
        String classes = directory.resolve("classes").toString();
        command.addAll(List.of("-Xmx1g", "-Dspark.master=local-cluster[2,1,1024]",
                "-Dspark.app.name=shuffle", "-Dspark.ui.enabled=false",
                "-Dspark.local.dir=" + work(), "-Dspark.executor.extraClassPath=" + classes,
                // Executors of one host would read each other's files, and what is alike would be made small.
                "-Dspark.shuffle.readHostLocalDisk=false", "-Dspark.shuffle.compress=false", "-cp",
                classes + ":" + directory.resolve("jars") + "/*", Shuffle.class.getName(),
                Long.toString(mib)));
        return command;
    }

    private static long number(String said, String word) {
        return said.lines().filter(line -> line.startsWith(word + " "))
                .mapToLong(line -> Long.parseLong(line.substring(word.length() + 1))).findFirst()
                .orElseThrow(() -> new IllegalStateException("it does not say " + word));
    }

    private long counted() throws IOException {
        long sum = 0;
        try (Stream<Path> files = Files.list(counters())) {
            for (Path each : files.filter(file -> !file.toString().endsWith(".new")).toList()) {
                sum += Long.parseLong(Files.readString(each));
            }
        }
        return sum;
    }

    /** {@return the inodes of the TCP connections that a process has} */
    private static Set<String> tcpSockets(long process) {
        Set<String> own = new HashSet<>();
        try (Stream<Path> files = Files.list(Path.of("/proc/" + process + "/fd"))) {
            for (Path each : files.toList()) {
                try {
                    own.add(Files.readSymbolicLink(each).toString());
                } catch (IOException e) {
                    // Closed meanwhile.
                }
            }
        } catch (IOException e) {
            // It has ended.
        }
        Set<String> found = new HashSet<>();
        for (String table : List.of("tcp", "tcp6")) {
            try (Stream<String> lines = Files.lines(Path.of("/proc/" + process + "/net", table))) {
                lines.skip(1).map(line -> line.strip().split("\\s+"))
                        .filter(columns -> !columns[3].equals(LISTENING))
                        .map(columns -> "socket:[" + columns[9] + "]").filter(own::contains)
                        .forEach(found::add);
            } catch (IOException e) {
                // No IPv6, or it has ended.
            }
        }
        return found;
    }

    private static void delete(Path directory) throws IOException {
        if (!Files.exists(directory)) {
            return;
        }
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path each : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(each);
            }
        }
    }
}
