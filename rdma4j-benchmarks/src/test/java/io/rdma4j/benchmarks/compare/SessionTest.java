// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.compare;

import io.rdma4j.benchmarks.workload.Figures;
import io.rdma4j.benchmarks.workload.Quantity;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import static org.assertj.core.api.Assertions.assertThat;

/** What is made of what trials measure. */
class SessionTest {
    private static final PrintStream NOWHERE = new PrintStream(OutputStream.nullOutputStream());

    private static final double NEAR = 70;
    private static final double FAR = 350;

    private final List<String> order = new ArrayList<>();

    /** A trial that gives bandwidths, one after the other, and fails where there is none. */
    private Trial trial(String id, Double... values) {
        List<Double> left = new ArrayList<>(List.of(values));
        return new Trial(id, "peer of " + id, "work", Quantity.BYTES_PER_SECOND, new Runner() {
            @Override
            public Optional<String> obstacle() {
                return values.length == 0 ? Optional.of("not installed") : Optional.empty();
            }

            @Override
            public Figures run() throws IOException {
                order.add(id);
                double value = left.removeFirst();
                if (value < 0) {
                    throw new IOException("it broke");
                }
                return new Figures().with(Quantity.BYTES_PER_SECOND, value);
            }
        });
    }

    @Test
    void roundsGoToAndFro() throws Exception {
        Session session = new Session(List.of(trial("a", 1.0, 2.0, 3.0), trial("b", 1.0, 1.0, 1.0)),
                NOWHERE, () -> NEAR);
        session.run(3);
        assertThat(order).containsExactly("a", "b", "b", "a", "a", "b");
        assertThat(session.samples("a", Quantity.BYTES_PER_SECOND).orElseThrow().median())
                .isEqualTo(2);
    }

    @Test
    void whatIsNotInstalledIsSkippedWithAReason() throws Exception {
        Session session = new Session(List.of(trial("a")), NOWHERE, () -> NEAR);
        session.run(2);
        assertThat(order).isEmpty();
        assertThat(Tables.obstacles(session)).contains("a (peer of a): not installed");
    }

    @Test
    void failureIsToldAndTheOtherRoundsCount() throws Exception {
        Session session = new Session(List.of(trial("a", 4.0, -1.0, 6.0)), NOWHERE, () -> NEAR);
        session.run(3);
        assertThat(session.samples("a", Quantity.BYTES_PER_SECOND).orElseThrow().values())
                .containsExactly(4.0, 6.0);
        assertThat(session.obstacle("a")).hasValue("round 2 failed: it broke");
    }

    @Test
    void goalsCompareMediansOfOneRun() throws Exception {
        Session session = new Session(
                List.of(trial(Catalogue.WRITE_1M, 8e9, 9.5e9, 20e9),
                        trial(Catalogue.UDP_CEILING, 10e9, 1e9, 11e9)),
                NOWHERE, () -> NEAR);
        session.run(3);
        assertThat(Tables.goals(session)).contains("against the UDP ceiling")
                .containsPattern("at least 0.95 +\\| 0.95 +\\| yes")
                .containsPattern("iperf3`, default.*not measured");
    }

    @Test
    void whatMetMovedProcessorsIsRunAgainAndDoesNotCount() throws Exception {
        List<Double> distances = new ArrayList<>(List.of(NEAR, NEAR, NEAR, FAR, NEAR, NEAR));
        Session session = new Session(
                List.of(trial(Catalogue.WRITE_1M, 8e9, 9e9),
                        trial(Catalogue.UDP_CEILING, 1e9, 10e9)),
                NOWHERE, distances::removeFirst);
        session.run(1);
        assertThat(order).containsExactly(Catalogue.WRITE_1M, Catalogue.UDP_CEILING,
                Catalogue.UDP_CEILING);
        assertThat(session.samples(Catalogue.UDP_CEILING, Quantity.BYTES_PER_SECOND).orElseThrow()
                .values()).containsExactly(10e9);
        assertThat(Tables.goals(session)).containsPattern("at least 0.95 +\\| 0.80 +\\| \\*\\*no");
        assertThat(json(session, Map.of())).contains("\"coreDistanceNs\":[[70,350],[70,70]]",
                "\"BYTES_PER_SECOND\":[1.0E9,1.0E10]");
        assertThat(session.distances()).hasValueSatisfying(words -> assertThat(words)
                .contains("70 ns in 2 trials", "1 trials in which that changed"));
    }

    @Test
    void processorsThatStayFarApartHaveAColumn() throws Exception {
        List<Double> distances = new ArrayList<>(List.of(NEAR, NEAR));
        Session session = new Session(List.of(trial("a", 1e9, 2e9, 3e9, 4e9, 5e9, 6e9)), NOWHERE,
                () -> distances.isEmpty() ? FAR : distances.removeFirst());
        session.run(2);
        assertThat(Tables.figures(session)).containsPattern("1.00 GB/s.*\\| 4.00 +\\|");
    }

    @Test
    void aMachineWhoseProcessorsAreNeverNearIsMeasuredAllTheSame() throws Exception {
        Session session = new Session(List.of(trial("a", 1.0, 2.0, 3.0)), NOWHERE, () -> FAR);
        session.run(1);
        assertThat(session.samples("a", Quantity.BYTES_PER_SECOND).orElseThrow().median())
                .isEqualTo(2);
    }

    @Test
    void jsonAndPlotHoldWhatWasMeasured() throws Exception {
        Session session = new Session(List.of(trial("a \"quoted\" <b>", 8e9, 9e9)), NOWHERE,
                () -> NEAR);
        session.run(2);
        assertThat(json(session, Map.of("kernel", "6.1"))).contains("\"kernel\":\"6.1\"",
                "\"id\":\"a\\\"quoted\\\"<b>\"", "\"BYTES_PER_SECOND\":[8.0E9,9.0E9]");
        assertThat(new BarPlot("Title", Quantity.BYTES_PER_SECOND)
                .add(session, "a \"quoted\" <b>").svg()).contains("Title, GB/s", ">8.50<",
                        "&lt;b>");
    }

    /** {@return what a session gave, without blanks} */
    private static String json(Session session, Map<String, String> facts) {
        return SessionJson.of(session, facts).replaceAll("\\s", "");
    }
}
