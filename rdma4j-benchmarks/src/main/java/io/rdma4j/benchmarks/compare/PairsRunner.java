// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.compare;

import io.rdma4j.benchmarks.workload.Figures;
import io.rdma4j.benchmarks.workload.Quantity;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Several pairs of processes that do the same and count the same seconds; their bandwidths are added. They warm up at the
 * same time, so as many times longer as there are pairs: then each process has had as much processor time for its warm-up
 * as one of a single pair.
 */
final class PairsRunner implements Runner {
    /** As long as a processor may take to start a process. */
    private static final double START_SECONDS = 3;

    private final JavaRunner pair;
    private final int count;

    PairsRunner(JavaRunner pair, int count) {
        this.pair = pair;
        this.count = count;
    }

    @Override
    public Optional<String> obstacle() {
        return pair.obstacle();
    }

    @Override
    public Figures run() throws IOException, InterruptedException {
        double startSeconds = 2 * count * START_SECONDS
                / Runtime.getRuntime().availableProcessors();
        double warmSeconds = startSeconds + count * pair.warmUpSeconds();
        JavaRunner timed = pair
                .withCountFrom(System.currentTimeMillis() + (long) (1000 * warmSeconds));
        List<Future<Figures>> running = new ArrayList<>();
        try (ExecutorService threads = Executors.newFixedThreadPool(count)) {
            for (int i = 0; i < count; i++) {
                running.add(threads.submit(timed::run));
            }
        }
        double sum = 0;
        for (Future<Figures> each : running) {
            sum += figures(each).value(Quantity.BYTES_PER_SECOND)
                    .orElseThrow(() -> new IOException("a pair said no bandwidth"));
        }
        return new Figures().with(Quantity.BYTES_PER_SECOND, sum);
    }

    private static Figures figures(Future<Figures> done) throws IOException, InterruptedException {
        try {
            return done.get();
        } catch (ExecutionException e) {
            throw new IOException("a pair of them: " + e.getMessage(), e);
        }
    }
}
