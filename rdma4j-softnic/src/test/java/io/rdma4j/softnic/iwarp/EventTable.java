// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.iwarp;

import org.junit.jupiter.params.provider.Arguments;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/**
 * What each event does in each state: a row for each pair of both, or the reason why there is no such pair. The cells of a row
 * are separated by {@code |}.
 */
final class EventTable<S extends Enum<S>, E extends Enum<E>> {
    private final Class<S> states;
    private final Class<E> events;
    private final List<List<String>> rows;
    private final List<List<String>> impossible;

    /**
     * @param rows each of a state, an event in small letters, and what it does
     * @param impossible each of states, events and the reason why no pair of them can be; a hyphen joins the words of an
     *        event
     */
    EventTable(Class<S> states, Class<E> events, String[] rows, String[] impossible) {
        this.states = states;
        this.events = events;
        this.rows = Arrays.stream(rows).map(EventTable::cells).toList();
        this.impossible = Arrays.stream(impossible).map(EventTable::cells).toList();
    }

    private static List<String> cells(String row) {
        return Arrays.stream(row.split("\\|", -1)).map(String::trim).toList();
    }

    /** {@return the rows as arguments of a test: the state, the event, and each other cell as it is written} */
    Stream<Arguments> rows() {
        return rows.stream().map(row -> {
            Object[] cells = row.toArray();
            cells[0] = state(row.get(0));
            cells[1] = event(row.get(1));
            return arguments(cells);
        });
    }

    private S state(String text) {
        return Enum.valueOf(states, text);
    }

    private E event(String text) {
        return Enum.valueOf(events,
                text.replace(' ', '_').replace('-', '_').toUpperCase(Locale.ROOT));
    }

    /** Each pair has one row, or is impossible for one reason. */
    void assertIsComplete() {
        Set<String> missing = new LinkedHashSet<>();
        for (S state : EnumSet.allOf(states)) {
            for (E event : EnumSet.allOf(events)) {
                missing.add(state + " " + event);
            }
        }
        for (List<String> row : rows) {
            takeOff(missing, row.get(0), row.get(1));
        }
        for (List<String> row : impossible) {
            assertThat(row).as("states, events and a reason").hasSize(3).doesNotContain("");
            for (String state : row.get(0).split(" ", -1)) {
                for (String event : row.get(1).split(" ", -1)) {
                    takeOff(missing, state, event);
                }
            }
        }
        assertThat(missing).isEmpty();
    }

    private void takeOff(Set<String> missing, String state, String event) {
        String pair = state(state) + " " + event(event);
        assertThat(missing.remove(pair)).as(pair + " is there once").isTrue();
    }
}
