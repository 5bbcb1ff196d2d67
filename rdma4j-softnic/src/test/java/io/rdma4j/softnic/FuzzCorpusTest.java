// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.softnic.iwarp.ConnectionFuzz;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the fuzzers have found worth keeping, and a little of what they would start with. New inputs that fail go to
 * {@code src/test/resources/fuzz}.
 */
class FuzzCorpusTest {
    private interface Target {
        void run(byte[] input) throws Exception;
    }

    @Test
    void keptInputsDoNoHarm() throws Exception {
        keptInputs("engine", EngineFuzz::fuzzerTestOneInput);
    }

    @Test
    void randomInputsDoNoHarm() {
        randomInputs(EngineFuzz::fuzzerTestOneInput, 0, 300);
    }

    @Test
    void keptInputsThroughMemoryDoNoHarm() throws Exception {
        keptInputs("memory", MemoryFuzz::fuzzerTestOneInput);
    }

    @Test
    void randomInputsThroughMemoryDoNoHarm() {
        // Each opens devices and maps memory.
        randomInputs(MemoryFuzz::fuzzerTestOneInput, 0, 100);
    }

    @Test
    @Tag("long")
    void moreRandomInputsThroughMemoryDoNoHarm() {
        randomInputs(MemoryFuzz::fuzzerTestOneInput, 100, 300);
    }

    @Test
    void keptInputsToIwarpDoNoHarm() throws Exception {
        keptInputs("connections", ConnectionFuzz::fuzzerTestOneInput);
    }

    @Test
    void randomInputsToIwarpDoNoHarm() {
        randomInputs(ConnectionFuzz::fuzzerTestOneInput, 0, 300);
    }

    private static void keptInputs(String folder, Target target) throws Exception {
        List<Path> inputs;
        try (Stream<Path> files = Files.list(Path.of("src/test/resources/fuzz", folder))) {
            inputs = files.sorted().toList();
        }
        assertThat(inputs).isNotEmpty();
        for (Path input : inputs) {
            feed(target, Files.readAllBytes(input), input.toString());
        }
    }

    private static void randomInputs(Target target, int first, int end) {
        for (int seed = first; seed < end; seed++) {
            Random random = new Random(seed);
            byte[] input = new byte[random.nextInt(1500)];
            random.nextBytes(input);
            feed(target, input, "seed " + seed);
        }
    }

    private static void feed(Target target, byte[] input, String origin) {
        try {
            target.run(input);
        } catch (Exception | AssertionError e) {
            throw new AssertionError(origin, e);
        }
    }
}
