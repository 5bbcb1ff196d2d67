// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.programs;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a producer and consumer said, and what their broker had.
 *
 * @param client what {@link KafkaProgram} printed
 * @param brokerSockets the sockets of TCP that the broker has had, but for those that listen
 */
record KafkaRun(ForkedJvm.Result client, Set<String> brokerSockets) {
    private static final int LONGEST_SECONDS = 600;
    private static final int LONGEST_END_SECONDS = 60;
    private static final List<String> HEAP = List.of("-Xmx1g", "-Xms1g");

    /**
     * Formats a broker's storage, starts it, lets the client run, and ends it.
     *
     * @param directory does not exist yet; what the broker keeps
     * @param variable the value of JDK_JAVA_OPTIONS, of broker and client
     * @param client the classes that the client begins with
     */
    static KafkaRun of(Path directory, String variable, List<String> client, long bytes)
            throws Exception {
        Files.createDirectories(directory);
        String address = "127.0.0.1:" + freePort();
        Path settings = Files.writeString(directory.resolve("server.properties"),
                settings(directory.resolve("data"), address, "127.0.0.1:" + freePort()));
        ForkedJvm.Result formatted = ForkedJvm.run(ForkedJvm.program(List.of(),
                "kafka.tools.StorageTool", "format", "-t", "MkU3OEVBNTcwNTJENDM2Qg", "-c",
                settings.toString()), Map.of());
        assertThat(formatted.status()).as(formatted.output()).isZero();

        Map<String, String> environment = variable.isEmpty()
                ? Map.of()
                : Map.of("JDK_JAVA_OPTIONS", variable);
        Path said = directory.resolve("broker.txt");
        ProcessBuilder builder = new ProcessBuilder(
                ForkedJvm.program(HEAP, "kafka.Kafka", settings.toString()))
                .redirectErrorStream(true).redirectOutput(said.toFile());
        builder.environment().putAll(environment);
        Process broker = builder.start();
        TcpSockets sockets = new TcpSockets(broker.toHandle());
        try {
            List<String> arguments = new ArrayList<>(client);
            arguments.addAll(List.of(address, Long.toString(bytes)));
            ForkedJvm.Result result = ForkedJvm.run(
                    ForkedJvm.program(HEAP, arguments.toArray(String[]::new)), environment,
                    LONGEST_SECONDS);
            assertThat(result.status()).as("%s%nThe broker:%n%s", result.output(),
                    Files.readString(said)).isZero();
            assertThat(broker.isAlive()).as(Files.readString(said)).isTrue();
            Set<String> seen = sockets.end();
            // It takes leave of the controller, over a connection, in a hook of its JVM.
            broker.destroy();
            assertThat(broker.waitFor(LONGEST_END_SECONDS, TimeUnit.SECONDS))
                    .as("the broker ends: %s", Files.readString(said)).isTrue();
            return new KafkaRun(result, seen);
        } finally {
            broker.destroyForcibly().waitFor();
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private static String settings(Path data, String address, String controller) {
        return """
                process.roles=broker,controller
                node.id=1
                controller.quorum.voters=1@%2$s
                controller.listener.names=CONTROLLER
                listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
                listeners=PLAINTEXT://%1$s,CONTROLLER://%2$s
                offsets.topic.replication.factor=1
                group.initial.rebalance.delay.ms=0
                log.dirs=%3$s
                """.formatted(address, controller, data);
    }
}
