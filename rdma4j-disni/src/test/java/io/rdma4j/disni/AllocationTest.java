// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.disni;

import com.sun.management.ThreadMXBean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.lang.management.ManagementFactory;

import static org.assertj.core.api.Assertions.assertThat;

/** What the thread that posts and polls allocates once all has been used. DiSNI's own calls allocate nothing then. */
class AllocationTest {
    private static final int CALLS = 2000;
    private static final int CLEAN_RUNS = 3;
    /** Each of {@link #CALLS}; the first few are enough unless the machine is busy. */
    private static final int MOST_RUNS = 100;
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory
            .getThreadMXBean();

    private Connection connection;

    private interface Call {
        void run() throws IOException;
    }

    @BeforeEach
    void connect() throws IOException {
        connection = new Connection();
    }

    @AfterEach
    void close() throws Exception {
        connection.close();
    }

    @Test
    void readsAndSendsAllocateNothing() throws IOException {
        ReadsAndSends.ThroughDisni disni = new ReadsAndSends.ThroughDisni(connection, 64);
        try {
            requireNoAllocation(disni::read);
            requireNoAllocation(disni::send);
        } finally {
            disni.close();
        }
    }

    @Test
    void lookingForEventsAllocatesNothing() throws IOException {
        End end = connection.client;
        requireNoAllocation(() -> end.channel.getCqEvent(end.queue, 0));
    }

    /** What allocates always never has several clean runs in a row. */
    private static void requireNoAllocation(Call call) throws IOException {
        int clean = 0;
        long each = 0;
        for (int i = 0; i < MOST_RUNS && clean < CLEAN_RUNS; i++) {
            each = allocated(call);
            // The smallest object has 16 bytes; what is less comes from the JVM's own late linking.
            clean = each < 8 ? clean + 1 : 0;
        }
        assertThat(clean).as(each + " bytes allocated for each call").isEqualTo(CLEAN_RUNS);
    }

    /** {@return the bytes that each call allocates} */
    private static long allocated(Call call) throws IOException {
        long before = THREADS.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < CALLS; i++) {
            call.run();
        }
        return (THREADS.getCurrentThreadAllocatedBytes() - before) / CALLS;
    }
}
