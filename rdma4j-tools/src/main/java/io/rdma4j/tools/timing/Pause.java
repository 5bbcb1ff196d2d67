// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.timing;

import java.io.IOException;
import java.time.Duration;

/** Waiting for time to pass, where nothing tells of what is waited for. */
public final class Pause {
    private Pause() {}

    /** @throws IOException if the thread is interrupted, which it still is then */
    public static void of(Duration time) throws IOException {
        try {
            Thread.sleep(time);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }
}
