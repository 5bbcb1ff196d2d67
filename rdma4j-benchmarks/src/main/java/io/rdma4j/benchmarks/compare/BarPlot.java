// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.compare;

import io.rdma4j.benchmarks.workload.Quantity;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Bars beside each other as SVG: the median, and a line from the least to the most. */
final class BarPlot {
    private static final int WIDTH = 760;
    private static final int ROW = 26;
    private static final int LABELS = 330;
    private static final int VALUES = 110;
    private static final int TOP = 44;
    private static final String OURS = "#1f6f8b";
    private static final String THEIRS = "#b8c4c9";
    private static final String INK = "#24292f";

    private final String title;
    private final Quantity quantity;
    private final List<Bar> bars = new ArrayList<>();

    private record Bar(String label, boolean isOurs, Samples samples) {}

    BarPlot(String title, Quantity quantity) {
        this.title = title;
        this.quantity = quantity;
    }

    /** Adds a bar if the trial was measured. */
    BarPlot add(Session session, String id) {
        session.trial(id).ifPresent(trial -> session.samples(id, quantity)
                .ifPresent(samples -> bars.add(new Bar(trial.peer() + ": " + trial.work(),
                        trial.peer().equals(Catalogue.RDMA4J), samples))));
        return this;
    }

    boolean isEmpty() {
        return bars.isEmpty();
    }

    String svg() {
        double most = bars.stream().mapToDouble(bar -> bar.samples.most()).max().orElse(1);
        double scale = (WIDTH - LABELS - VALUES) / most;
        int height = TOP + bars.size() * ROW + 12;
        StringBuilder svg = new StringBuilder();
        svg.append(String.format(Locale.ROOT,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                        + "viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"13\">%n",
                WIDTH, height, WIDTH, height));
        svg.append("<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n");
        text(svg, 12, 24, "start", "bold", title + ", " + quantity.unit());
        for (int i = 0; i < bars.size(); i++) {
            append(svg, bars.get(i), TOP + i * ROW, scale);
        }
        return svg.append("</svg>\n").toString();
    }

    private void append(StringBuilder svg, Bar bar, int y, double scale) {
        Samples samples = bar.samples;
        int middle = y + ROW / 2;
        text(svg, LABELS - 8, middle + 4, "end", "normal", bar.label);
        svg.append(String.format(Locale.ROOT,
                "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>%n", LABELS,
                y + 4, samples.median() * scale, ROW - 8, bar.isOurs ? OURS : THEIRS));
        svg.append(String.format(Locale.ROOT,
                "<path d=\"M%.1f %dH%.1f\" stroke=\"%s\" stroke-width=\"1.5\"/>%n",
                LABELS + samples.least() * scale, middle, LABELS + samples.most() * scale, INK));
        text(svg, LABELS + samples.most() * scale + 6, middle + 4, "start", "normal",
                Text.number(quantity, samples.median()));
    }

    private static void text(StringBuilder svg, double x, double y, String anchor, String weight,
            String words) {
        svg.append(String.format(Locale.ROOT,
                "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" font-weight=\"%s\" fill=\"%s\">"
                        + "%s</text>%n",
                x, y, anchor, weight, INK,
                words.replace("&", "&amp;").replace("<", "&lt;")));
    }
}
