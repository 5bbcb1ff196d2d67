// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.stat;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Prints readings as Prometheus reads them (its text format, version 0.0.4): a family for each counter, all of its values below one
 * another, with those that are zero. The collector of text files of its node exporter takes them.
 */
final class StatPrometheus {
    private final PrintWriter out;
    private final boolean withPairs;

    StatPrometheus(PrintWriter out, boolean withPairs) {
        this.out = out;
        this.withPairs = withPairs;
    }

    void print(List<ProcessReading> processes) {
        Map<String, List<String>> counters = new LinkedHashMap<>();
        List<String> pairs = new ArrayList<>();
        for (ProcessReading process : processes) {
            for (DeviceReading device : process.devices()) {
                String labels = "pid=\"" + process.pid() + "\",program=\""
                        + escaped(process.program()) + "\",device=\"" + escaped(device.name())
                        + '"';
                pairs.add("{" + labels + "} " + device.queuePairs().size());
                add(counters, "rdma4j_device_", labels, device.counters());
                if (withPairs) {
                    for (QueuePairReading pair : device.queuePairs()) {
                        add(counters, "rdma4j_queue_pair_",
                                labels + ",queue_pair=\"" + pair.number() + '"', pair.counters());
                    }
                }
            }
        }
        family("rdma4j_device_queue_pairs", "gauge", pairs);
        counters.forEach((name, values) -> family(name, "counter", values));
        out.flush();
    }

    private static void add(Map<String, List<String>> families, String prefix, String labels,
            Map<String, Long> counters) {
        counters.forEach((name, value) -> families
                .computeIfAbsent(prefix + name.replaceAll("[^A-Za-z0-9_]", "_") + "_total",
                        first -> new ArrayList<>())
                .add("{" + labels + "} " + value));
    }

    /** Lines end alike on every system. */
    private void family(String name, String type, List<String> values) {
        out.print("# TYPE " + name + " " + type + "\n");
        values.forEach(value -> out.print(name + value + "\n"));
    }

    private static String escaped(String label) {
        return label.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
    }
}
