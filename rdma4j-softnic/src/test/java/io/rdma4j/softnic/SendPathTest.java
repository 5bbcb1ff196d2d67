// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.softnic.network.linux.datagram.LinuxNetwork;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

/** ARCHITECTURE.md names the classes that a SEND passes, and {@link SendPath} sees them: none may come without being told there. */
@Tag("processes")
class SendPathTest {
    /** Values, tables of standards, structures of C, counters and timers, which say nothing of the way. */
    private static final Set<String> VALUES = Set.of("ApplicationMemory", "CoarseClock",
            "CongestionWindow",
            "Counters", "DeadlineHeap", "DeviceCounters", "ElementList", "KeyedMemory",
            "MemoryReference", "MessageHeader", "Opcode", "PacketHeaders", "Path", "PathControl",
            "PayloadPieces", "PollPace", "Psn", "RcAttributes", "ResponseQueue", "RetryTimer",
            "RingLayout",
            "RoundTripEstimate", "SocketAddress");

    @TempDir
    Path folder;

    @ParameterizedTest
    @CsvSource({"shared, a SEND passes (\\d+) classes in memory",
        "network, a SEND passes (\\d+) classes through the network"})
    void classesThatASendPassesAreThoseOfTheDocument(String loopback, String sentence)
            throws Exception {
        assumeThat(LinuxNetwork.obstacle()).isNull();
        Set<String> passed = passed(loopback);
        Set<String> told = told(sentence);
        assertThat(passed).containsAll(told);
        passed.removeAll(told);
        passed.removeAll(told("The same round of the engine asks others"));
        assertThat(passed).as("passed, and not told").isEmpty();
    }

    /** {@return the names in the sentence that begins so; it has as many as it says} */
    private static Set<String> told(String beginning) throws IOException {
        String text = Files.readString(Path.of("..", "ARCHITECTURE.md")).replaceAll("\\s+", " ");
        Matcher sentence = Pattern.compile(beginning + ": ([^.]*)\\.").matcher(text);
        assertThat(sentence.find()).as(beginning).isTrue();
        Set<String> names = new TreeSet<>();
        Matcher name = Pattern.compile("`(\\w+)`").matcher(sentence.group(sentence.groupCount()));
        while (name.find()) {
            names.add(name.group(1));
        }
        if (sentence.groupCount() > 1) {
            assertThat(names).hasSize(Integer.parseInt(sentence.group(1)));
        }
        return names;
    }

    private Set<String> passed(String loopback) throws IOException, InterruptedException {
        Path agent = folder.resolve("agent.jar");
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().putValue("Premain-Class", SendPath.class.getName());
        new JarOutputStream(Files.newOutputStream(agent), manifest).close();
        Path output = folder.resolve("output");
        Process process = new ProcessBuilder(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-javaagent:" + agent, "--enable-native-access=ALL-UNNAMED",
                "-Drdma4j.jmx=false", "-cp", System.getProperty("java.class.path"),
                SendPath.class.getName(), loopback))
                // What the device has to tell, as of an address that another test has, is no class.
                .redirectError(folder.resolve("log").toFile())
                .redirectOutput(output.toFile()).start();
        try {
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        } finally {
            process.destroyForcibly();
        }
        String text = Files.readString(output).strip();
        assertThat(process.exitValue()).as(Files.readString(folder.resolve("log"))).isZero();
        Set<String> passed = new TreeSet<>(List.of(text.split(" ")));
        passed.removeAll(VALUES);
        return passed;
    }
}
