// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.stream;

import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Byte streams on the JDK's channels. */
class PortableStreamsTest extends StreamContract {
    private static final long MINUTE_NS = 60_000_000_000L;

    PortableStreamsTest() throws RdmaException {
        super(new PortableStreams());
    }

    /** Even if it is not polled for a long time, the other side must notice. */
    @Test
    void whoHasClosedAStreamDoesNotSleepBeforeItIsReallyClosed() throws Exception {
        End client = connected();
        while (network.poll()) {
            // Until it is quiet.
        }
        // What has been reported before ends no wait.
        network.await(0);
        client.stream().reset();
        long startNs = System.nanoTime();
        network.await(MINUTE_NS);
        assertThat(System.nanoTime() - startNs).isLessThan(MINUTE_NS / 2);
        until("the end", () -> accepted.getFirst().hasEnded);
    }
}
