package io.rdma4j.tools.stat;

import java.io.PrintWriter;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Prints readings for programs: an array of devices on one line, all counters, with those that are zero. */
final class StatJson {
    private final PrintWriter out;
    private final boolean withPairs;

    StatJson(PrintWriter out, boolean withPairs) {
        this.out = out;
        this.withPairs = withPairs;
    }

    void print(List<ProcessReading> processes) {
        out.println(text(processes.stream().flatMap(process -> process.devices().stream()
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
        object.put("counters", pair.counters());
        return object;
    }

    private static String text(Object value) {
        return switch (value) {
            case Map<?, ?> map -> map.entrySet().stream()
                    .map(each -> quoted(String.valueOf(each.getKey())) + ":"
                            + text(each.getValue()))
                    .collect(Collectors.joining(",", "{", "}"));
            case Collection<?> list -> list.stream().map(StatJson::text)
                    .collect(Collectors.joining(",", "[", "]"));
            case Number number -> number.toString();
            default -> quoted(value.toString());
        };
    }

    private static String quoted(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                quoted.append('\\').append(c);
            } else if (c < ' ') {
                quoted.append(String.format("\\u%04x", (int) c));
            } else {
                quoted.append(c);
            }
        }
        return quoted.append('"').toString();
    }
}
