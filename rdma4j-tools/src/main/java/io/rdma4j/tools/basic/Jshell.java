// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.basic;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

/** The JDK's jshell with rdma4j on its class path. */
@Command(name = "jshell", description = "Try the API line by line in the JDK's jshell.")
public final class Jshell implements Callable<Integer> {
    @Parameters(arity = "0..*", paramLabel = "ARGUMENT",
            description = "What jshell is to get beside the class path, as the name of a script.")
    private List<String> arguments = List.of();

    @Override
    public Integer call() throws IOException, InterruptedException {
        Path program = Path.of(System.getProperty("java.home"), "bin", "jshell");
        if (!Files.exists(program) && !Files.exists(Path.of(program + ".exe"))) {
            throw new RdmaException(Errno.ENOENT, "start jshell", "there is no " + program
                    + "; use a JDK, not a runtime without its tools");
        }
        List<String> words = new ArrayList<>(List.of(program.toString(), "--class-path",
                System.getProperty("java.class.path"), "-R--enable-native-access=ALL-UNNAMED"));
        words.addAll(arguments);
        return new ProcessBuilder(words).inheritIO().start().waitFor();
    }
}
