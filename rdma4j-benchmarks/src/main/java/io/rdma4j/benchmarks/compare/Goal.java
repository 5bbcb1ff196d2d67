// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.compare;

import io.rdma4j.benchmarks.workload.Quantity;
import org.jspecify.annotations.Nullable;

import java.util.Optional;
import java.util.function.BiFunction;

/**
 * A figure that is sought: one trial against another of the same run, or against a number.
 *
 * @param what in words
 * @param kind whether it must be or is aimed at
 * @param trial whose figure it is
 * @param quantity which figure
 * @param against the trial it is divided by, or null to take it in its own unit
 * @param bound whether more or less is better
 * @param limit the least or the most
 */
record Goal(String what, Kind kind, String trial, Quantity quantity, @Nullable String against,
        Bound bound, double limit) {
    /** How much it counts. */
    enum Kind {
        TARGET, AIM
    }

    /** Which side of the limit is good. */
    enum Bound {
        AT_LEAST, AT_MOST
    }

    /** {@return the figure, if all that it needs was measured} */
    Optional<Double> measured(Session session) {
        return figure(session::samples);
    }

    /** {@return the figure of the trials that met processors far apart, if all that it needs did} */
    Optional<Double> measuredFar(Session session) {
        return figure(session::samplesFar);
    }

    private Optional<Double> figure(BiFunction<String, Quantity, Optional<Samples>> samples) {
        Optional<Double> own = samples.apply(trial, quantity).map(Samples::median);
        if (against == null) {
            return own.map(quantity::inUnits);
        }
        Optional<Double> other = samples.apply(against, quantity).map(Samples::median);
        return own.flatMap(value -> other.map(divisor -> value / divisor));
    }

    boolean isMetBy(double value) {
        return switch (bound) {
            case AT_LEAST -> value >= limit;
            case AT_MOST -> value <= limit;
        };
    }

    String sought() {
        String words = bound == Bound.AT_LEAST ? "at least " : "at most ";
        String number = limit == Math.rint(limit) && limit >= 1000 ? String.format("%,.0f", limit)
                : String.valueOf(limit);
        return (kind == Kind.AIM ? "aim: " : "") + words + number
                + (against == null ? " " + quantity.unit() : "");
    }

    String shown(double value) {
        return against == null
                ? String.format("%,." + quantity.digits() + "f %s", value, quantity.unit())
                : Text.ratio(value);
    }
}
