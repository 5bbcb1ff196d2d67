package io.rdma4j.tools;

import io.rdma4j.observe.jmx.DeviceMXBean;
import io.rdma4j.observe.jmx.QueuePairData;
import io.rdma4j.observe.registry.ShownDevice;

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
                Map.of("sent_pkts", 5L, "out_of_buffer", 3L, "symbol_error", 0L)));
        ShownDevice second = ShownDevice.show(new Device("foreign1", Map.of()));
        System.out.println("shown");
        while (System.in.read() >= 0) {
            Thread.onSpinWait();
        }
        second.hide();
        first.hide();
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
