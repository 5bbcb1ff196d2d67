// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.protocol;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.function.Consumer;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the fuzzer has found worth keeping, and a little of what it would start with. New inputs that fail go to
 * {@code src/test/resources/fuzz}.
 */
class FuzzCorpusTest {
    private static final Path KEPT = Path.of("src/test/resources/fuzz");

    enum Target {
        RSOCKET(RsocketFuzz::fuzzerTestOneInput), DATAGRAM(DatagramFuzz::fuzzerTestOneInput);

        @SuppressWarnings("ImmutableEnumChecker") // It has no state.
        private final Consumer<byte[]> fuzzer;

        Target(Consumer<byte[]> fuzzer) {
            this.fuzzer = fuzzer;
        }

        List<byte[]> kept() throws IOException {
            List<byte[]> inputs = new ArrayList<>();
            try (Stream<Path> files = Files
                    .list(KEPT.resolve(name().toLowerCase(Locale.ROOT)))) {
                for (Path each : files.sorted().toList()) {
                    inputs.add(Files.readAllBytes(each));
                }
            }
            assertThat(inputs).isNotEmpty();
            return inputs;
        }

        void feed(byte[] input, String origin) {
            try {
                fuzzer.accept(input);
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError(origin, e);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void keptInputsDoNoHarm(Target target) throws IOException {
        List<byte[]> inputs = target.kept();
        for (int i = 0; i < inputs.size(); i++) {
            target.feed(inputs.get(i), "file " + i);
        }
    }

    @ParameterizedTest
    @EnumSource
    void randomInputsDoNoHarm(Target target) {
        for (int seed = 0; seed < 5000; seed++) {
            Random random = new Random(seed);
            byte[] input = new byte[random.nextInt(600)];
            random.nextBytes(input);
            target.feed(input, "seed " + seed);
        }
    }

    @ParameterizedTest
    @EnumSource
    void changedInputsDoNoHarm(Target target) throws IOException {
        List<byte[]> inputs = target.kept();
        for (int seed = 0; seed < 5000; seed++) {
            Random random = new Random(seed);
            byte[] whole = inputs.get(random.nextInt(inputs.size()));
            byte[] input = Arrays.copyOf(whole, random.nextInt(whole.length) + 1);
            for (int changes = random.nextInt(4); changes > 0; changes--) {
                input[random.nextInt(input.length)] = (byte) random.nextInt();
            }
            target.feed(input, "seed " + seed);
        }
    }
}
