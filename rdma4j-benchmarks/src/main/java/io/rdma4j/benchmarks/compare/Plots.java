// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.compare;

import io.rdma4j.benchmarks.workload.Quantity;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/** The plots of a session. */
final class Plots {
    private Plots() {}

    /** Writes those that have something to show. */
    static void write(Session session, Path directory) throws IOException {
        Map<String, BarPlot> plots = new LinkedHashMap<>();
        plots.put("bandwidth", new BarPlot("Bandwidth, one stream", Quantity.BYTES_PER_SECOND)
                .add(session, Catalogue.WRITE_1M).add(session, Catalogue.READ_1M)
                .add(session, Catalogue.SEND_1M).add(session, Catalogue.UDP_CEILING)
                .add(session, Catalogue.IPERF).add(session, Catalogue.IPERF_CUBIC)
                .add(session, Catalogue.TCP_STREAM).add(session, Catalogue.NETTY_STREAM)
                .add(session, Catalogue.AERON_STREAM).add(session, Catalogue.UCX_PUT)
                .add(session, Catalogue.JUCX_PUT));
        plots.put("latency", new BarPlot("Half a round trip of 64 B", Quantity.LATENCY_NS)
                .add(session, Catalogue.SEND_LATENCY).add(session, Catalogue.UDP_FLOOR)
                .add(session, Catalogue.AERON_LATENCY).add(session, Catalogue.UCX_LATENCY)
                .add(session, Catalogue.TCP_LATENCY_POLLING).add(session, Catalogue.NETTY_LATENCY)
                .add(session, Catalogue.SEND_LATENCY_EVENTS).add(session, Catalogue.TCP_LATENCY));
        plots.put("rate", new BarPlot("Messages of 64 B", Quantity.MESSAGES_PER_SECOND)
                .add(session, Catalogue.WRITE_RATE).add(session, Catalogue.AERON_RATE));
        BarPlot sizes = new BarPlot("WRITE by size and queue pairs", Quantity.BYTES_PER_SECOND);
        session.trials().stream().map(Trial::id).filter(id -> id.startsWith("rdma4j-write-")
                && !id.endsWith("loss")).forEach(id -> sizes.add(session, id));
        plots.put("sizes", sizes);
        for (Map.Entry<String, BarPlot> plot : plots.entrySet()) {
            if (!plot.getValue().isEmpty()) {
                Files.writeString(directory.resolve(plot.getKey() + ".svg"),
                        plot.getValue().svg());
            }
        }
    }
}
