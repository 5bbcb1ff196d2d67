// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.protocol;

import org.junit.jupiter.api.Test;

import java.io.IOException;
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
    @Test
    void keptInputsDoNoHarm() throws IOException {
        List<Path> inputs;
        try (Stream<Path> files = Files.list(Path.of("src/test/resources/fuzz/rsocket"))) {
            inputs = files.sorted().toList();
        }
        assertThat(inputs).isNotEmpty();
        for (Path input : inputs) {
            feed(Files.readAllBytes(input), input.toString());
        }
    }

    @Test
    void randomInputsDoNoHarm() {
        for (int seed = 0; seed < 5000; seed++) {
            Random random = new Random(seed);
            byte[] input = new byte[random.nextInt(600)];
            random.nextBytes(input);
            feed(input, "seed " + seed);
        }
    }

    private static void feed(byte[] input, String origin) {
        try {
            RsocketFuzz.fuzzerTestOneInput(input);
        } catch (RuntimeException | AssertionError e) {
            throw new AssertionError(origin, e);
        }
    }
}
