// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * The system properties of all of rdma4j, so that one line of the log tells of a misspelt one: nothing would ever read it, and the
 * program would run with the default.
 */
final class PropertyNames {
    private static final System.Logger LOG = System.getLogger(PropertyNames.class.getName());
    private static final String PREFIX = "rdma4j.";
    /** What tests alone read. */
    private static final List<String> OF_TESTS = List.of("rdma4j.test.", "rdma4j.conformance.");
    /** Of each module; a test finds what is missing here. */
    private static final Set<String> KNOWN = Set.of("rdma4j.cm.maxRetries",
            "rdma4j.cm.responseTimeout", "rdma4j.critical", "rdma4j.device", "rdma4j.devices",
            "rdma4j.disni.retries", "rdma4j.impair", "rdma4j.iwarp.crc", "rdma4j.iwarp.hold",
            "rdma4j.jmx", "rdma4j.loopback", "rdma4j.network", "rdma4j.patience", "rdma4j.pcap",
            "rdma4j.sockets.buffer", "rdma4j.sockets.open", "rdma4j.sockets.plain",
            "rdma4j.sockets.rules");

    private PropertyNames() {}

    /** Logs a warning for each property of this JVM that is called as one of rdma4j and is none. */
    static void warnOfUnknown() {
        for (String line : unknown(System.getProperties().stringPropertyNames())) {
            LOG.log(System.Logger.Level.WARNING, line);
        }
    }

    /** {@return a line for each unknown one of these names, in the order of the names} */
    static List<String> unknown(Collection<String> names) {
        List<String> lines = new ArrayList<>();
        for (String name : new TreeSet<>(names)) {
            if (name.startsWith(PREFIX) && !KNOWN.contains(name)
                    && OF_TESTS.stream().noneMatch(name::startsWith)) {
                String meant = nearest(name);
                lines.add("the system property " + name + " is unknown and changes nothing"
                        + (meant == null ? "" : "; did you mean " + meant + "?"));
            }
        }
        return lines;
    }

    /** {@return the known name that is most alike, null if none is} */
    private static @Nullable String nearest(String name) {
        String nearest = null;
        int fewest = Math.max(2, (name.length() - PREFIX.length()) / 3) + 1;
        for (String known : new TreeSet<>(KNOWN)) {
            int steps = steps(name, known);
            if (steps < fewest) {
                nearest = known;
                fewest = steps;
            }
        }
        return nearest;
    }

    /** {@return how many characters have to be inserted, removed or replaced to make one word of the other} */
    private static int steps(String one, String other) {
        int[] row = new int[other.length() + 1];
        for (int j = 0; j < row.length; j++) {
            row[j] = j;
        }
        for (int i = 1; i <= one.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j < row.length; j++) {
                int replaced = diagonal + (one.charAt(i - 1) == other.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(replaced, Math.min(row[j], row[j - 1]) + 1);
            }
        }
        return row[other.length()];
    }
}
