// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.sharing;

import io.rdma4j.verbs.Gid;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

import java.util.AbstractList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** A process is killed while it changes the table, at each moment of it. */
@EnabledOnOs(OS.LINUX)
@Timeout(30)
class UnfinishedChangesTest extends SharingStage {
    private SharedTable table = new SharedTable(memory.allocate(SharedTable.LENGTH, 8));
    private int group;

    @BeforeEach
    void fourAreThere() throws Exception {
        for (int i = 0; i < 4; i++) {
            new Member();
        }
        table = table();
        group = table.find(Gid.of(ADDRESS), 0);
    }

    /** Places of which only some get written. */
    private static final class Interrupted extends AbstractList<Integer> {
        private final List<Integer> places;
        private final int written;

        Interrupted(List<Integer> places, int written) {
            this.places = places;
            this.written = written;
        }

        @Override
        public Integer get(int place) {
            if (place == written) {
                throw new IllegalStateException("killed");
            }
            return places.get(place);
        }

        @Override
        public int size() {
            return places.size();
        }
    }

    private List<Integer> prefixes() {
        return members.stream().map(member -> member.port.prefix()).toList();
    }

    private void assertAllWorksAgain() throws Exception {
        Member mending = members.getFirst();
        whileAllReceive(() -> assertThat(mending.port.mend(false)).isTrue());
        assertEachGetsItsOwn();
        assertThat(mending.port.mend(false)).isFalse();
        whileAllReceive(Member::new);
        assertEachGetsItsOwn();
    }

    @Test
    void whatIsHalfWrittenCountsForNothing() {
        List<Integer> before = table.places(group);
        List<Integer> after = before.reversed();
        for (int written = 0; written < before.size(); written++) {
            List<Integer> interrupted = new Interrupted(after, written);
            assertThatIllegalStateException()
                    .isThrownBy(() -> table.places(group, interrupted));
            assertThat(table.places(group)).isEqualTo(before);
        }
        table.places(group, after);
        assertThat(table.places(group)).isEqualTo(after);
    }

    @Test
    void killedBeforeItsSocketIsClosed() throws Exception {
        table.changing(group, true);
        members.get(1).die();
        assertAllWorksAgain();
    }

    @Test
    void killedBeforeThePlacesAreWritten() throws Exception {
        table.changing(group, true);
        members.get(1).die();
        List<Integer> interrupted = new Interrupted(prefixes().reversed(), 1);
        assertThatIllegalStateException().isThrownBy(() -> table.places(group, interrupted));
        assertAllWorksAgain();
    }

    @Test
    void killedAfterThePlacesAreWritten() throws Exception {
        table.changing(group, true);
        Member leaving = members.get(1);
        leaving.die();
        // The last takes the place of the one that is closed.
        table.places(group, List.of(members.get(0).port.prefix(), members.get(2).port.prefix(),
                members.get(1).port.prefix()));
        assertAllWorksAgain();
    }

    @Test
    void killedBeforeItHasWrittenThatItJoined() throws Exception {
        List<Integer> before = table.places(group);
        whileAllReceive(Member::new);
        table.places(group, before);
        table.changing(group, true);
        members.getLast().die();
        assertAllWorksAgain();
    }

    @Test
    void aProcessThatIsMissingIsFoundAgain() throws Exception {
        List<Integer> all = prefixes();
        table.changing(group, true);
        table.places(group, List.of(all.get(0), all.get(3)));
        assertAllWorksAgain();
    }

    @Test
    void aProcessFindsThatItIsMissingItself() throws Exception {
        List<Integer> all = prefixes();
        table.places(group, List.of(all.get(1), all.get(2), all.get(3)));
        assertAllWorksAgain();
    }

    @Test
    void aProcessThatIsNamedTwiceCountsOnce() throws Exception {
        List<Integer> all = prefixes();
        members.get(0).die();
        members.get(0).die();
        table.places(group, List.of(all.get(2), all.get(3), all.get(2)));
        whileAllReceive(Member::new);
        assertEachGetsItsOwn();
    }
}
