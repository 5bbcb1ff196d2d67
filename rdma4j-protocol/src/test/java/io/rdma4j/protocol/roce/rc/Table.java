// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.rc;

import org.junit.jupiter.api.DynamicTest;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

/**
 * What happens in each of several circumstances, written as a table and compared with what does happen, row by row. A row
 * or a column that is missing, or is there without reason, fails as well.
 *
 * <p>Words may stand for cells that come often; a second text says what each means, one on a line as {@code word = cell}.
 */
final class Table {
    /** Finds out what happens. */
    @FunctionalInterface
    interface Cell {
        String of(String row, String column);
    }

    private final List<List<String>> lines;
    private final Map<String, String> words = new HashMap<>();

    Table(String table, String words) {
        lines = table.lines().map(Table::cells).toList();
        words.lines().filter(line -> !line.isBlank()).forEach(line -> {
            String[] both = line.split(" = ", 2);
            this.words.put(both[0].strip(), both[1].strip());
        });
    }

    private static List<String> cells(String line) {
        return Arrays.stream(line.split("\\|")).map(String::strip).toList();
    }

    /** {@return a test for each row, and one that there is each row and column} */
    Stream<DynamicTest> compare(List<String> rows, List<String> columns, Cell cell) {
        DynamicTest isComplete = dynamicTest("each row and column is there", () -> {
            assertThat(lines.getFirst().stream().skip(1)).isEqualTo(columns);
            assertThat(lines.stream().skip(1).map(List::getFirst)).containsExactlyElementsOf(rows);
        });
        return Stream.concat(Stream.of(isComplete), rows.stream().map(row -> dynamicTest(row,
                () -> assertThat(actual(row, columns, cell)).isEqualTo(expected(row)))));
    }

    private static List<String> actual(String row, List<String> columns, Cell cell) {
        List<String> actual = new ArrayList<>();
        for (String column : columns) {
            actual.add(column + ": " + cell.of(row, column));
        }
        return actual;
    }

    private List<String> expected(String row) {
        List<String> line = lines.stream().filter(l -> l.getFirst().equals(row)).findFirst()
                .orElseThrow(() -> new AssertionError("no row for " + row));
        List<String> expected = new ArrayList<>();
        for (int i = 1; i < line.size(); i++) {
            String cell = line.get(i);
            expected.add(lines.getFirst().get(i) + ": " + words.getOrDefault(cell, cell));
        }
        return expected;
    }
}
