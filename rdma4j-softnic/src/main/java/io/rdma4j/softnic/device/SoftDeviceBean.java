// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.device;

import io.rdma4j.observe.jmx.QueuePairData;
import io.rdma4j.softnic.observe.jmx.SoftDeviceMXBean;
import io.rdma4j.softnic.verbs.ListedQueuePair;
import io.rdma4j.verbs.Gid;

import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/** What JMX shows of an open device. */
final class SoftDeviceBean implements SoftDeviceMXBean {
    private final SoftNic nic;

    SoftDeviceBean(SoftNic nic) {
        this.nic = nic;
    }

    @Override
    public String getName() {
        return nic.device().name();
    }

    @Override
    public List<String> getGids() {
        return nic.gids().stream().filter(gid -> !gid.isZero()).map(Gid::addressText).toList();
    }

    @Override
    public int getContexts() {
        return nic.contexts();
    }

    @Override
    public String getCapture() {
        Path file = nic.options().capture();
        return file == null ? "" : file.toString();
    }

    @Override
    public String getImpairment() {
        return nic.options().impairment().toString();
    }

    @Override
    public Map<String, Long> getCounters() {
        return nic.engine().counters().byName(nic.transport().counters());
    }

    @Override
    public int getQueuePairCount() {
        return nic.objects().queuePairs().size();
    }

    @Override
    public List<QueuePairData> getQueuePairs() {
        return nic.objects().queuePairs().stream().map(SoftDeviceBean::data)
                .sorted(Comparator.comparingInt(QueuePairData::number)).toList();
    }

    private static QueuePairData data(ListedQueuePair queuePair) {
        Gid peer = queuePair.peer();
        return new QueuePairData(queuePair.number(), queuePair.type().name(),
                queuePair.lastState().name(), peer == null ? "" : peer.address().getHostAddress(),
                queuePair.peerNumber(), queuePair.way(), queuePair.counters());
    }
}
