// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.demo;

import io.rdma4j.tools.output.Terminal;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

class TimelineTest {
    private static final String LONG = "sent address 0x7f0000001000 and rkey 0x12345678 of"
            + " 1048576 bytes";

    private static List<String> lines(int columns) {
        StringWriter text = new StringWriter();
        Timeline timeline = new Timeline(new PrintWriter(text), false, columns);
        timeline.start("server 127.0.0.1", "client");
        timeline.add(true, new Report(Report.Kind.STEP, 1_000_000, LONG));
        timeline.add(false, new Report(Report.Kind.STEP, 3_500_000, "received it"));
        timeline.finish();
        return text.toString().lines().toList();
    }

    @Test
    void sidesHaveAColumnEach() {
        List<String> lines = lines(Terminal.ENDLESS);
        assertThat(lines).hasSize(3);
        assertThat(lines.get(1)).isEqualTo("    0.00 ms   " + LONG);
        assertThat(lines.get(2)).isEqualTo("    2.50 ms   " + " ".repeat(59) + "received it");
    }

    @ParameterizedTest
    @ValueSource(ints = {76, 80, 100, 140})
    void columnsFitTheTerminalAndLongTextsAreBroken(int columns) {
        List<String> lines = lines(columns);
        assertThat(lines).allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(columns));
        int client = lines.getFirst().indexOf("client");
        assertThat(lines.getLast().indexOf("received it")).isEqualTo(client);
        assertThat(lines.subList(1, lines.size() - 1)).hasSizeGreaterThan(1)
                .allSatisfy(line -> assertThat(line).hasSizeLessThan(client));
    }

    @ParameterizedTest
    @ValueSource(ints = {40, 60, 70})
    void sidesShareTheColumnOfANarrowTerminal(int columns) {
        List<String> lines = lines(columns);
        assertThat(lines).allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(columns));
        assertThat(lines.get(1)).startsWith("    0.00 ms   server: sent");
        assertThat(lines.getLast()).isEqualTo("    2.50 ms   client: received it");
    }
}
