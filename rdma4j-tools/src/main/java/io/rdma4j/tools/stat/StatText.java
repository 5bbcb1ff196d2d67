// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.stat;

import io.rdma4j.tools.output.Terminal;

import java.io.PrintWriter;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

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
    private final Growth growth = new Growth();
    private final Set<Long> shown = new HashSet<>();
    private boolean isFirst = true;

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

    /** @param processes also those that have no device open, which are not shown unless they had one */
    void print(List<ProcessReading> processes) {
        long nowNs = System.nanoTime();
        if (!isFirst) {
            out.printf("%n%s%n",
                    LocalTime.now(ZoneId.systemDefault()).truncatedTo(ChronoUnit.SECONDS)
                            .format(DateTimeFormatter.ISO_LOCAL_TIME));
        }
        for (ProcessReading process : processes) {
            growth.begin(process.pid(), nowNs);
            if (!process.isEmpty() || shown.contains(process.pid())) {
                shown.add(process.pid());
                print(process);
            }
        }
        out.flush();
        isFirst = false;
    }

    private void print(ProcessReading process) {
        out.printf("process %d (%s)%n", process.pid(), process.program());
        if (process.isEmpty()) {
            out.println("  nothing to show");
            return;
        }
        List<String> idle = new ArrayList<>();
        for (DeviceReading device : process.devices()) {
            if (isIdle(device) && !withIdle) {
                idle.add(device.name());
            } else {
                print(device);
            }
        }
        if (!idle.isEmpty()) {
            line("  ", "idle: " + String.join(", ", idle));
        }
    }

    private void line(String indent, String text) {
        out.println(Terminal.wrapped(indent, text, columns));
    }

    private static boolean isIdle(DeviceReading device) {
        return device.queuePairs().isEmpty() && !device.counters().isEmpty()
                && device.counters().values().stream().allMatch(value -> value == 0);
    }

    private void print(DeviceReading device) {
        line("  ", String.format("%s: %s; %s, %s%s%s", device.name(),
                String.join(", ", device.gids()), count(device.contexts(), "context"),
                count(device.queuePairs().size(), "queue pair"),
                device.capture().isEmpty() ? "" : "; recorded in " + device.capture(),
                device.impairment().equals("none") ? "" : "; impaired: " + device.impairment()));
        if (device.counters().isEmpty()) {
            out.println("    the driver counts nothing");
        }
        print("    ", device.name(), device.counters());
        if (withPairs) {
            for (QueuePairReading pair : device.queuePairs()) {
                line("    ", String.format("queue pair 0x%06x %s %s%s%s", pair.number(),
                        pair.type(), pair.state(), pair.peerAddress().isEmpty() ? ""
                                : String.format(", peer %s 0x%06x", pair.peerAddress(),
                                        pair.peerNumber()),
                        pair.way().isEmpty() ? "" : ", way " + pair.way()));
                print("      ", device.name() + "/" + pair.number(), pair.counters());
            }
        }
    }

    private String perSecond(long added) {
        double rate = growth.perSecond(added);
        return String.format(rate < 10 ? "  %.1f/s" : "  %.0f/s", rate);
    }

    private static String count(int count, String what) {
        return count + " " + what + (count == 1 ? "" : "s");
    }

    private void print(String indent, String key, Map<String, Long> counters) {
        boolean isAnyShown = false;
        for (Map.Entry<String, Long> counter : counters.entrySet()) {
            long value = counter.getValue();
            long added = growth.added(key + "/" + counter.getKey(), value);
            if (value != 0 || withZeros) {
                out.printf("%s%-24s %14d%s%n", indent, counter.getKey(), value,
                        added == 0 ? "" : "  +" + added + perSecond(added));
                isAnyShown = true;
            }
        }
        if (!isAnyShown && !counters.isEmpty()) {
            out.printf("%sall counters are zero%n", indent);
        }
    }
}
