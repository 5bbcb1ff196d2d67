// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.disni;

import io.rdma4j.verbs.RdmaClosedException;
import org.junit.jupiter.api.Test;

import java.util.HashSet;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class HandlesTest {
    private final Handles handles = new Handles();

    @Test
    void noNumberIsGivenTwice() throws Exception {
        Set<Long> given = new HashSet<>();
        for (int i = 0; i < 1000; i++) {
            long first = handles.add("first");
            long second = handles.add("second");
            assertThat(given.add(first) && given.add(second)).isTrue();
            assertThat(first).isPositive();
            assertThat(handles.remove(first, String.class, "text")).isEqualTo("first");
            assertThat(handles.find(second, String.class, "text")).isEqualTo("second");
        }
    }

    @Test
    void whatWasRemovedOrIsOfAnotherKindIsNotFound() throws Exception {
        long text = handles.add("text");
        handles.remove(text, String.class, "text");
        long other = handles.add(1);
        assertThat((int) other).as("its place").isEqualTo((int) text);
        for (long handle : new long[]{text, other, 0, -1, Long.MAX_VALUE, Long.MIN_VALUE}) {
            assertThatExceptionOfType(RdmaClosedException.class)
                    .isThrownBy(() -> handles.find(handle, String.class, "text"))
                    .withMessageContaining("the text is closed");
        }
    }
}
