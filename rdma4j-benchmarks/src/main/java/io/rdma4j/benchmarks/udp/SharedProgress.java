// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.udp;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** A number that one process writes and another reads, in a file both have mapped. */
final class SharedProgress {
    private static final VarHandle NUMBER = ValueLayout.JAVA_LONG.varHandle();
    private static final long LENGTH = 4096;

    private final MemorySegment memory;

    SharedProgress(Path file, Arena arena) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE,
                StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            memory = channel.map(FileChannel.MapMode.READ_WRITE, 0, LENGTH, arena);
        }
    }

    void set(long value) {
        NUMBER.setRelease(memory, 0L, value);
    }

    long value() {
        return (long) NUMBER.getAcquire(memory, 0L);
    }
}
