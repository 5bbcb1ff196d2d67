// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** Runs of perftest's tools, two sides on loopback. Options are separated by single spaces. */
final class Perftest {
    private Perftest() {}

    /** Starts a side that does not warm up. */
    static Running start(Start how, String tool, String options, String... more)
            throws IOException {
        return startAsUsersDo(how, tool, atOnce(options), more);
    }

    /** {@return options with which a side does not warm up} */
    static String atOnce(String options) {
        return "-d roce_lo -F --no-perform_warm_up" + (options.isEmpty() ? "" : " " + options);
    }

    static Running startAsUsersDo(Start how, String tool, String options, String... more)
            throws IOException {
        List<String> arguments = new ArrayList<>(List.of(tool));
        if (!options.isEmpty()) {
            arguments.addAll(Arrays.asList(options.split(" ", -1)));
        }
        arguments.addAll(List.of(more));
        return how.run(arguments);
    }

    /** Runs both sides, each with its options, to a successful end. {@return what they said, the server first} */
    static List<String> runBoth(Start how, String tool, String servers, String clients)
            throws Exception {
        try (Running server = startAsUsersDo(how, tool, servers, "-p", "0")) {
            String port = server.port();
            try (Running client = startAsUsersDo(how, tool, clients, "-p", port, Loopback.OWN)) {
                assertThat(client.awaitEnd()).as(client.text()).isZero();
                assertThat(server.awaitEnd()).as(server.text()).isZero();
                return List.of(server.text(), client.text());
            }
        }
    }

    /** As {@link #runBoth}, without warming up. */
    static List<String> measure(Start how, String tool, String options) throws Exception {
        return runBoth(how, tool, atOnce(options), atOnce(options));
    }

    /** As {@link #measure(Start, String, String)}, in this process, where only this test is. */
    static List<String> measure(String tool, String options) throws Exception {
        return measure(Command::start, tool, options + OwnAddress.by("-x"));
    }
}
