// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.engine;

import io.rdma4j.testkit.Wait;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

import static org.assertj.core.api.Assertions.assertThat;

/** Which answers of a thread wait for its next ones, and when they leave. */
class GatheredAnswersTest {
    private static final long PEER = 1;
    private static final long OTHER_PEER = 2;

    /** Does not advance by itself: no wait ends because of time. */
    private final AtomicLong clock = new AtomicLong(1);
    private final Messages network = new Messages();
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
    private final class Messages extends QuietLink {
        final AtomicBoolean isAwaited = new AtomicBoolean();
        private final Semaphore wakeUps = new Semaphore(0);
        private int arriving;
        private boolean hasReceived;

        @Override
        public boolean receive(long nowNs, boolean isOften) {
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

        @Override
        public void await(long timeoutNs) {
            isAwaited.set(true);
            wakeUps.acquireUninterruptibly();
        }

        @Override
        public void wake() {
            wakeUps.release();
        }
    }

    /** Sends the acknowledgement of a message and then the answer. */
    private final class Answering extends QuietQueuePair {
        final String name;
        long peer = PEER;
        private int acknowledgements;
        private int answers;

        Answering(String name) {
            super(engine);
            this.name = name;
            engine.attach(this);
        }

        @Override
        public void onSendPosted(long nowNs) {
            acknowledgements++;
            answers++;
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
        answer(0);
        driver.run(nowNs -> assertThat(takeSent()).contains("answer 0"));
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

    @Test
    void theBackgroundThreadSendsIfTheThreadDoesNotComeBack() {
        // So long after the last poll it does not stay away.
        clock.addAndGet(EngineDriver.POLLING_NS);
        driver.start();
        Wait.until("the background thread sleeps", network.isAwaited::get);
        deliver(3);
        answer(0);
        clock.addAndGet(EngineDriver.POLLING_NS);
        Wait.until("it is sent", this::hasSent);
    }
}
