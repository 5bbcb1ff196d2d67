// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.iwarp;

import com.sun.management.ThreadMXBean;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import org.junit.jupiter.api.Test;

import java.lang.management.ManagementFactory;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/** Posting, polling, the engine and the streams allocate nothing once they have started. */
class IwarpAllocationTest extends IwarpStage {
    private static final int LENGTH = 10_000;
    private static final int COUNT = 2_000;
    private static final int CLEAN_RUNS = 3;
    /** Each of {@link #COUNT}; the first few are enough unless the machine is busy. */
    private static final int MOST_RUNS = 100;

    IwarpAllocationTest() throws Exception {}

    @Test
    void sendingReceivingWritingAndReadingAllocateNothing() throws Exception {
        connect();
        SendWorkRequest[] requests = {
            new SendWorkRequest().send().add(client.region, 0, LENGTH).set(SendFlag.SIGNALED),
            new SendWorkRequest().write(server.region.address(), server.region.rkey())
                    .add(client.region, 0, LENGTH).set(SendFlag.SIGNALED),
            new SendWorkRequest().read(server.region.address(), server.region.rkey())
                    .add(client.region, 0, LENGTH).set(SendFlag.SIGNALED)};
        ReceiveWorkRequest receive = new ReceiveWorkRequest().add(server.region, 0, LENGTH);
        int clean = 0;
        long each = 0;
        for (int i = 0; i < MOST_RUNS && clean < CLEAN_RUNS; i++) {
            each = allocated(requests, receive);
            // The smallest object has 16 bytes; what is less comes from the JVM's own late linking.
            clean = each < 8 ? clean + 1 : 0;
        }
        assertThat(clean).as(each + " bytes allocated for each operation").isEqualTo(CLEAN_RUNS);
    }

    /** {@return the bytes that each operation allocates} */
    private long allocated(SendWorkRequest[] requests, ReceiveWorkRequest receive)
            throws Exception {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = threads.getCurrentThreadAllocatedBytes();
        long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        for (int i = 0; i < COUNT; i++) {
            server.queuePair.postReceive(receive);
            for (SendWorkRequest request : requests) {
                client.queuePair.postSend(request);
                take(client, endNs);
            }
            take(server, endNs);
        }
        return (threads.getCurrentThreadAllocatedBytes() - before)
                / ((long) COUNT * requests.length);
    }

    private static void take(Side side, long endNs) throws RdmaException {
        while (!side.completions.poll(side.completion)) {
            if (System.nanoTime() - endNs > 0) {
                throw new AssertionError("no completion within a minute");
            }
        }
        if (!side.completion.isSuccess()) {
            throw new AssertionError(side.completion.toString());
        }
    }
}
