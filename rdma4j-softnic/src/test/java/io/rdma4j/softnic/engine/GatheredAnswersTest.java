// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.engine;

import io.rdma4j.event.ProgressDriver;
import io.rdma4j.testkit.Wait;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;

import static org.assertj.core.api.Assertions.assertThat;

/** Which answers of a thread wait for its next ones, and when they leave. */
class GatheredAnswersTest {
    private static final long PEER = 1;
    private static final long OTHER_PEER = 2;

    /** Does not advance by itself: no wait ends because of time. */
    private final AtomicLong clock = new AtomicLong(1);
    private final Messages network = new Messages();
    private final AdaptiveSpin spin = new AdaptiveSpin(clock::get,
            new ProcessorContention(clock::get));
    private Engine engine;
    private EngineDriver driver;
    /** What was sent, by all threads. */
    private final List<String> sent = new ArrayList<>();
    private final List<Answering> queuePairs = new ArrayList<>();

    @BeforeEach
    void open() {
        engine = new Engine(() -> 1, network);
        driver = new EngineDriver(engine, clock::get, "background", () -> {});
        for (int i = 0; i < 4; i++) {
            queuePairs.add(new Answering("" + i));
        }
        // The first answer of all goes where nothing has gone before.
        deliver(1);
        answer(0);
        takeSent();
    }

    @AfterEach
    void close() {
        driver.close();
    }

    /** Brings messages, sends nothing until it has to, and does not wake who waits for messages. */
    private final class Messages extends PatientLink {
        private int arriving;
        private boolean hasReceived;
        private Runnable whileReceiving = () -> {};

        @Override
        public boolean receive(long nowNs, boolean isOften) {
            whileReceiving.run();
            hasReceived = arriving > 0;
            for (; arriving > 0; arriving--) {
                engine.onDelivered();
            }
            return false;
        }

        @Override
        public boolean hasReceived() {
            return hasReceived;
        }
    }

    /** Sends the acknowledgement of a message and then the answer. */
    private final class Answering extends QuietQueuePair {
        final String name;
        long peer = PEER;
        /** Of an answer. */
        long timeoutNs = Long.MAX_VALUE;
        private int acknowledgements;
        private int answers;
        private long dueNs = Long.MAX_VALUE;

        Answering(String name) {
            super(engine);
            this.name = name;
            engine.attach(this);
        }

        @Override
        public void onSendPosted(long nowNs) {
            acknowledgements++;
            answers++;
            dueNs = timeoutNs == Long.MAX_VALUE ? timeoutNs : nowNs + timeoutNs;
        }

        @Override
        public long deadlineNs() {
            return dueNs;
        }

        @Override
        public void onDeadline(long nowNs) {
            dueNs = Long.MAX_VALUE;
            send("time-out " + name);
        }

        /** The peer waits to be told that there is one. */
        @Override
        public void onReceivePosted(long nowNs) {
            acknowledgements++;
        }

        @Override
        protected long together() {
            return peer;
        }

        @Override
        protected int transmit(int most) {
            int count = 0;
            for (; count < most && acknowledgements > 0; count++) {
                acknowledgements--;
                send("acknowledgement " + name);
            }
            for (; count < most && answers > 0; count++) {
                answers--;
                dueNs = Long.MAX_VALUE;
                send("answer " + name);
            }
            return count;
        }

        private void send(String what) {
            synchronized (sent) {
                sent.add(what);
            }
        }
    }

    private void deliver(int messages) {
        // A poll that finds nothing: what was held back before has left.
        driver.poll();
        network.arriving = messages;
        driver.poll();
        take(messages);
    }

    private void take(int messages) {
        for (int i = 0; i < messages; i++) {
            driver.noteMessage();
        }
    }

    private void answer(int number) {
        driver.ring(queuePairs.get(number), EngineQueuePair.SEND_DOORBELL);
    }

    private List<String> takeSent() {
        synchronized (sent) {
            List<String> taken = List.copyOf(sent);
            sent.clear();
            return taken;
        }
    }

    private boolean hasSent() {
        synchronized (sent) {
            return !sent.isEmpty();
        }
    }

    @Test
    void theLastAnswerSendsAllOfThemAcknowledgementsFirst() {
        deliver(3);
        answer(0);
        answer(1);
        assertThat(takeSent()).isEmpty();
        answer(2);
        assertThat(takeSent()).containsExactly("acknowledgement 0", "acknowledgement 1",
                "acknowledgement 2", "answer 0", "answer 1", "answer 2");
    }

    @Test
    void theAnswerToASingleMessageLeavesAtOnce() {
        deliver(1);
        answer(0);
        assertThat(takeSent()).containsExactly("acknowledgement 0", "answer 0");
    }

    @Test
    void whatIsNoAnswerLeavesAtOnce() {
        deliver(2);
        answer(0);
        answer(1);
        takeSent();
        answer(2);
        assertThat(takeSent()).containsExactly("acknowledgement 2", "answer 2");
    }

    @Test
    void whoLooksForMoreSends() {
        deliver(3);
        answer(0);
        driver.poll();
        assertThat(takeSent()).contains("answer 0");
        answer(1);
        assertThat(takeSent()).contains("answer 1");
    }

    @Test
    void whoLooksForMoreSendsEvenIfItFindsSome() {
        deliver(3);
        answer(0);
        network.arriving = 2;
        driver.poll();
        assertThat(takeSent()).contains("answer 0");
    }

    @Test
    void whoChangesSomethingSendsFirst() {
        deliver(3);
        // Finds more, and so sends what was held back.
        network.arriving = 3;
        driver.poll();
        take(3);
        answer(0);
        assertThat(takeSent()).isEmpty();
        driver.run(nowNs -> assertThat(takeSent()).contains("answer 0"));
    }

    @Test
    void theAnswerOfAThreadThatHasTakenOneOfManyMessagesLeavesAtOnce() {
        driver.poll();
        network.arriving = 3;
        driver.poll();
        take(1);
        answer(0);
        assertThat(takeSent()).contains("answer 0");
    }

    @Test
    void whatAnotherThreadHasTakenIsNotWaitedFor() throws Exception {
        deliver(3);
        Thread other = new Thread(() -> take(2));
        other.start();
        other.join();
        answer(0);
        assertThat(takeSent()).contains("answer 0");
    }

    @Test
    void whatWasRungForLeavesAtOnce() throws Exception {
        deliver(3);
        CountDownLatch isIn = new CountDownLatch(1);
        CountDownLatch hasRung = new CountDownLatch(1);
        network.whileReceiving = () -> {
            isIn.countDown();
            Wait.until("it has rung", () -> hasRung.getCount() == 0);
        };
        Thread owner = new Thread(() -> driver.serve(null, spin));
        owner.start();
        isIn.await();
        answer(3);
        hasRung.countDown();
        owner.join();
        assertThat(takeSent()).isEmpty();
        answer(0);
        assertThat(takeSent()).contains("answer 3", "answer 0");
        answer(1);
        assertThat(takeSent()).as("the third of three").contains("answer 1");
    }

    @Test
    void aListWaitsForNothing() {
        deliver(3);
        driver.ringForList(queuePairs.get(0));
        assertThat(takeSent()).contains("answer 0");
        answer(1);
        assertThat(takeSent()).contains("answer 1");
    }

    @Test
    void noTimerExpiresForWhatHasNotLeft() {
        deliver(2);
        queuePairs.get(0).timeoutNs = 1000;
        answer(0);
        clock.addAndGet(PollPace.POLLING_NS);
        driver.poll();
        assertThat(takeSent()).containsExactly("acknowledgement 0", "answer 0");
    }

    @Test
    void aReceiveIsNoAnswer() {
        deliver(2);
        driver.ring(queuePairs.get(0), EngineQueuePair.RECEIVE_DOORBELL);
        assertThat(takeSent()).containsExactly("acknowledgement 0");
        answer(1);
        assertThat(takeSent()).as("one of two").isEmpty();
    }

    /** A thread that waits for events. */
    private static final class EventWaiter implements ProgressDriver.Waiter {
        boolean isDone;

        @Override
        public boolean isDone() {
            return isDone;
        }

        @Override
        public boolean isUrgent() {
            return true;
        }

        @Override
        public boolean onDriverFree() {
            return false;
        }
    }

    @Test
    void whoWaitsForEventsGathersAndSendsLikewise() {
        EventWaiter waiter = new EventWaiter();
        waiter.isDone = true;
        network.arriving = 3;
        driver.serve(waiter, spin);
        take(3);
        answer(0);
        assertThat(takeSent()).isEmpty();
        waiter.isDone = false;
        driver.serve(waiter, spin);
        assertThat(takeSent()).contains("answer 0");
        answer(1);
        assertThat(takeSent()).as("it has looked for more").contains("answer 1");
    }

    @Test
    void theFirstAnswerMayTakeAsLongAsTheMessages() {
        deliver(3);
        clock.addAndGet(GatheredAnswers.BRISK_NS + 2 * GatheredAnswers.EACH_NS);
        answer(0);
        assertThat(takeSent()).isEmpty();
    }

    @Test
    void whoPausesStartsAnew() {
        deliver(4);
        clock.addAndGet(GatheredAnswers.LONG_AGO_NS + 4 * GatheredAnswers.EACH_NS);
        answer(0);
        answer(1);
        assertThat(takeSent()).contains("answer 0", "answer 1");
    }

    @Test
    void answersToDifferentPeersLeaveAtOnce() {
        queuePairs.get(1).peer = OTHER_PEER;
        deliver(4);
        answer(1);
        assertThat(takeSent()).contains("answer 1");
        answer(0);
        assertThat(takeSent()).contains("answer 0");
    }

    @Test
    void whereNothingLeavesTogetherAnswersLeaveAtOnce() {
        for (Answering queuePair : queuePairs) {
            queuePair.peer = EngineQueuePair.ALONE;
        }
        deliver(4);
        answer(0);
        answer(1);
        assertThat(takeSent()).contains("answer 0", "answer 1");
    }

    @Test
    void theAnswersOfASlowThreadLeaveAtOnce() {
        deliver(3);
        clock.addAndGet(GatheredAnswers.BRISK_NS + 3 * GatheredAnswers.EACH_NS);
        answer(0);
        assertThat(takeSent()).contains("answer 0");
        clock.addAndGet(GatheredAnswers.BRISK_NS);
        answer(1);
        assertThat(takeSent()).contains("answer 1");
    }

    @Test
    void noAnswerWaitsForManyOthers() {
        deliver(100);
        int answered = 0;
        while (!hasSent()) {
            answer(0);
            clock.addAndGet(GatheredAnswers.BRISK_NS - 1);
            answered++;
        }
        assertThat(answered)
                .isEqualTo(2 + (int) (GatheredAnswers.LONGEST_NS / GatheredAnswers.BRISK_NS));
    }

    @Test
    void anotherThreadThatPostsSendsAll() throws Exception {
        deliver(3);
        answer(0);
        Thread other = new Thread(() -> answer(1));
        other.start();
        other.join();
        assertThat(takeSent()).contains("answer 0", "answer 1");
    }

    /** Only what is held back by the answer itself may wake it. */
    @Test
    void theBackgroundThreadSendsIfTheThreadDoesNotComeBack() {
        sleepInBackground();
        take(3);
        answer(0);
        take(3);
        takeSent();
        answer(1);
        assertThat(takeSent()).isEmpty();
        clock.addAndGet(PollPace.POLLING_NS);
        Wait.until("it is sent", this::hasSent);
    }

    /** Who sleeps for a short time only is not woken by the answer itself. */
    @Test
    void whoWaitsElsewhereWakesTheThreadThatSleeps() {
        deliver(3);
        answer(0);
        assertThat(takeSent()).isEmpty();
        Thread sleeper = new Thread(
                () -> driver.sleep(clock.get() + PollPace.POLLING_NS / 2, spin, null));
        clock.addAndGet(PollPace.POLLING_NS);
        sleeper.start();
        Wait.until("it sleeps", network.isAwaited::get);
        driver.stopAttending();
        Wait.until("it is awake", () -> !sleeper.isAlive());
    }

    private void sleepInBackground() {
        // So long after the last poll it does not stay away.
        clock.addAndGet(PollPace.POLLING_NS);
        driver.start();
        Wait.until("the background thread sleeps", network.isAwaited::get);
    }
}
