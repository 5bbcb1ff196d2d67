// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/** Ten processes at one address under traffic, of which one after the other is killed at any moment of its life. */
@EnabledOnOs(OS.LINUX)
@Tag("long")
@Timeout(value = 15, unit = TimeUnit.MINUTES)
class KilledProcessesTest {
    private static final String ADDRESS = Loopback.OWN;
    /** Without killed processes: an equal delay there is the machine's. */
    private static final String ELSEWHERE = ADDRESS.substring(0, ADDRESS.lastIndexOf('.') + 1)
            + (Integer.parseInt(ADDRESS.substring(ADDRESS.lastIndexOf('.') + 1)) + 127);
    private static final int KILLS = 100;
    private static final int LASTING_PAIRS = 2;
    private static final int DOOMED_PAIRS = 3;
    /** As long as a process takes to start and to get into traffic. */
    private static final int LONGEST_LIFE_MS = 2500;

    private final Random random = new Random(1);

    private static Program process(String loopback, String... arguments) throws IOException {
        return Program.of(Echo.class, List.of("-Drdma4j.loopback=" + loopback), List.of(arguments));
    }

    /** A server and a client. */
    private record Pair(Program server, Program client) implements AutoCloseable {
        static Pair start(String loopback, String address) throws Exception {
            Program server = process(loopback, address);
            String port = server.lineWith("listening").replaceAll("\\D", "");
            return new Pair(server, process(loopback, address, port));
        }

        static Pair begin(String loopback, String address) throws Exception {
            Pair pair = start(loopback, address);
            pair.client().lineWith("begins");
            return pair;
        }

        /** {@return what the client says of its messages} */
        String end() throws Exception {
            client.tell("end");
            String told = client.lineWith("answered");
            assertThat(client.awaitEnd()).as(client.text()).isZero();
            return told;
        }

        @Override
        public void close() {
            client.close();
            server.close();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"auto", "network"})
    void theOthersGoOn(String loopback) throws Exception {
        List<Pair> lasting = new ArrayList<>();
        List<Pair> doomed = new ArrayList<>();
        try {
            lasting.add(Pair.begin(loopback, ELSEWHERE));
            for (int i = 0; i < LASTING_PAIRS; i++) {
                lasting.add(Pair.begin(loopback, ADDRESS));
            }
            for (int kills = 0; kills < KILLS; kills += 2) {
                while (doomed.size() < DOOMED_PAIRS) {
                    doomed.add(Pair.start(loopback, ADDRESS));
                }
                // So that they die at any moment of their lives.
                Thread.sleep(random.nextInt(LONGEST_LIFE_MS / DOOMED_PAIRS));
                // In either order.
                Pair pair = doomed.remove(random.nextInt(DOOMED_PAIRS));
                List<Program> both = random.nextBoolean()
                        ? List.of(pair.server(), pair.client())
                        : List.of(pair.client(), pair.server());
                both.forEach(Program::close);
            }
            System.out.println(loopback + ", elsewhere: " + lasting.getFirst().end());
            for (Pair pair : lasting.subList(1, lasting.size())) {
                System.out.println(loopback + ", beside " + KILLS + " kills: " + pair.end());
            }
        } finally {
            doomed.forEach(Pair::close);
            lasting.forEach(Pair::close);
        }
    }
}
