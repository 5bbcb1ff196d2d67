// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.engine;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class BriefPollsTest {
    private final BriefPolls briefPolls = new BriefPolls();
    private long nowNs = 1_000_000_000;

    private boolean look(long laterNs) {
        nowNs += laterNs;
        return briefPolls.isBrief(nowNs, true);
    }

    @Test
    void onlyWhoComesBackAtOnceLooksBriefly() {
        assertThat(look(0)).isFalse();
        assertThat(look(1_000)).isTrue();
        assertThat(look(50_000)).as("after a pause").isFalse();
        assertThat(briefPolls.isBrief(nowNs + 1_000, false)).as("without coming back").isFalse();
    }

    @Test
    void allAreAskedEveryHundredMicroseconds() {
        look(0);
        int brief = 0;
        while (look(5_000)) {
            briefPolls.onBriefPoll(true);
            brief++;
        }
        assertThat(brief).isEqualTo(19);
        assertThat(look(5_000)).isTrue();
    }

    @Test
    void allAreAskedAfterSixteenLooksInVain() {
        look(0);
        int brief = 0;
        while (look(100)) {
            briefPolls.onBriefPoll(false);
            brief++;
        }
        assertThat(brief).isEqualTo(16);
        assertThat(look(100)).isTrue();
    }

    @Test
    void whoFindsSomethingWhereItTakesNoAskingLooksBrieflyAfterAnyPause() {
        look(0);
        for (int i = 1; i < 5; i++) {
            nowNs += 20_000;
            assertThat(briefPolls.isBriefAfterFinding(nowNs)).as("%d us", 20 * i).isTrue();
        }
        nowNs += 20_000;
        assertThat(briefPolls.isBriefAfterFinding(nowNs)).as("100 us").isFalse();
        assertThat(look(1_000)).as("behind it").isTrue();
    }

    /** As an interpreted process does, to which each find takes longer than asking all others is worth. */
    @Test
    void whoFindsSlowlyLooksAtAllEachFourthTime() {
        look(0);
        for (int round = 0; round < 3; round++) {
            for (int i = 0; i < 3; i++) {
                nowNs += 150_000;
                assertThat(briefPolls.isBriefAfterFinding(nowNs)).isTrue();
            }
            nowNs += 150_000;
            assertThat(briefPolls.isBriefAfterFinding(nowNs)).isFalse();
        }
    }

    @Test
    void whoLooksSlowlyInVainLooksAtAllEachFourthTimeToo() {
        look(0);
        for (int i = 1; i < 4; i++) {
            assertThat(look(40_000)).as("%d us", 40 * i).isTrue();
        }
        assertThat(look(40_000)).isFalse();
    }

    @Test
    void afterAMillisecondItLooksAtAllWhateverItFinds() {
        look(0);
        nowNs += 1_000_000;
        assertThat(briefPolls.isBriefAfterFinding(nowNs)).isFalse();
    }
}
