// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import org.junit.jupiter.api.Test;

import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** What providers say of the machine. */
class RemarksTest {
    @Test
    void remarksOfProvidersAreCollected() {
        assertThat(RdmaDevices.remarks()).containsExactly("fake1 is missing: make it");
    }

    @Test
    void providersHaveNothingToSayUnlessTheyDo() {
        RdmaProvider silent = List::of;
        assertThat(silent.remarks()).isEmpty();
    }
}
