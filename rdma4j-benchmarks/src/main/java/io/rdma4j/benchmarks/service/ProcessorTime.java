// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.service;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** The processor time of this process during a stretch of time. */
final class ProcessorTime {
    private final CompletableFuture<Double> share;

    private ProcessorTime(CompletableFuture<Double> share) {
        this.share = share;
    }

    /**
     * {@return what is measured by a thread of its own}
     *
     * @param fromMs as {@link System#currentTimeMillis}
     */
    static ProcessorTime between(long fromMs, long toMs) {
        CompletableFuture<Double> share = new CompletableFuture<>();
        Thread.ofPlatform().daemon().name("processor time").start(() -> {
            try {
                sleepUntil(fromMs);
                long before = usedMs();
                sleepUntil(toMs);
                share.complete((double) (usedMs() - before) / (double) (toMs - fromMs));
            } catch (InterruptedException e) {
                share.completeExceptionally(e);
            }
        });
        return new ProcessorTime(share);
    }

    private static void sleepUntil(long timeMs) throws InterruptedException {
        long waitMs = timeMs - System.currentTimeMillis();
        if (waitMs > 0) {
            Thread.sleep(waitMs);
        }
    }

    /** The system counts ticks of 10 ms, a few in a thousand of a stretch of seconds. */
    private static long usedMs() {
        return ProcessHandle.current().info().totalCpuDuration().map(Duration::toMillis)
                .orElse(0L);
    }

    /** {@return it as a share of one processor, when the time is over} */
    double share() {
        return share.join();
    }
}
