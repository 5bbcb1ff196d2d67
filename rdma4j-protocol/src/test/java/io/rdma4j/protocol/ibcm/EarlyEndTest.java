// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.ibcm;

import io.rdma4j.protocol.ibcm.EarlyEnd.Next;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** When a request that the system reports of is sent again, told to be silent, or given up: to the nanosecond. */
class EarlyEndTest {
    private static final Gid HERE = new Gid(0, 0xffff_7f00_0001L);
    private static final Gid ELSEWHERE = new Gid(0, 0xffff_0a00_0002L);
    private static final long PATIENCE_NS = 1_000_000_000;
    private static final long INTERVAL_NS = 250_000_000;
    private static final long SILENCE_NS = 4_000_000_000L;
    private static final long LASTING_NS = 1_000_000_000;
    /** Clocks do not begin at zero. */
    private static final long BEGIN_NS = 77_000_000_000_123L;

    private final EarlyEnd request = to(ELSEWHERE, PATIENCE_NS);

    private static EarlyEnd to(Gid remote, long patienceNs) {
        return new EarlyEnd(new CmPeer(HERE, remote), patienceNs);
    }

    // ---------------------------------------------------------------- when to look, and what follows

    @Test
    void reportsAreLookedForAQuarterOfASecondAfterEachRequest() {
        for (long sentNs : new long[]{BEGIN_NS, BEGIN_NS + PATIENCE_NS}) {
            assertThat(request.onSent(sentNs)).isEqualTo(sentNs + INTERVAL_NS);
            assertThat(request.sentNs()).isEqualTo(sentNs);
            assertThat(request.patienceEndsNs()).isEqualTo(sentNs + PATIENCE_NS);
            assertThat(request.onDeadline()).isEqualTo(Next.WAIT);
            assertThat(request.onDeadline()).isEqualTo(Next.RETRY);
        }
    }

    /** There is nothing to wait for between the look and the retry. */
    @ParameterizedTest
    @ValueSource(longs = {1, INTERVAL_NS - 1, INTERVAL_NS})
    void whoIsNotMorePatientThanThatRetriesAtOnce(long patienceNs) {
        EarlyEnd impatient = to(ELSEWHERE, patienceNs);
        assertThat(impatient.onSent(BEGIN_NS)).isEqualTo(BEGIN_NS + patienceNs);
        assertThat(impatient.onDeadline()).isEqualTo(Next.RETRY);
    }

    @Test
    void whoIsMorePatientThanThatByANanosecondLooksFirst() {
        EarlyEnd patient = to(ELSEWHERE, INTERVAL_NS + 1);
        assertThat(patient.onSent(BEGIN_NS)).isEqualTo(BEGIN_NS + INTERVAL_NS);
        assertThat(patient.onDeadline()).isEqualTo(Next.WAIT);
    }

    @Test
    void firstRequestToThisMachineIsRepeatedEarlyAndLaterOnesAreNot() {
        EarlyEnd here = to(HERE, PATIENCE_NS);
        here.onSent(BEGIN_NS);
        assertThat(here.onDeadline()).isEqualTo(Next.AGAIN);
        here.onSent(BEGIN_NS + INTERVAL_NS);
        assertThat(here.onDeadline()).isEqualTo(Next.WAIT);
    }

    @Test
    void requestThatWasRefusedIsSentAgainAndTheRefusalIsNotForTheNext() {
        request.onSent(BEGIN_NS);
        assertThat(request.onRefused(Errno.ECONNREFUSED, BEGIN_NS)).isFalse();
        assertThat(request.onDeadline()).isEqualTo(Next.AGAIN);
        request.onSent(BEGIN_NS + INTERVAL_NS);
        assertThat(request.onDeadline()).isEqualTo(Next.WAIT);
    }

    @Test
    void peerThatIsHeardIsNotLookedForAnyMore() {
        request.onSent(BEGIN_NS);
        request.onRefused(Errno.ECONNREFUSED, BEGIN_NS);
        request.onAnswer();
        assertThat(request.onDeadline()).isEqualTo(Next.RETRY);
    }

    // ---------------------------------------------------------------- silence

    @Test
    void silenceBeginsWithTheFirstRequestAndIsToldOnce() {
        request.onSent(BEGIN_NS);
        request.onSent(BEGIN_NS + 3 * PATIENCE_NS);
        assertThat(request.becomesSilent(BEGIN_NS + SILENCE_NS - 1)).isFalse();
        assertThat(request.becomesSilent(BEGIN_NS + SILENCE_NS)).isTrue();
        assertThat(request.becomesSilent(BEGIN_NS + SILENCE_NS + 1)).isFalse();
    }

    @Test
    void peerThatWasHeardIsNeverSilent() {
        request.onSent(BEGIN_NS);
        assertThat(request.isAnswered()).isFalse();
        request.onAnswer();
        assertThat(request.isAnswered()).isTrue();
        assertThat(request.becomesSilent(BEGIN_NS + 10 * SILENCE_NS)).isFalse();
    }

    // ---------------------------------------------------------------- what is refused

    @Test
    void thirdRefusalInARowEndsTheRequest() {
        assertThat(request.onRefused(Errno.ECONNREFUSED, BEGIN_NS)).isFalse();
        assertThat(request.onRefused(Errno.ECONNREFUSED, BEGIN_NS + INTERVAL_NS)).isFalse();
        assertThat(request.onRefused(Errno.EPERM, BEGIN_NS + 2 * INTERVAL_NS)).isTrue();
        assertThat(request.reason()).isEqualTo(Errno.EPERM);
    }

    /** A clock may stand at any number, zero included. */
    @ParameterizedTest
    @ValueSource(longs = {-1, 0, BEGIN_NS, -BEGIN_NS})
    void hostThatWasHeardIsGoneForGoodAfterASecondWhateverTheClockSays(long goneNs) {
        request.onSent(goneNs - 1);
        request.onAnswer();
        assertThat(request.onRefused(Errno.EHOSTUNREACH, goneNs)).isFalse();
        assertThat(request.onRefused(Errno.EHOSTUNREACH, goneNs + LASTING_NS - 1)).isFalse();
        assertThat(request.onRefused(Errno.EHOSTUNREACH, goneNs + LASTING_NS)).isTrue();
    }

    /** As when a host reports of a request twice, or of the packets of several connections. */
    @Test
    void refusalsWithinAQuarterOfASecondAreOne() {
        request.onRefused(Errno.ECONNREFUSED, BEGIN_NS);
        for (long laterNs : new long[]{0, 1, INTERVAL_NS - 1}) {
            assertThat(request.onRefused(Errno.ECONNREFUSED, BEGIN_NS + laterNs)).isFalse();
        }
        request.onRefused(Errno.ECONNREFUSED, BEGIN_NS + INTERVAL_NS);
        assertThat(request.onRefused(Errno.ECONNREFUSED, BEGIN_NS + 2 * INTERVAL_NS - 1)).isFalse();
        assertThat(request.onRefused(Errno.ECONNREFUSED, BEGIN_NS + 2 * INTERVAL_NS)).isTrue();
    }

    @Test
    void impatientRequestCountsRefusalsByItsOwnPatience() {
        EarlyEnd impatient = to(ELSEWHERE, 10);
        impatient.onRefused(Errno.ECONNREFUSED, BEGIN_NS);
        impatient.onRefused(Errno.ECONNREFUSED, BEGIN_NS + 10);
        assertThat(impatient.onRefused(Errno.ECONNREFUSED, BEGIN_NS + 20)).isTrue();
    }

    @Test
    void refusalsBeforeAPacketThatWasLetThroughAreForgotten() {
        request.onRefused(Errno.ECONNREFUSED, BEGIN_NS);
        request.onRefused(Errno.ECONNREFUSED, BEGIN_NS + INTERVAL_NS);
        request.onSent(BEGIN_NS + 2 * INTERVAL_NS);
        request.onDeadline();
        assertThat(request.reason()).isEqualTo(Errno.ECONNREFUSED);
        assertThat(request.onDeadline()).isEqualTo(Next.RETRY);
        assertThat(request.reason()).isEqualTo(Errno.ETIMEDOUT);
        assertThat(endsWithTheThirdRefusalFrom(BEGIN_NS + 2 * PATIENCE_NS)).isTrue();
    }

    @Test
    void refusalsBeforeThePeerWasHeardAreForgotten() {
        request.onRefused(Errno.ECONNREFUSED, BEGIN_NS);
        request.onRefused(Errno.ECONNREFUSED, BEGIN_NS + INTERVAL_NS);
        request.onAnswer();
        assertThat(request.reason()).isEqualTo(Errno.ETIMEDOUT);
        // Though it comes less than a quarter of a second after the last.
        assertThat(endsWithTheThirdRefusalFrom(BEGIN_NS + INTERVAL_NS + 1)).isTrue();
    }

    private boolean endsWithTheThirdRefusalFrom(long nowNs) {
        return !request.onRefused(Errno.ECONNREFUSED, nowNs)
                && !request.onRefused(Errno.ECONNREFUSED, nowNs + INTERVAL_NS)
                && request.onRefused(Errno.ECONNREFUSED, nowNs + 2 * INTERVAL_NS);
    }

    /** Queues that are full now, or a report on another packet, which was longer. */
    @ParameterizedTest
    @EnumSource(value = Errno.class, names = {"ENOBUFS", "ENOMEM", "EAGAIN", "EMSGSIZE"})
    void whatSaysNothingOfThePeerCountsForNothing(Errno why) {
        request.onSent(BEGIN_NS);
        for (int i = 0; i < 10; i++) {
            assertThat(request.onRefused(why, BEGIN_NS + i * LASTING_NS)).isFalse();
        }
        assertThat(request.reason()).isEqualTo(Errno.ETIMEDOUT);
        assertThat(request.onDeadline()).isEqualTo(Next.WAIT);
    }

    // ---------------------------------------------------------------- no host, or no way to it

    @ParameterizedTest
    @EnumSource(value = Errno.class,
            names = {"ENETUNREACH", "EHOSTUNREACH", "EHOSTDOWN", "ENETDOWN"})
    void peerThatIsNotThereEndsARequestAtTheFirstReport(Errno why) {
        request.onSent(BEGIN_NS);
        assertThat(request.onRefused(why, BEGIN_NS)).isTrue();
        assertThat(request.reason()).isEqualTo(why);
    }

    @ParameterizedTest
    @EnumSource(value = Errno.class, mode = EnumSource.Mode.EXCLUDE,
            names = {"ENETUNREACH", "EHOSTUNREACH", "EHOSTDOWN", "ENETDOWN"})
    void nothingElseEndsARequestAtTheFirstReport(Errno why) {
        request.onSent(BEGIN_NS);
        assertThat(request.onRefused(why, BEGIN_NS)).isFalse();
    }

    @Test
    void peerThatWasHeardIsGoneOnceThatHasLastedForASecond() {
        request.onAnswer();
        assertThat(request.onRefused(Errno.EHOSTUNREACH, BEGIN_NS)).isFalse();
        assertThat(request.onRefused(Errno.ENETDOWN, BEGIN_NS + LASTING_NS - 1)).isFalse();
        assertThat(request.onRefused(Errno.EHOSTUNREACH, BEGIN_NS + LASTING_NS)).isTrue();
        assertThat(request.reason()).isEqualTo(Errno.EHOSTUNREACH);
    }

    @Test
    void peerThatIsHeardMeanwhileHasASecondAgain() {
        request.onAnswer();
        request.onRefused(Errno.EHOSTUNREACH, BEGIN_NS);
        request.onAnswer();
        assertThat(request.onRefused(Errno.EHOSTUNREACH, BEGIN_NS + LASTING_NS)).isFalse();
        assertThat(request.onRefused(Errno.EHOSTUNREACH, BEGIN_NS + 2 * LASTING_NS - 1)).isFalse();
        assertThat(request.onRefused(Errno.EHOSTUNREACH, BEGIN_NS + 2 * LASTING_NS)).isTrue();
    }
}
