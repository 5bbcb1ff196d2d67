// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/** Each source file names its licence. {@code java build/Spdx.java} adds the line. */
class SpdxTest {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

    @TempDir
    private Path directory = Path.of("");

    private static String run(int status, Path where, String... arguments) throws Exception {
        List<String> command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        ROOT.resolve("build/Spdx.java").toString()));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command).directory(where.toFile())
                .redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(said).isEqualTo(status);
        return said;
    }

    @Test
    void everySourceNamesItsLicence() throws Exception {
        assertThat(run(0, ROOT, "--check")).isEmpty();
    }

    @Test
    void aSourceWithoutItIsFoundAndGetsIt() throws Exception {
        Path java = Files.writeString(directory.resolve("New.java"), "package x; // é\n");
        Path script = Files.writeString(directory.resolve("new"), "#!/bin/sh\necho\n");
        Path other = Files.writeString(directory.resolve("page.md"), "# Page\n");
        assertThat(run(1, directory, "--check")).contains("New.java", "new").doesNotContain("page");
        run(0, directory);
        assertThat(java).hasContent("// SPDX-License-Identifier: Apache-2.0\npackage x; // é\n");
        assertThat(script)
                .hasContent("#!/bin/sh\n# SPDX-License-Identifier: Apache-2.0\necho\n");
        assertThat(other).hasContent("# Page\n");
        assertThat(run(0, directory, "--check")).isEmpty();
    }
}
