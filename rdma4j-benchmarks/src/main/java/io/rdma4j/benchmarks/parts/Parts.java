// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.parts;

import org.openjdk.jmh.Main;

import java.io.IOException;
import java.util.Arrays;
import java.util.stream.Stream;

/** The program behind {@code benchmarks/parts}: JMH with what all runs need; its own options follow. */
public final class Parts {
    private static final String[] DEFAULTS = {"-prof", "gc", "-f", "1", "-wi", "3", "-w", "1", "-i",
        "5", "-r", "1", "-jvmArgsAppend", "--enable-native-access=ALL-UNNAMED"};

    private Parts() {}

    /** Runs JMH; what is given goes before the defaults. */
    public static void main(String[] arguments) throws IOException {
        Main.main(Stream.concat(defaults(arguments), Stream.of(arguments)).toArray(String[]::new));
    }

    /** {@return the defaults whose option is not given} JMH refuses some that are given twice. */
    private static Stream<String> defaults(String[] arguments) {
        Stream.Builder<String> chosen = Stream.builder();
        for (int i = 0; i < DEFAULTS.length; i += 2) {
            if (!Arrays.asList(arguments).contains(DEFAULTS[i])) {
                chosen.add(DEFAULTS[i]).add(DEFAULTS[i + 1]);
            }
        }
        return chosen.build();
    }
}
