// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.testkit;

import org.junit.jupiter.api.Test;

import java.util.concurrent.atomic.AtomicInteger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** What a test waits for. */
class WaitTest {
    @Test
    void stepsGoOnUntilTheConditionHolds() {
        AtomicInteger steps = new AtomicInteger();
        Wait.until("three steps are done", () -> steps.get() == 3, steps::incrementAndGet);
        assertThat(steps).hasValue(3);
    }

    @Test
    void failureOfTheConditionEndsTheWait() {
        assertThatThrownBy(() -> Wait.until("nothing", () -> {
            throw new IllegalStateException("gone");
        })).isInstanceOf(IllegalStateException.class).hasMessage("gone");
    }

    @Test
    void threadsAreListedWithWhatTheyDo() {
        assertThat(Wait.allThreads()).contains(Thread.currentThread().getName(),
                "threadsAreListedWithWhatTheyDo");
    }
}
