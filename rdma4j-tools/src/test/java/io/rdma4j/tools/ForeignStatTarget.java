// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import io.rdma4j.observe.jmx.DeviceMXBean;
import io.rdma4j.observe.jmx.QueuePairData;
import io.rdma4j.observe.registry.ShownDevice;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A program with two devices that JMX shows and that are no software devices, as native ones are not: one whose driver counts,
 * one whose driver does not.
 */
final class ForeignStatTarget {
    private ForeignStatTarget() {}

    public static void main(String[] arguments) throws Exception {
        ShownDevice first = ShownDevice.show(new Device("foreign0",
                counters("symbol_error", 0L, "sent_pkts", 5L, "out_of_buffer", 3L)));
        ShownDevice second = ShownDevice.show(new Device("foreign1", Map.of()));
        System.out.println("shown");
        while (System.in.read() >= 0) {
            Thread.onSpinWait();
        }
        second.hide();
        first.hide();
    }

    /** Counters in the order in which they are given, as every device has one: here not the order of their names. */
    private static Map<String, Long> counters(Object... namesAndValues) {
        Map<String, Long> counters = new LinkedHashMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            counters.put((String) namesAndValues[i], (Long) namesAndValues[i + 1]);
        }
        return counters;
    }

    private record Device(String name, Map<String, Long> counters) implements DeviceMXBean {
        @Override
        public String getName() {
            return name;
        }

        @Override
        public List<String> getGids() {
            return List.of("::ffff:10.0.0.1");
        }

        @Override
        public int getContexts() {
            return 1;
        }

        @Override
        public Map<String, Long> getCounters() {
            return counters;
        }

        @Override
        public int getQueuePairCount() {
            return 1;
        }

        @Override
        public List<QueuePairData> getQueuePairs() {
            return List
                    .of(new QueuePairData(0x11, "RC", "RTS", "10.0.0.2", 0x12, "", Map.of()));
        }
    }
}
