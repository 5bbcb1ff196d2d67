// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.protocol;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Sizes that a stream can have, and those that it cannot. */
class StreamSettingsTest {
    private static final int MOST = StreamSettings.MOST_BYTES;

    @ParameterizedTest
    @CsvSource({"16, 16, 24, 4096, 4096, 0", "65534, 65534, 24, 536870911, 536870910, 32512"})
    void bothEndsOfEachRangeAreTaken(int sends, int credits, int inline, int sendBytes,
            int receiveBytes, int mappings) {
        StreamSettings made = new StreamSettings(sends, credits, inline, sendBytes, receiveBytes,
                mappings, true);
        assertThat(made.sends()).isEqualTo(sends);
        assertThat(made.credits()).isEqualTo(credits);
        assertThat(made.sendBytes()).isEqualTo(sendBytes);
        assertThat(made.receiveBytes()).isEqualTo(receiveBytes);
        assertThat(made.mappings()).isEqualTo(mappings);
    }

    @ParameterizedTest
    @CsvSource({"15, 16, 24, 4096, 4096, 0, a send queue must have room for 16 to 65534",
        "65535, 16, 24, 4096, 4096, 0, a send queue must have room for 16 to 65534",
        "16, 15, 24, 4096, 4096, 0, a receive queue must have room for 16 to 65534",
        "16, 65535, 24, 4096, 4096, 0, a receive queue must have room for 16 to 65534",
        "16, 16, 23, 4096, 4096, 0, 'room for 24 bytes, not only 23'",
        "16, 16, 24, 4095, 4096, 0, a send buffer must have 4096 to 536870911 bytes",
        "16, 16, 24, 536870912, 4096, 0, a send buffer must have 4096 to 536870911 bytes",
        "16, 16, 24, 4096, 4094, 0, a receive buffer must have 4096 to 536870911 bytes",
        "16, 16, 24, 4096, 536870912, 0, a receive buffer must have 4096 to 536870911 bytes",
        "16, 16, 24, 4096, 4097, 0, a receive buffer of 4097 bytes has no two halves",
        "16, 16, 24, 4096, 4096, -1, 'there can be 0 to 32512 mappings, not -1'",
        "16, 16, 24, 4096, 4096, 32513, 'there can be 0 to 32512 mappings, not 32513'"})
    void othersAreRefused(int sends, int credits, int inline, int sendBytes, int receiveBytes,
            int mappings, String why) {
        assertThatThrownBy(() -> new StreamSettings(sends, credits, inline, sendBytes,
                receiveBytes, mappings, true))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining(why);
    }

    @Test
    void largestBufferIsOneThatAMessageCanName() {
        assertThat(MOST).isEqualTo((1 << 29) - 1);
    }

    @Test
    void messagesWithoutCreditHaveReceivesOfTheirOwn() {
        assertThat(settings(true).receives()).isEqualTo(40 + 8);
    }

    /** Where no immediate data comes with a WRITE a message follows it. */
    @Test
    void messageTakesOneRequestWithImmediatesAndTwoWithout() {
        assertThat(settings(true).requestsOfMessage()).isOne();
        assertThat(settings(false).requestsOfMessage()).isEqualTo(2);
    }

    private static StreamSettings settings(boolean hasImmediates) {
        return new StreamSettings(32, 40, 64, 4096, 4096, 0, hasImmediates);
    }
}
