// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.rc;

import io.rdma4j.protocol.roce.RoundTripEstimate;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;

class RetryTimerTest {
    private static final long US = 1_000;
    private static final long MS = 1_000_000;
    private static final long TIMEOUT_NS = 4_000 * MS;
    private static final int RETRIES = 3;

    private final RoundTripEstimate estimate = new RoundTripEstimate();
    private final RetryTimer timer = new RetryTimer();
    private long nowNs = 10_000 * MS;

    @BeforeEach
    void configure() {
        timer.configure(TIMEOUT_NS, RETRIES, 7, 1);
        timer.estimate(estimate);
    }

    private void knowRoundTrips() {
        estimate.add(20 * US);
        estimate.add(20 * US);
    }

    private void send(long psn) {
        timer.onSent(psn, true, nowNs);
    }

    /** {@return when the peer is asked, from now on, in milliseconds} */
    private List<Double> asks(long forNs) {
        List<Double> asks = new ArrayList<>();
        long beginNs = nowNs;
        while (timer.deadlineNs() <= beginNs + forNs) {
            nowNs = Math.max(nowNs, timer.deadlineNs());
            if (timer.isTimeoutDue(nowNs)) {
                return asks;
            }
            assertThat(timer.isAskDue(nowNs)).isTrue();
            asks.add((nowNs - beginNs) / 1e6);
            timer.onAsk(nowNs);
        }
        return asks;
    }

    private void askSilentPeerFiveTimes() {
        knowRoundTrips();
        send(1);
        assertThat(asks(50 * MS)).hasSize(5);
    }

    @Test
    void nothingIsDueBeforeAnythingIsSent() {
        assertThat(timer.deadlineNs()).isEqualTo(RetryTimer.NEVER);
    }

    @Test
    void silentPeerIsAskedSoonThreeTimesAndThenEverMoreRarely() {
        knowRoundTrips();
        send(1);
        List<Double> asks = asks(1000 * MS);
        assertThat(asks).hasSize(7).startsWith(0.5, 1.5, 3.5, 11.5);
        assertThat(intervals(asks.subList(3, 7))).satisfiesExactly(
                interval -> assertThat(interval).isBetween(32.0, 40.0),
                interval -> assertThat(interval).isBetween(128.0, 160.0),
                interval -> assertThat(interval).isBetween(512.0, 640.0));
    }

    private static List<Double> intervals(List<Double> times) {
        List<Double> intervals = new ArrayList<>();
        for (int i = 1; i < times.size(); i++) {
            intervals.add(times.get(i) - times.get(i - 1));
        }
        return intervals;
    }

    /** Queue pairs that lost packets at the same moment do not all ask again at the same moment. */
    @Test
    void queuePairsThatBecameSilentTogetherAskAtDifferentTimes() {
        knowRoundTrips();
        Set<Double> last = new HashSet<>();
        for (int seed = 0; seed < 100; seed++) {
            timer.configure(TIMEOUT_NS, RETRIES, 7, seed);
            timer.reset();
            send(1);
            last.add(asks(100 * MS).get(4));
        }
        assertThat(last).hasSizeGreaterThan(80);
    }

    @Test
    void whereNoRoundTripIsKnownASecondPassesFirst() {
        send(1);
        assertThat(asks(3500 * MS)).first().isEqualTo(1000.0);
    }

    @Test
    void peerThatIsSlowIsAskedLaterFromTheBeginning() {
        estimate.add(10 * MS);
        send(1);
        assertThat(asks(100 * MS)).first().isEqualTo(30.0);
    }

    @Test
    void whatOtherQueuePairsLearnMeanwhileCounts() {
        knowRoundTrips();
        send(1);
        estimate.add(100 * MS);
        nowNs += MS;
        assertThat(timer.isAskDue(nowNs)).isFalse();
        assertThat(timer.deadlineNs()).isGreaterThan(nowNs + 50 * MS);
    }

    @Test
    void progressByPacketsThatWereSentAgainDoesNotShortenTheWait() {
        askSilentPeerFiveTimes();
        timer.onSentAgain(nowNs);
        nowNs += 20 * MS;
        timer.onProgress(2, false, nowNs);
        assertThat(asks(100 * MS)).isEmpty();
    }

    /** The answer to a copy acknowledges what lies around it: that is no round trip. */
    @Test
    void answerThatMayBeToACopyIsNoRoundTrip() {
        knowRoundTrips();
        send(4);
        nowNs += 200 * MS;
        timer.onSentAgain(nowNs);
        timer.onProgress(5, true, nowNs + MS);
        assertThat(estimate.overdueNs()).isLessThan(MS);
    }

    @Test
    void firstAnswerAfterALossIsForgottenWithTheFirstRoundTrip() {
        send(1);
        nowNs += 1000 * MS;
        timer.onAsk(nowNs);
        timer.onSentAgain(nowNs);
        nowNs += 5 * MS;
        timer.onProgress(2, true, nowNs);
        assertThat(estimate.overdueNs()).isEqualTo(15 * MS);
        send(2);
        nowNs += 100 * US;
        timer.onProgress(3, true, nowNs);
        assertThat(estimate.overdueNs()).isEqualTo(300 * US);
    }

    @Test
    void answerToAPacketThatWasSentOnceShortensIt() {
        askSilentPeerFiveTimes();
        nowNs += 20 * MS;
        timer.onProgress(2, false, nowNs);
        assertThat(asks(1000 * MS)).isNotEmpty();
    }

    @Test
    void timeoutsCostRetriesAndAskingDoesNot() {
        knowRoundTrips();
        send(1);
        for (int i = 0; i < RETRIES; i++) {
            nowNs = timeoutAtNs();
            timer.onTimeout(nowNs);
            assertThat(timer.takeRetry()).isTrue();
        }
        assertThat(timer.takeRetry()).isFalse();
    }

    /** Each is a whole time-out or up to a half longer, and what one is longer the next is shorter. */
    // [IBTA 9.7.6-1]
    @Test
    void timeoutsTakeTogetherWhatTheRetriesAllow() {
        for (int seed = 1; seed < 50; seed++) {
            timer.configure(TIMEOUT_NS, RETRIES, 7, seed);
            timer.reset();
            long beginNs = nowNs;
            send(1);
            for (int i = 0; i <= RETRIES; i++) {
                nowNs = timeoutAtNs();
                long lateNs = nowNs - beginNs - (i + 1) * TIMEOUT_NS;
                assertThat(lateNs).isBetween(0L, i == 0 || i >= RETRIES - 1 ? 0 : TIMEOUT_NS / 2);
                timer.onTimeout(nowNs);
                timer.takeRetry();
            }
        }
    }

    private long timeoutAtNs() {
        long atNs = nowNs;
        while (!timer.isTimeoutDue(atNs)) {
            atNs = Math.max(atNs, timer.deadlineNs());
            if (!timer.isTimeoutDue(atNs) && timer.isAskDue(atNs)) {
                timer.onAsk(atNs);
            }
        }
        return atNs;
    }

    /** Retries are counted from the last progress, not over the life of the connection. */
    // [IBTA 9.7.6-4]
    @Test
    void progressGivesAllRetriesBack() {
        knowRoundTrips();
        for (int life = 0; life < 3; life++) {
            send(life);
            for (int i = 0; i < RETRIES; i++) {
                assertThat(timer.takeRetry()).isTrue();
            }
            timer.onProgress(life + 1, true, nowNs);
        }
    }

    // [IBTA 9.7.6-4]
    @Test
    void progressGivesTheRetriesForAReceiverBack() {
        timer.configure(TIMEOUT_NS, RETRIES, 1, 1);
        for (int life = 0; life < 3; life++) {
            send(life);
            assertThat(timer.takeRnrRetry()).isTrue();
            assertThat(timer.takeRnrRetry()).isFalse();
            timer.onProgress(life + 1, true, nowNs);
        }
    }

    // [IBTA 9.7.6-3]
    @Test
    void sevenRetriesForAReceiverAreWithoutLimit() {
        for (int i = 0; i < 100; i++) {
            assertThat(timer.takeRnrRetry()).isTrue();
        }
    }

    @Test
    void progressEndsTheWaitForAReceiver() {
        knowRoundTrips();
        send(1);
        timer.waitForReceiver(nowNs + 5 * MS);
        timer.onProgress(2, true, nowNs);
        assertThat(timer.isWaitingForReceiver()).isFalse();
        assertThat(timer.deadlineNs()).isEqualTo(RetryTimer.NEVER);
    }

    @Test
    void lossesWithinOneTimeoutCostOneRetry() {
        for (int i = 0; i < 100; i++) {
            assertThat(timer.takeRetryForLoss(nowNs)).isTrue();
            nowNs += TIMEOUT_NS / 100;
        }
        for (int i = 1; i < RETRIES; i++) {
            assertThat(timer.takeRetryForLoss(nowNs)).isTrue();
            nowNs += TIMEOUT_NS;
        }
        assertThat(timer.takeRetryForLoss(nowNs)).isFalse();
    }

    @Test
    void whatIsHeldUpOnTheWayHasFourTimesAsManyTimeOuts() {
        for (int i = 1; i < 4 * (RETRIES + 1); i++) {
            assertThat(timer.takeRetryForSilence(true)).isTrue();
        }
        assertThat(timer.takeRetryForSilence(true)).isFalse();
    }

    @Test
    void whatIsNotHeldUpHasAsManyTimeOutsAsRetries() {
        for (int i = 0; i < RETRIES; i++) {
            assertThat(timer.takeRetryForSilence(false)).isTrue();
        }
        assertThat(timer.takeRetryForSilence(false)).isFalse();
    }

    @Test
    void answersThatTakeMillisecondsShowAQueue() {
        assertThat(timer.isKnownToQueue()).isFalse();
        knowRoundTrips();
        assertThat(timer.isKnownToQueue()).isFalse();
        for (int i = 0; i < 10; i++) {
            estimate.add(5 * MS);
        }
        assertThat(timer.isKnownToQueue()).isTrue();
    }

    /** In memory a peer that is busy, or has just started, answers after milliseconds as well. */
    @Test
    void answersOnALosslessPathShowNoQueue() {
        timer.lossless(0);
        answerAfter(5 * MS);
        assertThat(estimate.isKnown()).isTrue();
        assertThat(timer.isKnownToQueue()).isFalse();
        timer.lossy();
        assertThat(timer.isKnownToQueue()).isFalse();
        answerAfter(5 * MS);
        assertThat(timer.isKnownToQueue()).isTrue();
    }

    /** The time at which a packet leaves may be behind there. */
    @Test
    void onALosslessPathTheTimeoutIsNoneTooShort() {
        timer.lossless(10 * MS);
        send(1);
        assertThat(timer.isTimeoutDue(nowNs + TIMEOUT_NS + 9 * MS)).isFalse();
        assertThat(timer.isTimeoutDue(nowNs + TIMEOUT_NS + 10 * MS)).isTrue();
        timer.reset();
        timer.lossy();
        send(1);
        assertThat(timer.isTimeoutDue(nowNs + TIMEOUT_NS)).isTrue();
    }

    private void answerAfter(long ns) {
        send(1);
        nowNs += ns;
        timer.onProgress(2, true, nowNs);
    }

    @Test
    void whereAnswersWaitInAQueueLossesOfFourTimeOutsCostOneRetry() {
        estimate.add(5 * MS);
        for (int i = 0; i < 4 * RETRIES; i++) {
            assertThat(timer.takeRetryForLoss(nowNs)).isTrue();
            nowNs += TIMEOUT_NS;
        }
        assertThat(timer.takeRetryForLoss(nowNs)).isFalse();
    }

    @Test
    void signsOfOneLossAreNewsOnceARoundTrip() {
        knowRoundTrips();
        send(9);
        assertThat(timer.isNewLoss(5, nowNs)).isTrue();
        timer.onLoss(5, nowNs);
        assertThat(timer.isNewLoss(5, nowNs + 10 * US)).isFalse();
        assertThat(timer.isNewLoss(6, nowNs + 10 * US)).isTrue();
        assertThat(timer.isNewLoss(5, nowNs + 20 * US)).isTrue();
    }

    @Test
    void nothingIsAskedWhileTheReceiverIsNotReady() {
        knowRoundTrips();
        send(1);
        timer.waitForReceiver(nowNs + 5 * MS);
        assertThat(timer.deadlineNs()).isEqualTo(nowNs + 5 * MS);
        nowNs += 5 * MS;
        assertThat(timer.isReceiverWaitOver(nowNs)).isTrue();
        timer.endReceiverWait(nowNs);
        assertThat(timer.deadlineNs()).isEqualTo(nowNs + 500 * US);
    }

    // ---------------------------------------------------------------- samples

    @Test
    void timeFromTheFirstPacketThatAsksToItsAnswerIsASample() {
        timer.onSent(1, false, nowNs);
        nowNs += MS;
        send(2);
        nowNs += 2 * MS;
        // The one that was sent meanwhile is no second candidate.
        send(3);
        nowNs += 3 * MS;
        timer.onProgress(2, false, nowNs);
        // Nothing but a guess: the answer was to the first, which did not ask.
        assertThat(estimate.shortestNs()).isEqualTo(6 * MS);
        timer.onProgress(3, false, nowNs);
        assertThat(estimate.shortestNs()).isEqualTo(5 * MS);
        nowNs += MS;
        timer.onProgress(4, true, nowNs);
        assertThat(estimate.shortestNs()).isEqualTo(5 * MS);
    }

    @Test
    void packetOfNumberZeroMayBeASample() {
        send(0);
        nowNs += 5 * MS;
        send(1);
        timer.onProgress(1, true, nowNs);
        assertThat(estimate.shortestNs()).isEqualTo(5 * MS);
    }

    /** What comes just behind an asking is its answer: a packet was lost, and the peer is not slow. */
    @Test
    void promptAnswerToAnAskingShortensTheWaitAndIsNoSample() {
        askSilentPeerFiveTimes();
        long before = estimate.overdueNs();
        timer.onProgress(2, false, nowNs + 400 * US);
        assertThat(estimate.overdueNs()).isEqualTo(before);
        nowNs += 400 * US;
        assertThat(asks(MS)).containsExactly(0.5);
    }

    @Test
    void lateAnswerToAnAskingThatWasSentAgainDoesNotShortenTheWait() {
        askSilentPeerFiveTimes();
        timer.onSentAgain(nowNs);
        nowNs += 500 * US;
        timer.onProgress(2, false, nowNs);
        assertThat(asks(MS)).isEmpty();
    }

    @Test
    void progressWithoutAnAskingIsNoAnswerToOne() {
        askSilentPeerFiveTimes();
        timer.onSentAgain(nowNs);
        nowNs += 20 * MS;
        timer.onProgress(2, false, nowNs);
        // Nobody was asked since.
        nowNs += 100 * US;
        timer.onProgress(3, false, nowNs);
        assertThat(asks(100 * MS)).isEmpty();
    }

    // ---------------------------------------------------------------- when to ask

    @Test
    void askingIsNotDueBeforeItsTime() {
        knowRoundTrips();
        send(1);
        assertThat(timer.isAskDue(nowNs + 500 * US - 1)).isFalse();
        assertThat(timer.isAskDue(nowNs + 500 * US)).isTrue();
    }

    @Test
    void timersStopWhenAllIsAnswered() {
        knowRoundTrips();
        send(1);
        timer.onProgress(2, true, nowNs);
        assertThat(timer.deadlineNs()).isEqualTo(RetryTimer.NEVER);
        timer.onSentAgain(nowNs);
        assertThat(timer.deadlineNs()).isEqualTo(nowNs + 500 * US);
    }

    @Test
    void answerToWhatWasAskedBeforeStartsTheWaitAnew() {
        knowRoundTrips();
        send(1);
        nowNs += 400 * US;
        timer.onOldAnswer(nowNs);
        assertThat(timer.isAskDue(nowNs + 499 * US)).isFalse();
        assertThat(timer.isAskDue(nowNs + 500 * US)).isTrue();
    }

    @Test
    void signThatMayBeOldIsLookedIntoAsSoonAsItWouldBeNew() {
        estimate.add(200 * US);
        estimate.add(200 * US);
        send(1);
        nowNs += 300 * US;
        timer.onLoss(1, nowNs);
        long lossNs = nowNs;
        nowNs += 50 * US;
        timer.onOldSign();
        assertThat(timer.deadlineNs()).isEqualTo(lossNs + 200 * US);
        assertThat(timer.isAskDue(lossNs + 200 * US - 1)).isFalse();
        assertThat(timer.isAskDue(lossNs + 200 * US)).isTrue();
    }

    @Test
    void lossBeginsTheWaitAndTheTimeOutAnew() {
        knowRoundTrips();
        send(1);
        nowNs += TIMEOUT_NS / 2;
        timer.onLoss(1, nowNs);
        assertThat(timer.deadlineNs()).isEqualTo(nowNs + 500 * US);
        assertThat(timer.isTimeoutDue(nowNs + TIMEOUT_NS - 1)).isFalse();
        assertThat(timer.isTimeoutDue(nowNs + TIMEOUT_NS)).isTrue();
    }

    /** The first answer of all gives an idea of the way, whatever it says. */
    @Test
    void lossIsAFirstSign() {
        send(1);
        nowNs += 3 * MS;
        timer.onLoss(1, nowNs);
        assertThat(estimate.isKnown()).isTrue();
        assertThat(estimate.shortestNs()).isEqualTo(3 * MS);
    }

    // ---------------------------------------------------------------- without a time-out

    @Test
    void withoutATimeOutLossesOfASecondCostARetry() {
        timer.configure(RetryTimer.NEVER, RETRIES, 7, 1);
        send(1);
        timer.onTimeout(nowNs);
        assertThat(timer.isTimeoutDue(Long.MAX_VALUE - 1)).isFalse();
        for (int i = 0; i < RETRIES; i++) {
            assertThat(timer.takeRetryForLoss(nowNs)).isTrue();
            assertThat(timer.takeRetryForLoss(nowNs + 999 * MS)).isTrue();
            nowNs += 1000 * MS;
        }
        assertThat(timer.takeRetryForLoss(nowNs)).isFalse();
    }

    @Test
    void firstLossCostsARetryAtAnyTime() {
        nowNs = 5;
        timer.configure(TIMEOUT_NS, 0, 7, 1);
        assertThat(timer.takeRetryForLoss(nowNs)).isFalse();
    }

    @Test
    void lossesOfAnotherLifeCostNothingInThis() {
        timer.configure(TIMEOUT_NS, 1, 7, 1);
        assertThat(timer.takeRetryForLoss(nowNs)).isTrue();
        timer.reset();
        assertThat(timer.isSameLoss(5)).isFalse();
        assertThat(timer.takeRetryForLoss(nowNs)).isTrue();
        nowNs += TIMEOUT_NS;
        assertThat(timer.takeRetryForLoss(nowNs)).isFalse();
    }

    /** The last retry is not the last try: the peer is asked once more before the time-out. */
    @Test
    void peerIsAskedOnceMoreBeforeTheLastTimeOut() {
        timer.configure(400 * MS, 1, 7, 1);
        estimate.add(10 * MS);
        send(1);
        assertThat(timer.takeRetry()).isTrue();
        timer.onTimeout(nowNs);
        long beginNs = nowNs;
        while (timer.deadlineNs() < beginNs + 400 * MS) {
            nowNs = timer.deadlineNs();
            if (timer.isAskDue(nowNs)) {
                timer.onAsk(nowNs);
            }
        }
        assertThat(nowNs - beginNs).isGreaterThanOrEqualTo(100 * MS);
        assertThat(timer.deadlineNs() - nowNs).isLessThanOrEqualTo(300 * MS);
    }
}
