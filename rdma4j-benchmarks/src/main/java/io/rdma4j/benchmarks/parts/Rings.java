// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.parts;

import io.rdma4j.protocol.work.ReceiveRequest;
import io.rdma4j.protocol.work.SendRequest;
import io.rdma4j.softnic.queue.CompletionRing;
import io.rdma4j.softnic.queue.ReceiveRing;
import io.rdma4j.softnic.queue.SendRing;
import io.rdma4j.spi.CompletionSlot;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.WorkCompletionOpcode;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

import java.util.Objects;
import java.util.concurrent.TimeUnit;

/** The rings between application and engine: in at one end and out at the other, one thread. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class Rings {
    private static final int CAPACITY = 128;

    private final SendRing sends = new SendRing(CAPACITY, 1, 0, null);
    private final ReceiveRing receives = new ReceiveRing(CAPACITY, 1);
    private final CompletionRing completions = new CompletionRing(CAPACITY, new Silence(),
            System::nanoTime, null, false);
    private final SendWorkRequest send = new SendWorkRequest().write(64, 1).add(64, 64, 1)
            .set(SendFlag.SIGNALED);
    private final ReceiveWorkRequest receive = new ReceiveWorkRequest().add(64, 64, 1);
    private final WorkCompletion completion = new WorkCompletion();

    /** Nobody is to be notified. */
    private static final class Silence implements CompletionRing.Listener {
        @Override
        public void onNotify() {
            throw new IllegalStateException("the ring is not armed");
        }

        @Override
        public void onAwaited() {
            throw new IllegalStateException("nobody waits");
        }

        @Override
        public void onOverrun() {
            throw new IllegalStateException("the ring has room");
        }

        @Override
        public void onModerated(CompletionRing ring) {
            throw new IllegalStateException("the ring is not moderated");
        }
    }

    /** A send request, posted and retired. */
    @Benchmark
    public SendRequest send() {
        synchronized (sends) {
            sends.beginPost();
            SendRequest slot = Objects.requireNonNull(sends.free());
            slot.assign(send, false);
            sends.stage();
            sends.publish();
        }
        sends.endPost();
        SendRequest taken = sends.request(sends.end() - 1);
        sends.retire();
        return taken;
    }

    /** A receive request, posted, taken and released. */
    @Benchmark
    public ReceiveRequest receive() {
        synchronized (receives) {
            requireRoom(receives.post(receive));
        }
        ReceiveRequest taken = Objects.requireNonNull(receives.take());
        receives.release(taken);
        return taken;
    }

    private static void requireRoom(boolean isPosted) {
        if (!isPosted) {
            throw new IllegalStateException("the ring has room");
        }
    }

    /** A completion, added and taken. */
    @Benchmark
    public boolean complete() {
        CompletionSlot slot = Objects.requireNonNull(completions.free());
        slot.fill(1, WorkCompletionStatus.SUCCESS, WorkCompletionOpcode.RDMA_WRITE, 17, 64);
        completions.add(slot, false);
        return completions.take(completion);
    }
}
