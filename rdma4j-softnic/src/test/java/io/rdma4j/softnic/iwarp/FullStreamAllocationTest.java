// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.iwarp;

import com.sun.management.ThreadMXBean;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import org.junit.jupiter.api.Test;

import java.lang.management.ManagementFactory;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A stream that is often full allocates nothing, whichever thread goes on with it: WRITEs of 1 MiB, several at once, are more
 * than the system's buffers take. Nothing watches the device's port, which would allocate in a thread of its own.
 */
class FullStreamAllocationTest extends TimedStage {
    private static final int LENGTH = 1 << 20;
    private static final int COUNT = 200;
    private static final int AT_ONCE = 32;
    private static final int CLEAN_RUNS = 3;
    /** Each of {@link #COUNT}; the first few are enough unless the machine is busy. */
    private static final int MOST_RUNS = 40;
    /** For a whole run: less than one smallest object for every eighth WRITE. */
    private static final int ALLOWED = COUNT * 2;

    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private final long ofDevice;

    FullStreamAllocationTest() throws Exception {
        ofDevice = Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals(THREAD)).findAny().orElseThrow()
                .threadId();
    }

    @Test
    void writesThatWaitForRoomAllocateNothingInAnyThread() throws Exception {
        connect();
        SendWorkRequest request = new SendWorkRequest()
                .write(server.region.address(), server.region.rkey())
                .add(client.region, 0, LENGTH).set(SendFlag.SIGNALED);
        int clean = 0;
        long bytes = 0;
        for (int i = 0; i < MOST_RUNS && clean < CLEAN_RUNS; i++) {
            bytes = allocated(request);
            clean = bytes <= ALLOWED ? clean + 1 : 0;
        }
        assertThat(clean).as(bytes + " bytes allocated for " + COUNT + " WRITEs")
                .isEqualTo(CLEAN_RUNS);
    }

    /** {@return the bytes that are allocated during a run} */
    private long allocated(SendWorkRequest request) throws Exception {
        long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        long before = bytesSoFar();
        for (int posted = 0, completed = 0; completed < COUNT; completed++) {
            while (posted < COUNT && posted - completed < AT_ONCE) {
                client.queuePair.postSend(request);
                posted++;
            }
            take(endNs);
        }
        return bytesSoFar() - before;
    }

    /** {@return what this thread and the device's have allocated} Others, as the test runner's, do not touch the device. */
    private long bytesSoFar() {
        return threads.getCurrentThreadAllocatedBytes()
                + threads.getThreadAllocatedBytes(ofDevice);
    }

    private void take(long endNs) throws RdmaException {
        while (!client.completions.poll(client.completion)) {
            if (System.nanoTime() - endNs > 0) {
                throw new AssertionError("no completion within a minute");
            }
        }
        if (!client.completion.isSuccess()) {
            throw new AssertionError(client.completion.toString());
        }
    }
}
