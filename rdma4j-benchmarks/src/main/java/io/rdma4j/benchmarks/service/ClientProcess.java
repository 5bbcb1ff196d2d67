// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.service;

import io.rdma4j.benchmarks.workload.Figures;
import io.rdma4j.benchmarks.workload.Quantity;
import org.HdrHistogram.ConcurrentHistogram;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * A client process: its threads do one operation after the other until the time is over. It counts from the time at which it
 * was started, so what the start of a JVM takes is part of the first seconds.
 */
final class ClientProcess {
    private static final double[] FIRST_SECONDS = {5, 10, 20};
    private static final Quantity[] FIRST = {Quantity.FIRST_5_S_PER_SECOND,
        Quantity.FIRST_10_S_PER_SECOND, Quantity.FIRST_20_S_PER_SECOND};
    private static final long LONGEST_NS = TimeUnit.MINUTES.toNanos(10);
    private static final int DIGITS = 3;

    private final ServiceSettings settings;
    private final InetSocketAddress server;
    private final long startMs;
    private final long warmMs;
    private final long endMs;
    /** Operations by tenths of a second. */
    private final AtomicLongArray tenths;
    private final ConcurrentHistogram latencies = new ConcurrentHistogram(LONGEST_NS, DIGITS);

    /** @param startMs when the process was started */
    ClientProcess(ServiceSettings settings, InetSocketAddress server, long startMs) {
        this.settings = settings;
        this.server = server;
        this.startMs = startMs;
        endMs = startMs + (long) (1000 * settings.seconds());
        warmMs = endMs - (long) (1000 * settings.warmSeconds());
        tenths = new AtomicLongArray((int) Math.ceil(10 * settings.seconds()) + 1);
    }

    Figures run() throws IOException, InterruptedException {
        ProcessorTime processor = ProcessorTime.between(warmMs, endMs);
        ThreadFactory threads = settings.isVirtual() ? Thread.ofVirtual().factory()
                : Thread.ofPlatform().factory();
        try (ExecutorService executor = Executors.newThreadPerTaskExecutor(threads)) {
            List<Future<?>> running = new ArrayList<>();
            for (int i = 0; i < settings.connections(); i++) {
                running.add(executor.submit(() -> {
                    call();
                    return 0;
                }));
            }
            for (Future<?> each : running) {
                each.get();
            }
        } catch (ExecutionException e) {
            throw new IOException(e.getCause());
        }
        Figures figures = new Figures();
        for (int i = 0; i < FIRST.length; i++) {
            if (FIRST_SECONDS[i] <= settings.seconds()) {
                figures.with(FIRST[i], sum(0, FIRST_SECONDS[i]) / FIRST_SECONDS[i]);
            }
        }
        double warm = sum(settings.seconds() - settings.warmSeconds(), settings.seconds());
        figures.with(Quantity.WARM_PER_SECOND, warm / settings.warmSeconds());
        figures.with(Quantity.CPU_SHARE, processor.share());
        if (latencies.getTotalCount() > 0) {
            figures.with(Quantity.LATENCY_99_NS, (double) latencies.getValueAtPercentile(99));
        }
        return figures;
    }

    private void call() throws IOException, InterruptedException {
        try (Caller caller = settings.isTcp() ? new TcpCaller(server, settings.work())
                : new RdmaCaller(server, settings.work())) {
            if (settings.isSilent()) {
                Thread.sleep(Math.max(0, endMs - System.currentTimeMillis()));
                return;
            }
            long beginNs = System.nanoTime();
            for (long nowMs = System.currentTimeMillis(); nowMs < endMs;) {
                caller.call();
                long doneNs = System.nanoTime();
                nowMs = System.currentTimeMillis();
                if (nowMs < endMs) {
                    tenths.incrementAndGet((int) ((nowMs - startMs) / 100));
                }
                if (nowMs >= warmMs) {
                    latencies.recordValue(Math.min(doneNs - beginNs, LONGEST_NS));
                }
                beginNs = doneNs;
            }
        }
    }

    private double sum(double fromSeconds, double toSeconds) {
        long sum = 0;
        for (int i = (int) Math.round(10 * fromSeconds); i < Math.round(10 * toSeconds); i++) {
            sum += tenths.get(i);
        }
        return (double) sum;
    }
}
