// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.cm.QueuePairOperations;
import io.rdma4j.softnic.device.PortView;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.WorkCompletion;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** When waiting for a completion ends because none can come, and what comes before that. */
class CompletionEndTest {
    private final CompletionChannel channel = CompletionChannel.create();
    private final Pair pair = new Pair();

    CompletionEndTest() throws Exception {}

    /** Waits for the completions of one side, as an id does for those of its queue pair. */
    private record Waiting(Pair.Side side) implements QueuePairOperations {
        @Override
        public QueuePair queuePair() {
            return side.queuePair;
        }

        @Override
        public @Nullable SharedReceiveQueue sharedReceiveQueue() {
            return side.sharedReceives;
        }

        @Override
        public ProtectionDomain protectionDomain() {
            return queuePair().protectionDomain();
        }

        void fail() throws RdmaException {
            queuePair().modify(new QueuePairAttributes().state(QueuePairState.ERR));
        }

        String nextSend() throws RdmaException {
            return text(pollSendCompletion(Duration.ZERO));
        }

        String nextReceive() throws RdmaException {
            return text(pollReceiveCompletion(Duration.ZERO));
        }

        private static String text(@Nullable WorkCompletion completion) {
            return completion == null ? "none" : completion.id() + " " + completion.status();
        }
    }

    private Waiting waiting(Pair.Settings settings) throws Exception {
        return waiting(settings, pair.a.node.context.createCompletionQueue(16, channel));
    }

    private Waiting waiting(Pair.Settings settings, CompletionQueue queue) throws Exception {
        Pair.Side own = pair.new Side(pair.a.node, queue, settings);
        Pair.Side peer = pair.new Side(pair.b.node, pair.b.completionQueue, settings);
        own.connect(peer, settings);
        peer.connect(own, settings);
        return new Waiting(own);
    }

    private static Pair.Settings of(QueuePairType type) {
        Pair.Settings settings = new Pair.Settings();
        settings.type = type;
        return settings;
    }

    private static void assertEnded(ThrowingCallable call, Errno errno, String... words) {
        assertThatExceptionOfType(RdmaException.class).isThrownBy(call).satisfies(e -> {
            assertThat(e.errno()).as(e.getMessage()).isEqualTo(errno);
            for (String word : words) {
                assertThat(e.getMessage()).contains(word);
            }
        });
    }

    private static List<ThrowingCallable> waits(QueuePairOperations operations) {
        return List.of(operations::awaitSendCompletion, operations::awaitReceiveCompletion,
                () -> operations.pollSendCompletion(Duration.ZERO),
                () -> operations.pollSendCompletion(Duration.ofDays(100_000)),
                () -> operations.pollReceiveCompletion(Duration.ZERO),
                () -> operations.pollReceiveCompletion(Duration.ofDays(1)));
    }

    @ParameterizedTest
    @EnumSource(names = {"RC", "UC", "UD"})
    void waitsEndWhenTheQueuePairHasFailed(QueuePairType type) throws Exception {
        Waiting waiting = waiting(of(type));
        assertThat(waiting.nextSend()).isEqualTo("none");
        assertThat(waiting.nextReceive()).isEqualTo("none");
        waiting.fail();
        for (ThrowingCallable wait : waits(waiting)) {
            assertEnded(wait, Errno.ENOTCONN, "is outstanding", "state ERR");
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"RC", "UC", "UD"})
    void whatWasOutstandingComesFirst(QueuePairType type) throws Exception {
        Waiting waiting = waiting(of(type));
        waiting.side.receive(1, 64);
        waiting.side.receive(2, 64);
        waiting.fail();
        assertThat(waiting.nextReceive()).isEqualTo("1 WORK_REQUEST_FLUSHED");
        assertThat(waiting.awaitReceiveCompletion().id()).isEqualTo(2);
        assertEnded(waiting::awaitReceiveCompletion, Errno.ENOTCONN, "no receive is outstanding");
        assertEnded(waiting::awaitSendCompletion, Errno.ENOTCONN, "no send is outstanding");
    }

    @Test
    void whatIsPostedAfterTheEndComesAsWell() throws Exception {
        Waiting waiting = waiting(new Pair.Settings());
        waiting.fail();
        assertEnded(waiting::awaitReceiveCompletion, Errno.ENOTCONN);
        waiting.side.receive(3, 64);
        assertThat(waiting.awaitReceiveCompletion().id()).isEqualTo(3);
        waiting.side.send(4, 64);
        assertThat(waiting.awaitSendCompletion().id()).isEqualTo(4);
        assertEnded(waiting::awaitSendCompletion, Errno.ENOTCONN);
    }

    @Test
    void receivesOfOthersInASharedQueueKeepNobodyWaiting() throws Exception {
        Pair.Settings settings = new Pair.Settings();
        settings.hasSharedReceives = true;
        Waiting waiting = waiting(settings);
        waiting.side.receive(1, 64);
        assertThat(waiting.nextReceive()).isEqualTo("none");
        waiting.fail();
        assertEnded(waiting::awaitReceiveCompletion, Errno.ENOTCONN, "no receive");
    }

    @Test
    void inACompletionQueueOfSeveralQueuePairsTheEndOfOneIsItsOwn() throws Exception {
        Waiting first = waiting(new Pair.Settings());
        Waiting second = waiting(new Pair.Settings(), first.side.completionQueue);
        second.side.receive(2, 64);
        first.fail();
        assertEnded(first::awaitReceiveCompletion, Errno.ENOTCONN);
        assertThat(second.nextReceive()).isEqualTo("none");
        second.fail();
        assertThat(first.nextReceive()).isEqualTo("2 WORK_REQUEST_FLUSHED");
        assertEnded(second::awaitReceiveCompletion, Errno.ENOTCONN);
    }

    @Test
    void waitsEndInStateReset() throws Exception {
        Waiting waiting = waiting(new Pair.Settings());
        waiting.side.receive(1, 64);
        waiting.queuePair().modify(new QueuePairAttributes().state(QueuePairState.RESET));
        for (ThrowingCallable wait : waits(waiting)) {
            assertEnded(wait, Errno.ENOTCONN, "state RESET");
        }
    }

    @Test
    void completionsOfAnEarlierLifeAreNotHandedOut() throws Exception {
        Waiting waiting = waiting(new Pair.Settings());
        waiting.side.receive(1, 64);
        waiting.fail();
        waiting.queuePair().modify(new QueuePairAttributes().state(QueuePairState.RESET));
        assertEnded(waiting::awaitReceiveCompletion, Errno.ENOTCONN, "state RESET");
    }

    @Test
    void waitsEndWhenTheQueuePairIsClosed() throws Exception {
        Waiting waiting = waiting(new Pair.Settings());
        waiting.side.receive(1, 64);
        waiting.queuePair().close();
        for (ThrowingCallable wait : waits(waiting)) {
            assertEnded(wait, Errno.EBADF, "queue pair was closed");
        }
    }

    @Test
    void completionsOfAClosedQueuePairAreNotHandedOut() throws Exception {
        Waiting waiting = waiting(new Pair.Settings());
        waiting.side.receive(1, 64);
        waiting.fail();
        waiting.queuePair().close();
        assertEnded(waiting::awaitReceiveCompletion, Errno.EBADF);
    }

    @Test
    void waitsEndWhenTheDeviceIsGone() throws Exception {
        Waiting waiting = waiting(new Pair.Settings());
        waiting.side.receive(1, 64);
        pair.a.node.nic.onPort(new PortView(false, false, List.of()));
        assertThat(waiting.awaitReceiveCompletion().id()).isEqualTo(1);
        for (ThrowingCallable wait : waits(waiting)) {
            assertEnded(wait, Errno.ENODEV, "the device is gone");
        }
    }

    @Test
    void waitsEndWhenThePeerIsSilentAndTheQueuePairFails() throws Exception {
        Waiting waiting = waiting(new Pair.Settings());
        pair.simulation.network.loseIf(packet -> true);
        waiting.side.send(1, 64);
        assertThat(pair.simulation.run(() -> waiting.queuePair().state() == QueuePairState.ERR,
                600 * Pair.SECOND)).isTrue();
        assertThat(waiting.nextSend()).isEqualTo("1 RETRY_EXCEEDED_ERROR");
        assertEnded(waiting::awaitSendCompletion, Errno.ENOTCONN);
        assertEnded(waiting::awaitReceiveCompletion, Errno.ENOTCONN);
    }

    // ---------------------------------------------------------------- when nothing is outstanding

    private static void assertVain(ThrowingCallable wait, String words) {
        assertThatIllegalStateException().isThrownBy(wait).withMessageContaining(words);
    }

    @ParameterizedTest
    @EnumSource(names = {"RC", "UC", "UD"})
    void waitWithNothingPostedIsRefused(QueuePairType type) throws Exception {
        Waiting waiting = waiting(of(type));
        assertVain(waiting::awaitSendCompletion,
                "await send completion: no send is outstanding: post one first");
        assertVain(waiting::awaitReceiveCompletion,
                "await receive completion: no receive is outstanding: post one first");
        assertThat(waiting.pollSendCompletion(Duration.ofMillis(1))).isNull();
    }

    @Test
    void waitForUnsignaledSendsIsRefused() throws Exception {
        Waiting waiting = waiting(new Pair.Settings());
        pair.simulation.network.loseIf(packet -> true);
        waiting.queuePair()
                .postSend(new SendWorkRequest().id(1).send().add(waiting.side.region, 0, 8));
        assertVain(waiting::awaitSendCompletion, "all outstanding sends are unsignaled");
        waiting.fail();
        assertThat(waiting.awaitSendCompletion().id()).isEqualTo(1);
    }

    @Test
    void waitForASignaledSendBehindUnsignaledOnesIsNot() throws Exception {
        Waiting waiting = waiting(new Pair.Settings());
        waiting.queuePair()
                .postSend(new SendWorkRequest().id(1).send().add(waiting.side.region, 0, 8));
        waiting.side.send(2, 8);
        CompletableFuture<Long> waited = CompletableFuture
                .supplyAsync(() -> idOf(waiting::awaitSendCompletion));
        waiting.fail();
        assertThat(waited.get(60, TimeUnit.SECONDS)).isEqualTo(1);
    }

    @Test
    void completionThatIsInTheQueueIsTakenThoughNothingIsOutstanding() throws Exception {
        Waiting waiting = waiting(new Pair.Settings());
        waiting.side.receive(1, 64);
        waiting.fail();
        assertThat(waiting.awaitReceiveCompletion().id()).isEqualTo(1);
    }

    /** Whoever takes any completion of a queue may wait for those of others. */
    @Test
    void whatCompletesIntoTheSameQueueIsWaitedFor() throws Exception {
        Waiting first = waiting(new Pair.Settings());
        Waiting second = waiting(new Pair.Settings(), first.side.completionQueue);
        assertVain(first::awaitSendCompletion, "no send");
        second.side.receive(2, 64);
        CompletableFuture<Long> waited = CompletableFuture
                .supplyAsync(() -> idOf(first::awaitSendCompletion));
        second.fail();
        assertThat(waited.get(60, TimeUnit.SECONDS)).isEqualTo(2);
    }

    @Test
    void whoGivesATimeWaitsForWhatAnotherThreadPosts() throws Exception {
        Waiting waiting = waiting(new Pair.Settings());
        CompletableFuture<Long> waited = CompletableFuture.supplyAsync(
                () -> idOf(() -> Objects.requireNonNull(
                        waiting.pollReceiveCompletion(Duration.ofDays(100_000)))));
        waiting.side.receive(3, 64);
        waiting.fail();
        assertThat(waited.get(60, TimeUnit.SECONDS)).isEqualTo(3);
    }

    private static long idOf(Callable<WorkCompletion> wait) {
        try {
            return wait.call().id();
        } catch (Exception e) {
            throw new CompletionException(e);
        }
    }

    @Test
    void aQueueWithoutChannelIsNotWaitedFor() throws Exception {
        Waiting waiting = waiting(new Pair.Settings(),
                pair.a.node.context.createCompletionQueue(16));
        assertEnded(waiting::awaitReceiveCompletion, Errno.EINVAL, "has no channel");
    }
}
