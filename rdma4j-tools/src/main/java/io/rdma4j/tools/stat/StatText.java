// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.stat;

import io.rdma4j.tools.output.Terminal;

import java.io.PrintWriter;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Prints readings for people: counters that are not zero, and what was added since the last time. Devices that did nothing are
 * only named.
 */
final class StatText {
    private final PrintWriter out;
    private final int columns;
    private final boolean withIdle;
    private final boolean withZeros;
    private final boolean withPairs;
    private final Map<String, Long> previous = new HashMap<>();
    private boolean isFirst = true;
    private long lookedNs;
    private double elapsedSeconds;

    /**
     * @param columns the width of the terminal, or {@link Terminal#ENDLESS}
     * @param withIdle whether devices that did nothing are shown as the others are
     */
    StatText(PrintWriter out, int columns, boolean withIdle, boolean withZeros,
            boolean withPairs) {
        this.out = out;
        this.columns = columns;
        this.withIdle = withIdle;
        this.withZeros = withZeros;
        this.withPairs = withPairs;
    }

    void print(Iterable<ProcessReading> processes) {
        long nowNs = System.nanoTime();
        elapsedSeconds = (nowNs - lookedNs) / 1e9;
        lookedNs = nowNs;
        if (!isFirst) {
            out.printf("%n%s%n",
                    LocalTime.now(ZoneId.systemDefault()).truncatedTo(ChronoUnit.SECONDS)
                            .format(DateTimeFormatter.ISO_LOCAL_TIME));
        }
        for (ProcessReading process : processes) {
            out.printf("process %d (%s)%n", process.pid(), process.program());
            List<String> idle = new ArrayList<>();
            for (DeviceReading device : process.devices()) {
                if (isIdle(device) && !withIdle) {
                    idle.add(device.name());
                } else {
                    print(process.pid() + "/" + device.name(), device);
                }
            }
            if (!idle.isEmpty()) {
                line("  ", "idle: " + String.join(", ", idle));
            }
        }
        out.flush();
        isFirst = false;
    }

    private void line(String indent, String text) {
        out.println(Terminal.wrapped(indent, text, columns));
    }

    private static boolean isIdle(DeviceReading device) {
        return device.queuePairs().isEmpty() && !device.counters().isEmpty()
                && device.counters().values().stream().allMatch(value -> value == 0);
    }

    private void print(String key, DeviceReading device) {
        line("  ", String.format("%s: %s; %s, %s%s%s", device.name(),
                String.join(", ", device.gids()), count(device.contexts(), "context"),
                count(device.queuePairs().size(), "queue pair"),
                device.capture().isEmpty() ? "" : "; recorded in " + device.capture(),
                device.impairment().equals("none") ? "" : "; impaired: " + device.impairment()));
        if (device.counters().isEmpty()) {
            out.println("    the driver counts nothing");
        }
        print("    ", key, device.counters());
        if (withPairs) {
            for (QueuePairReading pair : device.queuePairs()) {
                line("    ", String.format("queue pair 0x%06x %s %s%s%s", pair.number(),
                        pair.type(), pair.state(), pair.peerAddress().isEmpty() ? ""
                                : String.format(", peer %s 0x%06x", pair.peerAddress(),
                                        pair.peerNumber()),
                        pair.way().isEmpty() ? "" : ", way " + pair.way()));
                print("      ", key + "/" + pair.number(), pair.counters());
            }
        }
    }

    private String perSecond(long added) {
        double rate = added / elapsedSeconds;
        return String.format(rate < 10 ? "  %.1f/s" : "  %.0f/s", rate);
    }

    private static String count(int count, String what) {
        return count + " " + what + (count == 1 ? "" : "s");
    }

    private void print(String indent, String key, Map<String, Long> counters) {
        boolean isAnyShown = false;
        for (Map.Entry<String, Long> counter : counters.entrySet()) {
            long value = counter.getValue();
            Long before = previous.put(key + "/" + counter.getKey(), value);
            if (value != 0 || withZeros) {
                long added = before == null ? value : value - before;
                out.printf("%s%-24s %14d%s%n", indent, counter.getKey(), value,
                        isFirst || added == 0 ? "" : "  +" + added + perSecond(added));
                isAnyShown = true;
            }
        }
        if (!isAnyShown && !counters.isEmpty()) {
            out.printf("%sall counters are zero%n", indent);
        }
    }
}
