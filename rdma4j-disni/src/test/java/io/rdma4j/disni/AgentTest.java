// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.disni;

import io.rdma4j.disni.Plug.Version;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;

/** Where the agent has DiSNI's classes replaced, and what it says where it cannot. */
class AgentTest {
    private static final String READ = "VerbsClient::read memory from server: This is a RDMA/read";
    private static final String[] ADDRESS = {"-a", Loopback.OWN, "-p",
        Integer.toString(Loopback.PORT)};

    @TempDir
    Path directory;

    private Program start(String variable, String classPath, String... words) throws Exception {
        List<String> command = Plug.java(Way.ROCE_IN_MEMORY.options(), classPath, words);
        return new Program(command, Map.of("JDK_JAVA_OPTIONS", variable), directory);
    }

    private static String[] words(String... first) {
        String[] words = java.util.Arrays.copyOf(first, first.length + ADDRESS.length);
        System.arraycopy(ADDRESS, 0, words, first.length, ADDRESS.length);
        return words;
    }

    /** A loader that asks its parent first would find this module's classes there, apart from DiSNI's. */
    @ParameterizedTest
    @EnumSource(value = LoaderProgram.Kind.class, names = "ISOLATED",
            mode = EnumSource.Mode.EXCLUDE)
    void loadersOfAProgramGetTheClasses(LoaderProgram.Kind kind) throws Exception {
        String agent = "-javaagent:" + Plug.jar(directory, true);
        String disni = Plug.joined(Plug.theirs(Version.V2_1));
        try (Program server = start(agent, disni,
                words("com.ibm.disni.examples.VerbsServer"))) {
            server.await("listen, id");
            try (Program client = start(agent, Plug.joined(Plug.ofTests()),
                    words(LoaderProgram.class.getName(), kind.name(), disni,
                            "com.ibm.disni.examples.VerbsClient"))) {
                assertThat(client.awaitEnd()).contains(READ);
            }
            assertThat(server.awaitEnd()).contains("VerbsServer::done");
        }
    }

    @Test
    void loaderThatDoesNotSeeRdma4jIsNamed() throws Exception {
        try (Program client = start("-javaagent:" + Plug.jar(directory, true),
                Plug.joined(Plug.ofTests()),
                words(LoaderProgram.class.getName(), "ISOLATED",
                        Plug.joined(Plug.theirs(Version.V2_1)),
                        "com.ibm.disni.examples.VerbsClient"))) {
            assertThat(client.awaitStatus()).isNotZero();
            assertThat(client.output()).contains("rdma4j: DiSNI's class loader ",
                    "does not see rdma4j: let it ask its parent for the packages io.rdma4j");
        }
    }

    @Test
    void bothWaysAtOnceAreOne() throws Exception {
        String agent = "-javaagent:" + Plug.jar(directory, true);
        String both = Plug.CLASS_PATH.classPath(Version.V2_1);
        try (Program server = start(agent, both, words("com.ibm.disni.examples.VerbsServer"))) {
            server.await("listen, id");
            try (Program client = start(agent, both,
                    words("com.ibm.disni.examples.VerbsClient"))) {
                assertThat(client.awaitEnd()).contains(READ);
            }
        }
    }

    @Test
    void agentTakesNoArguments() throws Exception {
        try (Program program = start("-javaagent:" + Plug.jar(directory, true) + "=roce",
                Plug.joined(Plug.theirs(Version.V2_1)),
                words("com.ibm.disni.examples.VerbsServer"))) {
            assertThat(program.awaitStatus()).isEqualTo(1);
            assertThat(program.output()).contains("rdma4j: -javaagent of rdma4j-disni takes no"
                    + " '=roce': its options are properties");
        }
    }

    @Test
    void agentWithoutDevicesSaysWhereTheyBelong() throws Exception {
        try (Program program = start("-javaagent:" + Plug.jar(directory, false),
                Plug.joined(Plug.theirs(Version.V2_1)),
                words("com.ibm.disni.examples.VerbsServer"))) {
            assertThat(program.awaitStatus()).isEqualTo(1);
            assertThat(program.output()).contains("rdma4j: there is no provider of devices: the"
                    + " other jars of rdma4j belong beside that of -javaagent");
        }
    }

    @Test
    void wrongPropertyIsNamed() throws Exception {
        try (Program program = start("-Drdma4j.disni.retries=many "
                + "--enable-native-access=ALL-UNNAMED",
                Plug.CLASS_PATH.classPath(Version.V2_1),
                words("com.ibm.disni.examples.VerbsServer"))) {
            assertThat(program.awaitStatus()).isNotZero();
            assertThat(program.output())
                    .contains("rdma4j.disni.retries is raised or exact, not 'many'");
        }
    }

    /** {@code System.loadLibrary("disni")} is what is replaced. */
    @Test
    void withoutAnyPlugDisniLooksForItsLibrary() throws Exception {
        try (Program program = start("-ea", Plug.joined(Plug.theirs(Version.V2_1)),
                words("com.ibm.disni.examples.VerbsServer"))) {
            assertThat(program.awaitStatus()).isNotZero();
            assertThat(program.output()).contains("UnsatisfiedLinkError: no disni");
        }
    }
}
