// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.cmtools;

import java.io.PrintWriter;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;

/** When each connection, and all together, began and ended each step. */
final class StepTimes {
    private static final double NS_PER_US = 1e3;
    private static final double NS_PER_MS = 1e6;

    /** Of a step: beginnings and ends, the last ones those of all connections; 0 for none. */
    private record Times(long[] beginNs, long[] endNs) {}

    private final int connections;
    private final Map<CmtimeStep, Times> steps = new EnumMap<>(CmtimeStep.class);

    StepTimes(int connections) {
        this.connections = connections;
        for (CmtimeStep step : CmtimeStep.values()) {
            steps.put(step, new Times(new long[connections + 1], new long[connections + 1]));
        }
    }

    private Times of(CmtimeStep step) {
        return Objects.requireNonNull(steps.get(step));
    }

    void begin(CmtimeStep step, int connection, long nowNs) {
        of(step).beginNs[connection] = nowNs;
    }

    void end(CmtimeStep step, int connection, long nowNs) {
        of(step).endNs[connection] = nowNs;
    }

    void beginAll(CmtimeStep step, long nowNs) {
        begin(step, connections, nowNs);
    }

    void endAll(CmtimeStep step, long nowNs) {
        end(step, connections, nowNs);
    }

    void print(PrintWriter out) {
        out.println("step              total ms     max ms     min us  us / conn");
        for (CmtimeStep step : CmtimeStep.values()) {
            Times times = of(step);
            long total = times.endNs[connections] - times.beginNs[connections];
            if (times.endNs[connections] == 0) {
                continue;
            }
            long longest = 0;
            long shortest = Long.MAX_VALUE;
            for (int i = 0; i < connections; i++) {
                if (times.endNs[i] != 0) {
                    longest = Math.max(longest, times.endNs[i] - times.beginNs[i]);
                    shortest = Math.min(shortest, times.endNs[i] - times.beginNs[i]);
                }
            }
            out.printf(Locale.ROOT, "%-13s: %11.2f%11.2f%11.2f%11.2f%n", step.text(),
                    total / NS_PER_MS, longest / NS_PER_MS,
                    shortest == Long.MAX_VALUE ? 0 : shortest / NS_PER_US,
                    total / NS_PER_US / connections);
        }
        out.flush();
    }
}
