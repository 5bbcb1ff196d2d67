// SPDX-License-Identifier: Apache-2.0
package hello;

import io.rdma4j.cm.CmEventChannel;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.WaitChannel;
import io.rdma4j.verbs.WaitSet;

import java.time.Duration;
import java.util.List;

/** Waits for channels of two kinds by one loop. */
final class Waiting {
    private Waiting() {}

    static void assertThatNothingComes() throws RdmaException {
        try (WaitSet set = WaitSet.create();
                CompletionChannel completions = CompletionChannel.create(set);
                CmEventChannel events = CmEventChannel.create()) {
            events.join(set);
            for (WaitChannel<?> each : List.of(completions, events)) {
                if (!each.selectableChannel().isOpen() || each.pollEvent(Duration.ZERO) != null) {
                    throw new IllegalStateException("nothing was to come by " + each);
                }
            }
            WaitChannel<?> ready = set.poll(Duration.ofMillis(1));
            if (ready != null) {
                throw new IllegalStateException("nothing was to come by " + ready);
            }
        }
    }
}
