// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol;

import io.rdma4j.protocol.ibcm.CmFuzz;
import io.rdma4j.protocol.iwarp.StreamFuzz;
import io.rdma4j.protocol.roce.wire.PacketFuzz;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the fuzzer has found worth keeping, and a little of what it would start with. New inputs that fail go to
 * {@code src/test/resources/fuzz}.
 */
class FuzzCorpusTest {
    private interface Target {
        void accept(byte[] input) throws Exception;
    }

    private static Target target(String name) {
        return switch (name) {
            case "packet" -> PacketFuzz::fuzzerTestOneInput;
            case "cm" -> CmFuzz::fuzzerTestOneInput;
            case "stream" -> StreamFuzz::fuzzerTestOneInput;
            default -> throw new IllegalArgumentException(name);
        };
    }

    @ParameterizedTest
    @ValueSource(strings = {"packet", "cm", "stream"})
    void keptInputsDoNoHarm(String name) throws Exception {
        List<Path> inputs;
        try (Stream<Path> files = Files.list(Path.of("src/test/resources/fuzz", name))) {
            inputs = files.sorted().toList();
        }
        assertThat(inputs).isNotEmpty();
        for (Path input : inputs) {
            feed(name, Files.readAllBytes(input), input.toString());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"packet", "cm", "stream"})
    void randomInputsDoNoHarm(String name) {
        for (int seed = 0; seed < 500; seed++) {
            Random random = new Random(seed);
            byte[] input = new byte[random.nextInt(600)];
            random.nextBytes(input);
            feed(name, input, "seed " + seed);
        }
    }

    private static void feed(String name, byte[] input, String origin) {
        try {
            target(name).accept(input);
        } catch (Exception | AssertionError e) {
            throw new AssertionError(origin, e);
        }
    }
}
