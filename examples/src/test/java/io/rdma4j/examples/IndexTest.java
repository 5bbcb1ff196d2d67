// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.examples;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/** The index of the examples has each program, with a command that works as the page of native access says. */
class IndexTest {
    private static final Path SOURCES = Path.of("src/main/java/io/rdma4j/examples");

    @Test
    void everyProgramIsThere() throws IOException {
        String index = Files.readString(Path.of("README.md"));
        try (Stream<Path> files = Files.walk(SOURCES)) {
            assertThat(files.filter(file -> read(file).contains("static void main(")))
                    .hasSizeGreaterThan(20)
                    .allSatisfy(file -> assertThat(index).contains("](" + file + ")"));
        }
    }

    @Test
    void everyCommandAllowsNativeAccess() throws IOException {
        assertThat(Files.readAllLines(Path.of("README.md")))
                .filteredOn(line -> line.contains("java -") || line.contains("-cp "))
                .isNotEmpty()
                .allMatch(line -> line.contains("java --enable-native-access=ALL-UNNAMED -cp "));
    }

    private static String read(Path file) {
        try {
            return Files.isRegularFile(file) ? Files.readString(file) : "";
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
