// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.observe;

import io.rdma4j.observe.jmx.DeviceMXBean;
import io.rdma4j.observe.jmx.QueuePairData;
import io.rdma4j.verbs.Gid;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

/** The JMX bean of an open device, for all its contexts of this process together. */
final class DeviceBean implements DeviceMXBean {
    private final String name;
    private final List<ShownContext> contexts = new CopyOnWriteArrayList<>();

    DeviceBean(String name) {
        this.name = name;
    }

    void add(ShownContext context) {
        contexts.add(context);
    }

    /** {@return whether that was the last one} */
    boolean remove(ShownContext context) {
        contexts.remove(context);
        return contexts.isEmpty();
    }

    @Override
    public String getName() {
        return name;
    }

    @Override
    public List<String> getGids() {
        // With RoCE a GID is in the table twice, once for each RoCE version.
        return contexts.stream().limit(1).flatMap(context -> context.gids().stream())
                .filter(gid -> !gid.isZero()).map(Gid::addressText).distinct().toList();
    }

    @Override
    public int getContexts() {
        return contexts.size();
    }

    @Override
    public Map<String, Long> getCounters() {
        return contexts.stream().findFirst().map(ShownContext::counters).orElse(Map.of());
    }

    @Override
    public int getQueuePairCount() {
        return contexts.stream().mapToInt(ShownContext::queuePairCount).sum();
    }

    @Override
    public List<QueuePairData> getQueuePairs() {
        return contexts.stream().flatMap(context -> context.queuePairs().stream())
                .sorted(Comparator.comparingInt(QueuePairData::number)).toList();
    }
}
