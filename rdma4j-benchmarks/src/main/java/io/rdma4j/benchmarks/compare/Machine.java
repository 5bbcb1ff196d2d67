// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.compare;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;

/** Where and on what was measured, as names and values. */
final class Machine {
    private Machine() {}

    static Map<String, String> describe() {
        Map<String, String> facts = new LinkedHashMap<>();
        facts.put("date", Instant.now().truncatedTo(ChronoUnit.MINUTES).toString());
        facts.put("commit", commit());
        facts.put("processors",
                Runtime.getRuntime().availableProcessors() + " × " + processor());
        facts.put("memory", memory());
        facts.put("kernel", System.getProperty("os.name") + " " + System.getProperty("os.version")
                + " " + System.getProperty("os.arch"));
        facts.put("Java", System.getProperty("java.vendor") + " "
                + System.getProperty("java.runtime.version"));
        facts.put("TCP congestion control", text("/proc/sys/net/ipv4/tcp_congestion_control"));
        facts.put("largest receive buffer", text("/proc/sys/net/core/rmem_max") + " B");
        facts.put("load before", text("/proc/loadavg"));
        return facts;
    }

    /** {@return processes ready to run, averaged, as the system tells it} */
    static String load() {
        return text("/proc/loadavg");
    }

    private static String commit() {
        try {
            String hash = first("git", "rev-parse", "--short=12", "HEAD");
            boolean isChanged = !first("git", "status", "--porcelain", "--untracked-files=no")
                    .isEmpty();
            return hash + (isChanged ? ", with changes" : "");
        } catch (IOException e) {
            return "unknown";
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return "unknown";
        }
    }

    /** {@return the first line that a program says} */
    static String first(String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String all = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        process.waitFor();
        return all.lines().findFirst().orElse("").strip();
    }

    private static String processor() {
        return lineOf("/proc/cpuinfo", "model name");
    }

    private static String memory() {
        return lineOf("/proc/meminfo", "MemTotal");
    }

    private static String lineOf(String file, String name) {
        return text(file).lines().filter(line -> line.startsWith(name)).findFirst()
                .map(line -> line.substring(line.indexOf(':') + 1).strip()).orElse("unknown");
    }

    /** {@return all that a small file says} */
    static String text(String file) {
        // Some of these files say all they have in the first read only, so it must be a large one.
        try (BufferedReader reader = Files.newBufferedReader(Path.of(file))) {
            return reader.readAllAsString().strip();
        } catch (IOException e) {
            return "unknown";
        }
    }
}
