// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.wire;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Counts of any size that 24 bits on the wire stand for. IBTA 9.7.1: half of them are before, the other half are behind. */
class PsnTest {
    // [IBTA 9.7.1-1]
    @ParameterizedTest
    @CsvSource({
        // on the wire, reference, count
        "5, 5, 5", "6, 5, 6", "4, 5, 4", "0, 0xffffff, 0x1000000", "0xffffff, 0x1000000, 0xffffff",
        "0x7fffff, 0, 0x7fffff", "0x800000, 0, -0x800000", "0x800001, 0, -0x7fffff",
        "3, 0x5000000, 0x5000003", "0x7fffff, 0x5000000, 0x57fffff",
        "0x800000, 0x5000000, 0x4800000", "0xffffff, 0x5000000, 0x4ffffff"})
    void standsForTheCountNextToTheReference(String wire, String reference, String count) {
        assertThat(Psn.unwrap(Integer.decode(wire), Long.decode(reference)))
                .isEqualTo(Long.decode(count));
        assertThat(Psn.wrap(Long.decode(count))).isEqualTo(Integer.decode(wire));
    }
}
