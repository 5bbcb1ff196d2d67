// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.stat;

import io.rdma4j.tools.output.Json;

import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Prints readings for programs: an array of devices on one line, all counters, with those that are zero. */
final class StatJson {
    private final PrintWriter out;
    private final boolean withPairs;

    StatJson(PrintWriter out, boolean withPairs) {
        this.out = out;
        this.withPairs = withPairs;
    }

    void print(List<ProcessReading> processes) {
        out.println(Json.text(processes.stream().flatMap(process -> process.devices().stream()
                .map(device -> device(process, device))).toList()));
        out.flush();
    }

    private Map<String, Object> device(ProcessReading process, DeviceReading device) {
        Map<String, Object> object = new LinkedHashMap<>();
        object.put("pid", process.pid());
        object.put("program", process.program());
        object.put("device", device.name());
        object.put("gids", device.gids());
        object.put("contexts", device.contexts());
        object.put("capture", device.capture());
        object.put("impairment", device.impairment());
        object.put("counters", device.counters());
        if (withPairs) {
            object.put("queue_pairs", device.queuePairs().stream().map(StatJson::pair).toList());
        }
        return object;
    }

    private static Map<String, Object> pair(QueuePairReading pair) {
        Map<String, Object> object = new LinkedHashMap<>();
        object.put("number", pair.number());
        object.put("type", pair.type());
        object.put("state", pair.state());
        object.put("peer_address", pair.peerAddress());
        object.put("peer_number", pair.peerNumber());
        object.put("way", pair.way());
        object.put("counters", pair.counters());
        return object;
    }
}
