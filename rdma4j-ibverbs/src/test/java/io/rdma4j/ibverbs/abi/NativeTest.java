// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.abi;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class NativeTest {
    /** Reading it would end the JVM. */
    @Test
    void thereIsNoStructureAtANullPointer() {
        assertThatIllegalStateException().isThrownBy(() -> Native.at(0, 8))
                .withMessageContaining("null pointer");
    }
}
