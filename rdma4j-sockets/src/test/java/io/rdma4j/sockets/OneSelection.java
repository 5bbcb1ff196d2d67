// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import io.rdma4j.testkit.Wait;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.nio.channels.Selector;
import java.time.Duration;

import static org.assertj.core.api.Assertions.assertThat;

/** A selection without a time limit, in a thread of its own. */
final class OneSelection {
    private final Thread thread;
    private volatile @Nullable Object found;

    private OneSelection(Selector selector, Thread.Builder threads) {
        thread = threads.start(() -> {
            try {
                found = selector.select();
            } catch (IOException | RuntimeException e) {
                found = e;
            }
        });
    }

    static OneSelection begin(Selector selector, Thread.Builder threads) {
        return new OneSelection(selector, threads);
    }

    /** {@return one whose thread waits} */
    static OneSelection waiting(Selector selector) {
        OneSelection begun = new OneSelection(selector, Thread.ofPlatform().daemon());
        Wait.until("the thread selects", () -> SelectorThreadTest.isSelecting(begun.thread));
        return begun;
    }

    Thread thread() {
        return thread;
    }

    /** It ends with so many keys. */
    void assertFinds(int keys) throws InterruptedException {
        assertThat(thread.join(Duration.ofSeconds(10))).as("the selection ends").isTrue();
        assertThat(found).isEqualTo(keys);
    }
}
