// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.parts;

import io.rdma4j.benchmarks.rdma.LocalPairs;
import io.rdma4j.softnic.options.DeviceOptions;
import io.rdma4j.softnic.options.Loopback;
import io.rdma4j.softnic.options.NetworkBackend;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

import java.lang.foreign.Arena;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/**
 * Whole operations, from posting to completion, between two queue pairs of one device that one thread polls. What counts
 * is the allocation that JMH's {@code gc} profiler tells: of post, poll, engine and network of both sides together.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class Operations {
    private static final int DEPTH = 4;
    private static final int MAX_SIZE = 1 << 20;
    private static final int ATOMIC_BYTES = 8;

    /** Two connected queue pairs, and memory for both. */
    static final class Fixture implements AutoCloseable {
        final MemoryRegion region;
        final QueuePair active;
        final QueuePair passive;
        private final Arena arena = Arena.ofShared();
        private final LocalPairs pairs;
        private final WorkCompletion completion = new WorkCompletion();

        Fixture(DeviceOptions options) throws RdmaException {
            pairs = new LocalPairs(options);
            pairs.add(DEPTH);
            active = pairs.queuePairs().getFirst();
            passive = pairs.queuePairs().getLast();
            region = pairs.domain().register(arena.allocate(2L * MAX_SIZE, 4096),
                    AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ,
                    AccessFlag.REMOTE_ATOMIC);
        }

        void complete(SendWorkRequest request) throws RdmaException {
            active.postSend(request);
            await();
        }

        void await() throws RdmaException {
            while (!pairs.completions().poll(completion)) {
                Thread.onSpinWait();
            }
            if (!completion.isSuccess()) {
                throw new IllegalStateException(completion.toString());
            }
        }

        @Override
        public void close() throws RdmaException {
            for (QueuePair queuePair : pairs.queuePairs()) {
                queuePair.close();
            }
            pairs.queuePairs().clear();
            region.close();
            pairs.close();
            arena.close();
        }
    }

    /** How packets travel. */
    @State(Scope.Thread)
    public abstract static class Device {
        /** A network, or a way through memory: that of other processes, or straight to the other queue pair. */
        @Param({"linux", "portable", "shared", "direct"})
        public String path = "";

        private @Nullable Fixture fixture;

        /** Opens it; for a method that JMH calls, for it does not say in which order it calls several. */
        void open() throws RdmaException {
            fixture = new Fixture(switch (path) {
                case "direct", "shared" ->
                    DeviceOptions.DEFAULT.withLoopback(Loopback.parse(path));
                default -> DeviceOptions.DEFAULT.withLoopback(Loopback.NETWORK)
                        .withBackend(NetworkBackend.parse(path));
            });
        }

        /** Closes it. */
        @TearDown
        public void close() throws RdmaException {
            fixture().close();
        }

        Fixture fixture() {
            return Objects.requireNonNull(fixture);
        }
    }

    /** Requests for messages of a size. */
    @State(Scope.Thread)
    public static class Message extends Device {
        /** Bytes. */
        @Param({"64", "4096", "65536", "1048576"})
        public int size;

        private final SendWorkRequest write = new SendWorkRequest();
        private final SendWorkRequest read = new SendWorkRequest();
        private final SendWorkRequest send = new SendWorkRequest();
        private final ReceiveWorkRequest receive = new ReceiveWorkRequest();

        /** Prepares them. */
        @Setup
        public void prepare() throws RdmaException {
            open();
            MemoryRegion region = fixture().region;
            long remote = region.address() + MAX_SIZE;
            write.write(remote, region.rkey()).add(region, 0, size).set(SendFlag.SIGNALED);
            read.read(remote, region.rkey()).add(region, 0, size).set(SendFlag.SIGNALED);
            send.send().add(region, 0, size).set(SendFlag.SIGNALED);
            receive.add(region, MAX_SIZE, size);
        }
    }

    /** The request for an atomic. */
    @State(Scope.Thread)
    public static class Counter extends Device {
        private final SendWorkRequest add = new SendWorkRequest();

        /** Prepares it. */
        @Setup
        public void prepare() throws RdmaException {
            open();
            MemoryRegion region = fixture().region;
            add.fetchAndAdd(region.address() + MAX_SIZE, region.rkey(), 1)
                    .add(region, 0, ATOMIC_BYTES).set(SendFlag.SIGNALED);
        }
    }

    /** A WRITE. */
    @Benchmark
    public void write(Message message) throws RdmaException {
        message.fixture().complete(message.write);
    }

    /** A READ. */
    @Benchmark
    public void read(Message message) throws RdmaException {
        message.fixture().complete(message.read);
    }

    /** A receive that is posted, a SEND into it, and both their completions. */
    @Benchmark
    public void send(Message message) throws RdmaException {
        message.fixture().passive.postReceive(message.receive);
        message.fixture().complete(message.send);
        message.fixture().await();
    }

    /** An atomic. */
    @Benchmark
    public void fetchAndAdd(Counter counter) throws RdmaException {
        counter.fixture().complete(counter.add);
    }
}
