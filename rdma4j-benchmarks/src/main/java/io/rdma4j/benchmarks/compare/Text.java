// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.compare;

import io.rdma4j.benchmarks.workload.Quantity;

import java.util.Locale;

/** Values as people read them. */
final class Text {
    private Text() {}

    static String number(Quantity quantity, double value) {
        return String.format(Locale.ROOT, "%,." + quantity.digits() + "f",
                quantity.inUnits(value));
    }

    static String value(Quantity quantity, double value) {
        return number(quantity, value) + " " + quantity.unit();
    }

    static String ratio(double value) {
        return String.format(Locale.ROOT, value < 10 ? "%.2f" : "%.0f", value);
    }
}
