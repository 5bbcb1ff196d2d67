// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.stat;

import io.rdma4j.tools.output.Terminal;

import java.io.PrintWriter;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Prints sockets for people, as {@code ss -tin} does: a line of addresses and one of details. */
final class SocketsText {
    private static final String LOCAL = "Local Address:Port";

    private final PrintWriter out;
    private final int columns;
    private final Growth growth = new Growth();
    private final Set<Long> shown = new HashSet<>();

    /** @param columns the width of the terminal, or {@link Terminal#ENDLESS} */
    SocketsText(PrintWriter out, int columns) {
        this.out = out;
        this.columns = columns;
    }

    /** @param processes also those that have no socket open, which are not shown unless they had one */
    void print(List<SocketsReading> processes) {
        long nowNs = System.nanoTime();
        for (SocketsReading process : processes) {
            growth.begin(process.pid(), nowNs);
            if (!process.isEmpty() || shown.contains(process.pid())) {
                shown.add(process.pid());
                print(process);
            }
        }
        out.flush();
    }

    private void print(SocketsReading process) {
        out.printf("process %d (%s)%n", process.pid(), process.program());
        if (process.isEmpty()) {
            out.println("  nothing to show");
            return;
        }
        int width = Stream.of(process.listeners().stream().map(ListenerReading::local),
                process.connections().stream().map(ConnectionReading::local),
                process.datagrams().stream().map(DatagramReading::local))
                .flatMap(each -> each).mapToInt(String::length)
                .reduce(LOCAL.length(), Math::max);
        out.printf("  %-12s %7s %7s  %s  %s%n", "State", "Recv-Q", "Send-Q",
                padded(LOCAL, width),
                "Peer Address:Port");
        for (ListenerReading each : process.listeners()) {
            out.printf("  %-12s %7d %7d  %s  *%n", "LISTEN", each.waiting(), each.backlog(),
                    padded(each.local(), width));
            if (!each.rule().isEmpty()) {
                out.println(Terminal.wrapped("    ", rule(each.rule()).strip(), columns));
            }
        }
        for (ConnectionReading each : process.connections()) {
            print(each, width);
        }
        for (DatagramReading each : process.datagrams()) {
            print(each, width);
        }
    }

    private static String padded(String text, int width) {
        return text + " ".repeat(width - text.length());
    }

    private void print(ConnectionReading each, int width) {
        out.printf("  %-12s %7d %7d  %s  %s%n", each.state(), each.readable(),
                each.unacknowledged(), padded(each.local(), width), each.peer());
        String key = each.device() + "/" + each.queuePair() + "/";
        out.println(Terminal.wrapped("    ", String.format(
                "%s qp:0x%06x%s %s rcvbuf:%d sndbuf:%d rcv_credits:%d snd_credits:%d"
                        + " rcv_room:%d snd_room:%d bytes_received:%s bytes_sent:%s%s%s age:%d.%03ds%s",
                each.device(), each.queuePair(), each.way().isEmpty() ? "" : " way:" + each.way(),
                each.side(), each.receiveBuffer(), each.sendBuffer(), each.receiveCredits(),
                each.sendCredits(), each.receiveRoom(), each.sendRoom(),
                grown(key + "received", each.receivedBytes()),
                grown(key + "sent", each.sentBytes()),
                each.mappedBytes() == 0
                        ? ""
                        : " bytes_mapped:" + grown(key + "mapped", each.mappedBytes()),
                each.keepaliveSeconds() == 0 ? "" : " keepalive:" + each.keepaliveSeconds() + "s",
                each.ageMs() / 1000, each.ageMs() % 1000, rule(each.rule())), columns));
    }

    private void print(DatagramReading each, int width) {
        out.printf("  %-12s %7d %7d  %s  %s%n", "DATAGRAM", each.waiting(), each.leaving(),
                padded(each.local(), width), each.peer());
        String key = each.local() + "/";
        out.println(Terminal.wrapped("    ", String.format(
                "%srcvbuf:%d sndbuf:%d peers:%d datagrams_received:%s bytes_received:%s"
                        + " datagrams_dropped:%s datagrams_sent:%s bytes_sent:%s"
                        + " datagrams_introduced:%s age:%d.%03ds%s",
                each.queuePairs().stream().map(SocketsText::text).collect(Collectors.joining()),
                each.receiveBuffer(), each.sendBuffer(), each.peers(),
                grown(key + "received", each.receivedDatagrams()),
                grown(key + "received bytes", each.receivedBytes()),
                grown(key + "dropped", each.droppedDatagrams()),
                grown(key + "sent", each.sentDatagrams()),
                grown(key + "sent bytes", each.sentBytes()),
                grown(key + "introduced", each.introducedDatagrams()),
                each.ageMs() / 1000, each.ageMs() % 1000, rule(each.rule())), columns));
    }

    /** {@return the rule, if there is one; last, for it may have blanks} */
    private static String rule(String rule) {
        return rule.isEmpty() ? "" : " rule:" + rule;
    }

    private static String text(DatagramReading.QueuePair each) {
        return String.format("%s qp:0x%06x%s ", each.device(), each.number(),
                each.way().isEmpty() ? "" : " way:" + each.way());
    }

    /** {@return a number, with what was added since the last time} */
    private String grown(String key, long value) {
        long added = growth.added(key, value);
        return value + (added == 0 ? "" : "(+" + added + ")");
    }
}
