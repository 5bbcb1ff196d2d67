// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.memory;

import io.rdma4j.benchmarks.workload.Control;
import io.rdma4j.benchmarks.workload.Figures;
import io.rdma4j.benchmarks.workload.Latencies;
import io.rdma4j.benchmarks.workload.PairedWorkload;
import io.rdma4j.benchmarks.workload.Settings;
import io.rdma4j.benchmarks.workload.Stretch;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.function.IntConsumer;

/**
 * Messages to and fro through memory that both processes have mapped: a number that says that a message is there, the message
 * behind it, copied in and out. The floor of any protocol in memory.
 */
public final class MemoryFloor implements PairedWorkload {
    private static final VarHandle NUMBER = ValueLayout.JAVA_LONG.varHandle();
    private static final Duration PATIENCE = Duration.ofSeconds(2);
    private static final int LENGTH = 1 << 16;
    private static final long TO_SERVER = 0;
    private static final long TO_CLIENT = LENGTH / 2;
    private static final long END = -1;

    /** Creates the workload. */
    public MemoryFloor() {}

    @Override
    public void serve(Settings settings, IntConsumer ready) throws IOException {
        Path file = Files.createTempFile(Path.of("/dev/shm"), "floor", "");
        try (Arena arena = Arena.ofConfined(); Control control = Control.accept(ready)) {
            MemorySegment shared = map(file, arena);
            control.out().writeUTF(file.toString());
            MemorySegment message = arena.allocate(settings.sizeBytes(), 64);
            for (long number = 1; receive(shared, TO_SERVER, number, message); number++) {
                send(shared, TO_CLIENT, number, message);
            }
        } finally {
            Files.deleteIfExists(file);
        }
    }

    @Override
    public Figures drive(Settings settings, int port) throws IOException {
        try (Arena arena = Arena.ofConfined(); Control control = Control.connect(port)) {
            MemorySegment shared = map(Path.of(control.in().readUTF()), arena);
            MemorySegment message = arena.allocate(settings.sizeBytes(), 64);
            Latencies latencies = new Latencies();
            Stretch stretch = new Stretch(settings);
            long rounds = 0;
            long beforeNs = System.nanoTime();
            while (stretch.goesOn(rounds, beforeNs)) {
                rounds++;
                send(shared, TO_SERVER, rounds, message);
                receive(shared, TO_CLIENT, rounds, message);
                long nowNs = System.nanoTime();
                if (stretch.isCounting()) {
                    latencies.add(nowNs - beforeNs);
                }
                beforeNs = nowNs;
            }
            NUMBER.setRelease(shared, TO_SERVER, END);
            return latencies.figures(0.5);
        }
    }

    private static MemorySegment map(Path file, Arena arena) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ,
                StandardOpenOption.WRITE)) {
            return channel.map(FileChannel.MapMode.READ_WRITE, 0, LENGTH, arena);
        }
    }

    private static void send(MemorySegment shared, long at, long number, MemorySegment message) {
        MemorySegment.copy(message, 0, shared, at + Long.BYTES, message.byteSize());
        NUMBER.setRelease(shared, at, number);
    }

    /** {@return false if there are no more messages} */
    private static boolean receive(MemorySegment shared, long at, long number,
            MemorySegment message) throws IOException {
        long startNs = 0;
        for (int looks = 1;; looks++) {
            long present = (long) NUMBER.getAcquire(shared, at);
            if (present == number || present == END) {
                MemorySegment.copy(shared, at + Long.BYTES, message, 0, message.byteSize());
                return present == number;
            }
            Thread.onSpinWait();
            if ((looks & 0xf_ffff) == 0) {
                long nowNs = System.nanoTime();
                startNs = startNs == 0 ? nowNs : startNs;
                if (nowNs - startNs > PATIENCE.toNanos()) {
                    throw new IOException("the other side has gone");
                }
            }
        }
    }
}
