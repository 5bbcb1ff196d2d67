// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.stat;

import io.rdma4j.tools.output.Json;

import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Prints sockets for programs: an array of listeners, connections and sockets of datagrams on one line. */
final class SocketsJson {
    private final PrintWriter out;

    SocketsJson(PrintWriter out) {
        this.out = out;
    }

    void print(List<SocketsReading> processes) {
        out.println(Json.text(processes.stream().flatMap(SocketsJson::sockets).toList()));
        out.flush();
    }

    private static Stream<Map<String, Object>> sockets(SocketsReading process) {
        return Stream.of(
                process.listeners().stream().map(each -> listener(process, each)),
                process.connections().stream().map(each -> connection(process, each)),
                process.datagrams().stream().map(each -> datagrams(process, each)))
                .flatMap(each -> each);
    }

    private static Map<String, Object> begun(SocketsReading process, String state, String local) {
        Map<String, Object> object = new LinkedHashMap<>();
        object.put("pid", process.pid());
        object.put("program", process.program());
        object.put("state", state);
        object.put("local", local);
        return object;
    }

    private static Map<String, Object> listener(SocketsReading process, ListenerReading listener) {
        Map<String, Object> object = begun(process, "LISTEN", listener.local());
        object.put("backlog", listener.backlog());
        object.put("waiting", listener.waiting());
        object.put("answered", listener.answered());
        object.put("rule", listener.rule());
        return object;
    }

    private static Map<String, Object> connection(SocketsReading process, ConnectionReading each) {
        Map<String, Object> object = begun(process, each.state(), each.local());
        object.put("peer", each.peer());
        object.put("side", each.side());
        object.put("device", each.device());
        object.put("queue_pair", each.queuePair());
        object.put("way", each.way());
        object.put("receive_buffer", each.receiveBuffer());
        object.put("send_buffer", each.sendBuffer());
        object.put("readable", each.readable());
        object.put("unacknowledged", each.unacknowledged());
        object.put("receive_credits", each.receiveCredits());
        object.put("send_credits", each.sendCredits());
        object.put("receive_room", each.receiveRoom());
        object.put("send_room", each.sendRoom());
        object.put("received_bytes", each.receivedBytes());
        object.put("sent_bytes", each.sentBytes());
        object.put("mapped_bytes", each.mappedBytes());
        object.put("keepalive_seconds", each.keepaliveSeconds());
        object.put("rule", each.rule());
        object.put("age_ms", each.ageMs());
        return object;
    }

    private static Map<String, Object> datagrams(SocketsReading process, DatagramReading each) {
        Map<String, Object> object = begun(process, "DATAGRAM", each.local());
        object.put("peer", each.peer());
        object.put("receive_buffer", each.receiveBuffer());
        object.put("send_buffer", each.sendBuffer());
        object.put("waiting", each.waiting());
        object.put("leaving", each.leaving());
        object.put("peers", each.peers());
        object.put("received_datagrams", each.receivedDatagrams());
        object.put("received_bytes", each.receivedBytes());
        object.put("dropped_datagrams", each.droppedDatagrams());
        object.put("sent_datagrams", each.sentDatagrams());
        object.put("sent_bytes", each.sentBytes());
        object.put("introduced_datagrams", each.introducedDatagrams());
        object.put("rule", each.rule());
        object.put("age_ms", each.ageMs());
        object.put("queue_pairs", each.queuePairs().stream().map(SocketsJson::queuePair).toList());
        return object;
    }

    private static Map<String, Object> queuePair(DatagramReading.QueuePair each) {
        Map<String, Object> object = new LinkedHashMap<>();
        object.put("device", each.device());
        object.put("queue_pair", each.number());
        object.put("way", each.way());
        object.put("address", each.address());
        return object;
    }
}
