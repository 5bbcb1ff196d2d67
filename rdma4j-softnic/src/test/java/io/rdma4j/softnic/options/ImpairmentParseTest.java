// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.options;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.time.Duration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** Impairments as text, as users give them in a property. */
class ImpairmentParseTest {
    @Test
    void textNamesEachPart() {
        assertThat(Impairment.parse("loss=1%, delay=2ms,jitter=500us,reorder=5%,"
                + "duplicate=0.25,corrupt=0.1%,stall=2%,cut=3%,reset=4%,seed=-7"))
                .isEqualTo(new Impairment(0.01, 0.25, 0.001, 0.05, Duration.ofMillis(2),
                        Duration.ofNanos(500_000), 0.02, 0.03, 0.04, -7));
    }

    @ParameterizedTest
    @ValueSource(strings = {"none", "loss=0.01,seed=0", "delay=2000us,jitter=0.5us,seed=3",
        "loss=1.0E-5,duplicate=0.5,corrupt=1.0,reorder=0.25,delay=1500000us,stall=0.5,cut=0.25,"
                + "reset=0.125,seed=-1"})
    void textOfAnImpairmentMakesTheSameOne(String text) {
        assertThat(Impairment.parse(text)).hasToString(text);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', value = {"los=1%|'los' is no impairment",
        "loss|''", "loss=x|'x'", "loss=101%|from 0 to 1", "loss=NaN|from 0 to 1",
        "loss=-1%|from 0 to 1", "delay=2|500us, 2ms or 1s", "delay=-2ms|'-2ms'",
        "jitter=61s|from 0 to 60 s", "seed=1.5|whole number", "\"\"|there are loss, duplicate"})
    void wrongTextSaysWhatWouldBeRight(String text, String words) {
        assertThatIllegalArgumentException().isThrownBy(() -> Impairment.parse(text))
                .withMessageContaining(words);
    }
}
