// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.observe.jfr;

import io.rdma4j.observe.jmx.DeviceMXBean;
import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;

/**
 * The open devices, and what each has counted when it was last looked at: the recorder asks in each period for what has been added.
 * Nobody looks while nothing is recorded. Thread safe.
 */
final class DeviceStatistics {
    private static final long NOT_COUNTED = -1;
    private static final int BYTES_OF_A_WORD = 4;
    /** Of a device that nobody has looked at. */
    private static final Look NEVER = new Look(0, null);

    private final Map<DeviceMXBean, Look> open = new ConcurrentHashMap<>();

    private record Look(long atNs, @Nullable Counts counts) {}

    /** A device was opened. */
    void add(DeviceMXBean device) {
        open.put(device, NEVER);
    }

    /** A device is closed. */
    void remove(DeviceMXBean device) {
        open.remove(device);
    }

    /** Records an event for each device that was looked at before. */
    void emit() {
        for (DeviceMXBean device : List.copyOf(open.keySet())) {
            long nowNs = System.nanoTime();
            Counts now = Counts.of(device.getCounters());
            Look before = open.replace(device, new Look(nowNs, now));
            if (before != null && before.counts != null) {
                emit(device, now.since(before.counts), nowNs - before.atNs);
            }
        }
    }

    private static void emit(DeviceMXBean device, Counts added, long elapsedNs) {
        DeviceStatisticsEvent event = new DeviceStatisticsEvent();
        event.device = device.getName();
        event.queuePairs = device.getQueuePairCount();
        event.elapsed = elapsedNs;
        event.sentPackets = added.sentPackets;
        event.receivedPackets = added.receivedPackets;
        event.sentBytes = added.sentBytes;
        event.receivedBytes = added.receivedBytes;
        event.sendRate = perSecond(added.sentBytes, elapsedNs);
        event.receiveRate = perSecond(added.receivedBytes, elapsedNs);
        event.retransmittedPackets = added.retransmittedPackets;
        event.failures = added.failures;
        event.drops = added.drops;
        event.commit();
    }

    private static double perSecond(long added, long elapsedNs) {
        return added == NOT_COUNTED || elapsedNs <= 0 ? 0 : added * 1e9 / elapsedNs;
    }

    /** Sums of counters of software devices, Linux's software devices, and adapters, each of which has names of its own. */
    record Counts(long sentPackets, long receivedPackets, long sentBytes, long receivedBytes,
            long retransmittedPackets, long failures, long drops) {
        static Counts of(Map<String, Long> counters) {
            return new Counts(
                    first(counters, "sent_pkts", "port_xmit_packets", 1),
                    first(counters, "rcvd_pkts", "port_rcv_packets", 1),
                    // The kernel counts words of adapters.
                    first(counters, "sent_bytes", "port_xmit_data", BYTES_OF_A_WORD),
                    first(counters, "rcvd_bytes", "port_rcv_data", BYTES_OF_A_WORD),
                    sum(counters, "retransmitted_pkts"::equals),
                    sum(counters, name -> name.matches(
                            "retry_(rnr_)?exceeded_err|req_(transport|rnr)_retries_exceeded")),
                    sum(counters, name -> name.startsWith("dropped_")
                            || name.equals("rx_icrc_encapsulated")));
        }

        private static long first(Map<String, Long> counters, String name, String ofAdapters,
                int unit) {
            Long value = counters.get(name);
            if (value != null) {
                return value;
            }
            Long other = counters.get(ofAdapters);
            return other == null ? NOT_COUNTED : unit * other;
        }

        private static long sum(Map<String, Long> counters, Predicate<String> isMeant) {
            return counters.entrySet().stream().filter(each -> isMeant.test(each.getKey()))
                    .map(Map.Entry::getValue).reduce(Long::sum).orElse(NOT_COUNTED);
        }

        /** {@return what has been added since earlier counts} */
        Counts since(Counts before) {
            return new Counts(added(sentPackets, before.sentPackets),
                    added(receivedPackets, before.receivedPackets),
                    added(sentBytes, before.sentBytes), added(receivedBytes, before.receivedBytes),
                    added(retransmittedPackets, before.retransmittedPackets),
                    added(failures, before.failures), added(drops, before.drops));
        }

        private static long added(long now, long before) {
            return now == NOT_COUNTED || before == NOT_COUNTED ? NOT_COUNTED
                    : Math.max(0, now - before);
        }
    }
}
