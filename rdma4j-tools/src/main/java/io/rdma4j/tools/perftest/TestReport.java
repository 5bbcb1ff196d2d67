// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.perftest;

import io.rdma4j.verbs.LinkLayer;
import io.rdma4j.verbs.TransportType;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.DoubleConsumer;

/** What a tool prints: what is measured, and a line of columns for each size, as the C programs do. */
final class TestReport {
    private static final String LINE = "-".repeat(87);
    private static final double MEDIAN = 50;
    private static final double TYPICAL_GIGABITS = 0.1;

    /** Names that read otherwise where they are printed. */
    private static final Map<String, String> LABELS = Map.of("rdma_cm_QPs", "rdma_cm QPs",
            "Data_ex_method", "Data ex. method");

    private final PrintWriter out;
    private final Plan plan;
    private final ReportOptions options;
    private final JsonFile json;
    /** Whether results are neither computed nor printed. */
    private final boolean isQuiet;

    TestReport(PrintWriter out, Plan plan, ReportOptions options) {
        this(out, plan, options, false);
    }

    private TestReport(PrintWriter out, Plan plan, ReportOptions options, boolean isQuiet) {
        this.out = out;
        this.plan = plan;
        this.options = options;
        this.isQuiet = isQuiet;
        json = new JsonFile(options.jsonFile());
    }

    /** {@return a report of another plan that ignores its results} A peer may be waiting while they are computed. */
    TestReport quiet(Plan other) {
        return new TestReport(out, other, new ReportOptions(options.unit(), false, false, null),
                true);
    }

    BandwidthUnit unit() {
        return options.unit();
    }

    /** {@return where times go that this can print} */
    Latencies latencies(TimeWindow window) {
        return new Latencies(window, plan.verb().isAnswered() ? 1 : 2,
                options.isUnsorted() ? plan.iterations() : 0);
    }

    // ---------------------------------------------------------------- before

    void printWaiting() {
        line("");
        line("************************************");
        line("* Waiting for client to connect... *");
        line("************************************");
        out.flush();
    }

    void printTest(TestSide side, WarmUp warmUp) {
        Map<String, Object> facts = facts(side);
        facts.put("Warm-up", warmUp.text());
        json.test(plan.title().replace(' ', '_'), facts);
        line(LINE);
        line("                    " + plan.title());
        facts.forEach((name, value) -> line(String.format(Locale.ROOT, " %-15s : %s%s",
                LABELS.getOrDefault(name, name.replace('_', ' ')), value, unitOf(name))));
        line(LINE);
    }

    private static String unitOf(String fact) {
        return "Mtu".equals(fact) || "Max_inline_data".equals(fact) ? "[B]" : "";
    }

    /** {@return the name that the C programs print} */
    private static String transport(TransportType type) {
        return switch (type) {
            case INFINIBAND -> "IB";
            case IWARP -> "IW";
            case USNIC, USNIC_UDP -> "USNIC";
            case UNSPECIFIED, UNKNOWN -> "UNKNOWN";
        };
    }

    private static String link(LinkLayer layer) {
        return switch (layer) {
            case INFINIBAND -> "IB";
            case ETHERNET -> "Ethernet";
            case UNSPECIFIED, UNKNOWN -> "Unknown";
        };
    }

    private Map<String, Object> facts(TestSide side) {
        Map<String, Object> facts = new LinkedHashMap<>();
        facts.put("Dual-port", "OFF");
        facts.put("Device", side.device());
        facts.put("Number_of_qps", plan.queuePairs());
        facts.put("Transport_type", transport(side.transport()));
        facts.put("Connection_type", plan.type());
        facts.put("Using_SRQ", "OFF");
        if (plan.usesEvents()) {
            facts.put("Events", "ON");
        }
        if (plan.isSending()) {
            facts.put("TX_depth", plan.sendDepth());
        }
        if (plan.list() > 1) {
            facts.put("Post_List", plan.list());
        }
        if (plan.isReceiving()) {
            facts.put("RX_depth", plan.receiveDepth());
        }
        if (!plan.isLatency()) {
            facts.put("CQ_Moderation", plan.moderation());
        }
        facts.put("Mtu", side.mtu().bytes());
        facts.put("Link_type", link(side.linkLayer()));
        facts.put("GID_index", side.gidIndex());
        if (plan.verb().isAnswered()) {
            facts.put("Outstand_reads", side.outstandingReads());
        } else {
            facts.put("Max_inline_data", plan.inlineBytes());
        }
        facts.put("rdma_cm_QPs", side.isManaged() ? "ON" : "OFF");
        facts.put("Data_ex_method", side.isManaged() ? "rdma_cm" : "Ethernet");
        return facts;
    }

    void printEndpoint(String side, Endpoint endpoint) {
        line(endpoint.text(side, plan.verb()));
        line(endpoint.gidText());
    }

    void printColumns() {
        line(LINE);
        line(columns());
        out.flush();
    }

    private String columns() {
        if (!plan.isLatency()) {
            return String.format(Locale.ROOT, " #bytes     #iterations    BW peak[%1$s]"
                    + "    BW average[%1$s]   MsgRate[Mpps]", unit().text());
        }
        return plan.isTimed()
                ? " #bytes        #iterations       t_avg[usec]    tps average"
                : " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]"
                        + "    t_avg[usec]    t_stdev[usec]   99% percentile[usec]"
                        + "   99.9% percentile[usec] ";
    }

    // ---------------------------------------------------------------- results

    void print(BandwidthResult result) throws IOException {
        if (isQuiet) {
            return;
        }
        // Small values in gigabits have more digits.
        boolean isLittle = unit() == BandwidthUnit.GIGABITS
                && result.average() < TYPICAL_GIGABITS;
        line(String.format(Locale.ROOT,
                isLittle
                        ? " %-7d    %d           %-7.6f            %-7.6f            %-7.6f"
                        : " %-7d    %-10d       %-7.2f            %-7.2f\t\t   %-7.6f",
                result.size(), result.messages(), result.peak(), result.average(),
                result.rate()));
        out.flush();
        Map<String, Object> values = new LinkedHashMap<>();
        values.put("MsgSize", result.size());
        values.put("n_iterations", result.messages());
        values.put("BW_peak", result.peak());
        values.put("BW_average", result.average());
        values.put("MsgRate", result.rate());
        json.result(values);
    }

    void print(long size, Latencies latencies) throws IOException {
        if (isQuiet) {
            return;
        }
        if (!plan.isTimed()) {
            printEach(latencies);
        }
        Map<String, Object> values = new LinkedHashMap<>();
        values.put("MsgSize", size);
        values.put("n_iterations", latencies.messages());
        if (plan.isTimed()) {
            values.put("t_avg", latencies.averageUs());
            values.put("tps_average", latencies.perSecond());
            line(String.format(Locale.ROOT, " %-7d       %d            %-7.2f        %-7.2f",
                    values.values().toArray()));
        } else {
            values.put("t_min", latencies.shortestUs());
            values.put("t_max", latencies.longestUs());
            values.put("t_typical", latencies.percentileUs(MEDIAN));
            values.put("t_avg", latencies.averageUs());
            values.put("t_stdev", latencies.deviationUs());
            values.put("percentile_99", latencies.percentileUs(99));
            values.put("percentile_99.9", latencies.percentileUs(99.9));
            line(String.format(Locale.ROOT, " %-7d %d          %-7.2f        %-7.2f      %-7.2f"
                    + "  \t       %-7.2f     \t%-7.2f\t\t%-7.2f \t\t%-7.2f",
                    values.values().toArray()));
        }
        out.flush();
        json.result(values);
    }

    private void printEach(Latencies latencies) {
        if (!options.isUnsorted() && !options.isSorted()) {
            return;
        }
        line("#, usec");
        int[] number = new int[1];
        DoubleConsumer print = us -> {
            number[0]++;
            line(String.format(Locale.ROOT, "%d, %.3f", number[0], us));
        };
        if (options.isUnsorted()) {
            latencies.eachInOrderUs(print);
        }
        if (options.isSorted()) {
            latencies.eachSortedUs(print);
        }
        printColumns();
    }

    void printEnd() {
        line(LINE);
        out.flush();
    }

    private void line(String text) {
        out.println(text);
    }
}
