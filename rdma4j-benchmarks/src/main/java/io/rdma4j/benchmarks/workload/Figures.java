// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.workload;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What one run of a workload measured, in base units; processes tell each other in lines. */
public final class Figures {
    private static final String MARK = "figure";

    private final Map<Quantity, Double> values = new EnumMap<>(Quantity.class);

    /** Creates an empty set. */
    public Figures() {}

    /** {@return what lines say} Other lines are passed over. */
    public static Figures of(List<String> lines) {
        Figures figures = new Figures();
        lines.forEach(figures::read);
        return figures;
    }

    /** Adds a value. */
    public Figures with(Quantity quantity, double value) {
        values.put(quantity, value);
        return this;
    }

    /** {@return the value of a quantity, if it was measured} */
    public Optional<Double> value(Quantity quantity) {
        return Optional.ofNullable(values.get(quantity));
    }

    /** {@return all values} */
    public Map<Quantity, Double> values() {
        return values;
    }

    /** {@return one line for each} */
    public String toLines() {
        StringBuilder lines = new StringBuilder();
        values.forEach((quantity, value) -> lines.append(MARK).append(' ').append(quantity.name())
                .append(' ').append(value).append('\n'));
        return lines.toString();
    }

    /** Adds what a line says; other lines are passed over. */
    public void read(String line) {
        String[] words = line.split(" ", 3);
        if (words.length == 3 && words[0].equals(MARK)) {
            values.put(Quantity.valueOf(words[1]), Double.parseDouble(words[2]));
        }
    }
}
