// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.programs;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A broker of Kafka in a process of its own, and a producer and a consumer in another, by one variable. The times are printed, not
 * judged.
 */
@Tag("long")
@EnabledOnOs(OS.LINUX)
@Timeout(value = 40, unit = TimeUnit.MINUTES)
class KafkaTest {
    private static final long BYTES = Long.getLong("rdma4j.test.kafka.bytes", 1L << 30);

    @TempDir
    private Path directory;

    @Test
    void gibibyteGoesThroughABrokerOverRdma() throws Exception {
        Path jar = ForkedJvm.jar(directory, true);
        List<String> overTcp = List.of(KafkaProgram.class.getName());
        List<String> observed = List.of(Observed.class.getName(), KafkaProgram.class.getName());
        KafkaRun tcp = KafkaRun.of(directory.resolve("tcp"), "", overTcp, BYTES);
        report("TCP", tcp);
        for (String loopback : List.of("shared", "network")) {
            String variable = "\"-javaagent:" + jar + "=rdma\" -Drdma4j.loopback=" + loopback;
            KafkaRun run = KafkaRun.of(directory.resolve(loopback), variable, observed, BYTES);
            report("RDMA, " + loopback, run);
            ForkedJvm.Result client = run.client();
            assertThat(client.number("consumed")).isEqualTo(client.number("produced"))
                    .isEqualTo(tcp.client().number("consumed"));
            assertThat(client.number("RDMA bytes")).isGreaterThan(BYTES);
            assertThat(client.number("RDMA received bytes")).isGreaterThan(BYTES);
            assertThat(client.number("TCP connections")).as(client.output()).isZero();
            assertThat(run.brokerSockets()).isEmpty();
        }
        // What looks at the broker would see connections.
        assertThat(tcp.brokerSockets()).isNotEmpty();
    }

    private static void report(String name, KafkaRun run) {
        System.out.printf("Kafka, %d MiB over %s: produced in %d ms, consumed in %d ms%n",
                BYTES >> 20, name, run.client().number("produce ms"),
                run.client().number("consume ms"));
    }
}
