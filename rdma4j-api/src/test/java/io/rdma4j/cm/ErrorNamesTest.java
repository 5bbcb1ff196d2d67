// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.connection.PortSpace;
import io.rdma4j.event.UnacknowledgedEvents;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SystemErrors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

import static org.assertj.core.api.Assertions.assertThat;

/** Each text about each error of the system has words, and no error has the name of another beside its own. */
class ErrorNamesTest {
    private static final int HIGHEST = 133;
    /** Without words, which stand behind a colon or in brackets. */
    private static final Pattern BARE_NUMBER = Pattern
            .compile("\\b(errno|error|status|code)[ :=(]+-?[1-9]\\d*\\b(?!: \\S| \\(\\S)");
    private static final Pattern NAME = Pattern.compile("\\bE[A-Z0-9]{2,}\\b");

    private static void assertInWords(int number, @Nullable String text) {
        assertThat(text).as("error %s", number).doesNotContainPattern(BARE_NUMBER);
        Set<String> names = new TreeSet<>();
        NAME.matcher(String.valueOf(text)).results().map(MatchResult::group).forEach(names::add);
        assertThat(names).as("the names in '%s'", text).hasSizeLessThan(2);
    }

    @Test
    void exceptionsOfTheSystemsErrorsNameThemOnce() {
        for (int number = 1; number <= HIGHEST; number++) {
            String text = RdmaException
                    .ofSystem(number, "open device", SystemErrors.words(number), null)
                    .getMessage();
            assertInWords(number, text);
            assertThat(text).startsWith("open device: " + SystemErrors.words(number));
        }
    }

    @Test
    void eventsOfTheSystemsErrorsNameThemOnce() throws Exception {
        try (CmEventChannel events = CmEventChannel.create();
                CmId id = CmId.create(events, PortSpace.TCP)) {
            for (CmEventType type : CmEventType.values()) {
                for (int number = 1; number <= HIGHEST; number++) {
                    CmEvent event = new CmEvent(type.code(), id, null,
                            EventDetails.failure(-number),
                            new UnacknowledgedEvents());
                    texts(event).forEach(text -> assertInWords(-event.status(), text));
                }
            }
        }
    }

    private static List<@Nullable String> texts(CmEvent event) {
        List<@Nullable String> texts = new ArrayList<>();
        if (event.type() != CmEventType.USER) {
            // Its status is a number of the application's, for which only that has words.
            texts.add(event.description());
            texts.add(event.toString());
        }
        if (event.isFailure()) {
            texts.add(event.failure("connect").getMessage());
        }
        return texts;
    }
}
