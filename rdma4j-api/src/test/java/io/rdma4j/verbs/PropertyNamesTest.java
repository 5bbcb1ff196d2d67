// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import org.junit.jupiter.api.Test;

import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** What is said of system properties that are called as those of rdma4j. */
class PropertyNamesTest {
    @Test
    void aMisspeltPropertyIsToldWithTheOneThatWasMeant() {
        assertThat(PropertyNames.unknown(List.of("rdma4j.loopbak", "rdma4j.loopback",
                "rdma4j.cm.maxretries", "java.version")))
                .containsExactly("the system property rdma4j.cm.maxretries is unknown and changes"
                        + " nothing; did you mean rdma4j.cm.maxRetries?",
                        "the system property rdma4j.loopbak is unknown and changes nothing; did"
                                + " you mean rdma4j.loopback?");
    }

    @Test
    void oneThatIsLikeNoneIsToldAlone() {
        assertThat(PropertyNames.unknown(List.of("rdma4j.colourOfTheCable"))).containsExactly(
                "the system property rdma4j.colourOfTheCable is unknown and changes nothing");
    }

    @Test
    void othersAreNotLookedAt() {
        assertThat(PropertyNames.unknown(List.of("rdma4jx", "rdma.device", "my.rdma4j.device",
                "rdma4j.test.seed", "rdma4j.conformance.report"))).isEmpty();
    }
}
