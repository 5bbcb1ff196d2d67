// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** The tools on the module path, where nothing lies but what they need: they work as on the class path. */
@Tag("processes")
@ExtendWith(LoopbackAlone.class)
class ModulePathTest {
    @Test
    void devicesAreDescribedInTheSameWords() throws Exception {
        Invocation tools = new Invocation();
        assertThat(tools.run("ibv_devinfo -d roce_lo -v")).isZero();
        String loopback = System.getProperty("rdma4j.loopback", "auto");
        try (Program program = Program.ofModule(List.of("-Drdma4j.loopback=" + loopback),
                "ibv_devinfo", "-d", "roce_lo", "-v")) {
            assertThat(program.awaitEnd()).as(program.text()).isZero();
            assertThat(withoutAddresses(program.text())).isNotEmpty()
                    .isEqualTo(withoutAddresses(tools.out()));
        }
    }

    /** Which of the loopback addresses are free changes: processes that share none, of tests that run at the same time, come and go. */
    private static List<String> withoutAddresses(String text) {
        return text.strip().lines().filter(line -> !line.contains("GID[")).toList();
    }

    @Test
    void twoProcessesMeasure() throws Exception {
        Start how = arguments -> Program.ofModule(arguments.toArray(String[]::new));
        assertThat(Perftest.measure(how, "ib_send_lat", "-n 20").getLast())
                .containsPattern(" 2 +20 +\\d");
    }

    /** It starts its sides as it was started itself. */
    @Test
    void demoShowsEveryStep() throws Exception {
        try (Program demo = Program.ofModule("demo")) {
            assertThat(demo.awaitEnd()).as(demo.text()).isZero();
            assertThat(demo.text()).contains("ok        the server's memory equals what was sent")
                    .doesNotContain("WARNING");
        }
    }
}
