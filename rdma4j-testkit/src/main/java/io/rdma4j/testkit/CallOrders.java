// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.testkit;

import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.TransportType;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What each call of librdmacm does to an id in each state. Linux's answers are measured by {@code interop/orders}, which writes
 * them into the resources {@code orders-roce.txt} and {@code orders-iwarp.txt}; {@code orders-differences.txt} says where
 * rdma4j answers differently, and why.
 */
final class CallOrders {
    private static final Pattern DIFFERENCE = Pattern.compile(
            "(\\S+) +(\\S+) +(\\S+) +(\\S+) +=> +([^:]+): (.+)");

    private CallOrders() {}

    /**
     * A call in a state.
     *
     * @param linux what Linux answers
     * @param expected what rdma4j has to answer
     */
    record Cell(PortSpace space, String state, String call, String linux, String expected) {
        /** {@return whether an event of the id may follow} */
        boolean hasEvent() {
            return expected.startsWith("ok ");
        }

        /** {@return whether none does} */
        boolean isQuiet() {
            return expected.equals("ok -");
        }

        @Override
        public String toString() {
            return call + " in state " + state + " of port space " + space + ", where Linux has "
                    + linux;
        }
    }

    /** Cells that devices of some profiles answer differently; an asterisk stands for any. */
    record Difference(Set<String> profiles, Set<String> spaces, Set<String> states,
            Set<String> calls, String expected, String reason) {
        boolean covers(ConformanceProfile profile, String space, String state, String call) {
            return covers(profiles, profile.text()) && covers(spaces, space)
                    && covers(states, state) && covers(calls, call);
        }

        private static boolean covers(Set<String> names, String name) {
            return names.contains("*") || names.contains(name);
        }
    }

    /** {@return the cells of a port space for the devices of a profile; none where no such device has the space} */
    static List<Cell> of(ConformanceProfile profile, PortSpace space) {
        String table = profile.transport() == TransportType.IWARP
                ? "orders-iwarp.txt"
                : "orders-roce.txt";
        List<Difference> differences = differences();
        List<Cell> cells = new ArrayList<>();
        for (String line : lines(table)) {
            String[] words = line.split(" +", 4);
            if (PortSpace.valueOf(words[0]) == space) {
                String linux = words[3];
                String expected = differences.stream()
                        .filter(each -> each.covers(profile, words[0], words[1], words[2]))
                        .map(Difference::expected).findFirst().orElse(linux);
                cells.add(new Cell(space, words[1], words[2], linux, expected));
            }
        }
        return cells;
    }

    /** {@return where rdma4j differs; of several that cover a cell the first counts} */
    static List<Difference> differences() {
        List<Difference> differences = new ArrayList<>();
        for (String line : lines("orders-differences.txt")) {
            Matcher words = DIFFERENCE.matcher(line);
            if (!words.matches()) {
                throw new IllegalStateException("not a difference with its reason: " + line);
            }
            differences.add(new Difference(names(words.group(1)), names(words.group(2)),
                    names(words.group(3)), names(words.group(4)), words.group(5).strip(),
                    words.group(6)));
        }
        return differences;
    }

    private static Set<String> names(String list) {
        return Set.of(list.split(",", -1));
    }

    private static List<String> lines(String resource) {
        try (InputStream in = Objects.requireNonNull(
                CallOrders.class.getResourceAsStream(resource), resource)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8).lines()
                    .filter(line -> !line.isBlank() && !line.startsWith("#")).toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
