// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.output;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class TerminalTest {
    @Test
    void widthIsTheLastWordOfWhatSttySays() {
        assertThat(Terminal.columnsOf("24 80\n")).isEqualTo(80);
        assertThat(Terminal.columnsOf("132")).isEqualTo(132);
    }

    @Test
    void widthThatNobodySaysIsEndless() {
        assertThat(Terminal.columnsOf(null)).isEqualTo(Terminal.ENDLESS);
        assertThat(Terminal.columnsOf("")).isEqualTo(Terminal.ENDLESS);
        assertThat(Terminal.columnsOf("0 0")).isEqualTo(Terminal.ENDLESS);
        assertThat(Terminal.columnsOf("wide")).isEqualTo(Terminal.ENDLESS);
    }

    @Test
    void linesAreBrokenBetweenWords() {
        assertThat(Terminal.wrap("one two three four", 9)).containsExactly("one two", "three",
                "four");
        assertThat(Terminal.wrap("one two", 7)).containsExactly("one two");
        assertThat(Terminal.wrap("", 7)).containsExactly("");
        assertThat(Terminal.wrap("any length", Terminal.ENDLESS)).containsExactly("any length");
    }

    @Test
    void wordsAreNeverBroken() {
        assertThat(Terminal.wrap("at 2001:db8:1111:2222:3333:4444:5555:6666 it is", 12))
                .containsExactly("at", "2001:db8:1111:2222:3333:4444:5555:6666", "it is");
        assertThat(Terminal.wrap("2001:db8:1111:2222:3333:4444:5555:6666", 12))
                .containsExactly("2001:db8:1111:2222:3333:4444:5555:6666");
    }

    @Test
    void laterLinesAreIndented() {
        assertThat(Terminal.wrapped("  ", "one two three four", 14).lines())
                .containsExactly("  one two", "      three", "      four");
        assertThat(Terminal.wrapped("  ", "one two", 9)).isEqualTo("  one two");
    }
}
