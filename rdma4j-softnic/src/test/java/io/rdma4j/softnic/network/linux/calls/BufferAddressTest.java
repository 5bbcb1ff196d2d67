// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.calls;

import com.sun.management.ThreadMXBean;
import org.junit.jupiter.api.Test;

import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

class BufferAddressTest {
    private static final int COUNT = 20_000;

    private final BufferAddress addresses = new BufferAddress();

    @Test
    void theNextByteHasTheAddressHoweverManyBuffersThereAre() {
        List<ByteBuffer> buffers = new ArrayList<>();
        for (int i = 0; i < 2 * BufferAddress.KNOWN + 1; i++) {
            buffers.add(ByteBuffer.allocateDirect(64));
        }
        for (int round = 0; round < 64; round++) {
            for (ByteBuffer each : buffers) {
                each.position(round);
                assertThat(addresses.of(each)).isEqualTo(MemorySegment.ofBuffer(each).address());
            }
        }
    }

    @Test
    void buffersInTurnAllocateNothing() {
        ByteBuffer[] buffers = new ByteBuffer[BufferAddress.KNOWN];
        for (int i = 0; i < buffers.length; i++) {
            buffers[i] = ByteBuffer.allocateDirect(64);
            addresses.of(buffers[i]);
        }
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = threads.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < COUNT; i++) {
            addresses.of(buffers[i % buffers.length]);
        }
        // The smallest object has 16 bytes; what is less comes from the JVM itself.
        assertThat((threads.getCurrentThreadAllocatedBytes() - before) / COUNT).isLessThan(8);
    }
}
