// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.engine;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** How long a virtual thread drives before it parks. */
class BriefDrivesTest {
    private final BriefDrives drives = new BriefDrives();

    private void fail(int times) {
        for (int i = 0; i < times; i++) {
            drives.onEnd(false, BriefDrives.LONGEST_NS);
        }
    }

    @Test
    void itIsTriedAtFirst() {
        assertThat(drives.isPromising()).isTrue();
        assertThat(drives.durationNs()).isEqualTo(BriefDrives.LONGEST_NS / 2);
    }

    @Test
    void whatHelpsIsDoneForLonger() {
        fail(2);
        drives.onEnd(true, BriefDrives.LONGEST_NS);
        assertThat(drives.durationNs()).isEqualTo(BriefDrives.LONGEST_NS);
    }

    @Test
    void whatDoesNotHelpIsDoneForShorterAndThenNowAndThen() {
        long before = drives.durationNs();
        fail(1);
        assertThat(drives.durationNs()).isEqualTo(before / 2);
        fail(9);
        int trials = 0;
        for (int i = 0; i < 10 * BriefDrives.WAITS_PER_TRIAL; i++) {
            trials += drives.isPromising() ? 1 : 0;
        }
        assertThat(trials).isEqualTo(10);
        assertThat(drives.durationNs()).isEqualTo(BriefDrives.SHORTEST_NS);
    }

    @Test
    void aTrialThatHelpsIsFollowedByOthers() {
        fail(10);
        drives.onEnd(true, BriefDrives.LONGEST_NS);
        assertThat(drives.isPromising()).isTrue();
        assertThat(drives.isPromising()).isTrue();
    }

    /** The thread has waited for a carrier, and another one has done its work. */
    @Test
    void whatTookMuchLongerThanItShouldHasNotHelped() {
        long before = drives.durationNs();
        drives.onEnd(true, 20 * BriefDrives.LONGEST_NS);
        assertThat(drives.durationNs()).isEqualTo(before / 2);
    }
}
