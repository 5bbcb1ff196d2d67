// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.engine;

import org.junit.jupiter.api.Test;

import java.util.concurrent.atomic.AtomicLong;

import static org.assertj.core.api.Assertions.assertThat;

/** How old the time may be that a post is sent at: within a tick of the system, for a queue pair that need not know it. */
class PostingTimeTest {
    private static final long MS = 1_000_000;
    private static final long FIRST_NS = 10_000 * MS;

    private final AtomicLong clock = new AtomicLong(FIRST_NS);
    private final TimedLink link = new TimedLink();
    private final Engine engine = new Engine(() -> 1, link);
    private final EngineDriver driver = new EngineDriver(engine, clock::get, null, () -> {});
    private final Timed queuePair = new Timed();

    private static final class TimedLink extends QuietLink {
        long sleptForNs;
        long receivedNs;

        @Override
        public boolean receive(long nowNs, boolean isOften) {
            receivedNs = nowNs;
            return false;
        }

        @Override
        public void await(long timeoutNs) {
            sleptForNs = timeoutNs;
        }
    }

    private final class Timed extends QuietQueuePair {
        long tick = 1;
        long heardNs;

        Timed() {
            super(engine);
            engine.attach(this);
        }

        @Override
        protected long tick() {
            return tick;
        }

        @Override
        public void onSendPosted(long nowNs) {
            heardNs = nowNs;
        }
    }

    /** {@return the time that the queue pair was told} It is a microsecond later than at the post before. */
    private long post() {
        clock.addAndGet(1000);
        driver.ring(queuePair, EngineQueuePair.SEND_DOORBELL);
        return queuePair.heardNs;
    }

    @Test
    void fewPostsShareATime() {
        long toldNs = post();
        assertThat(toldNs).isEqualTo(clock.get());
        for (int i = 0; i < EngineDriver.POSTS_AT_A_TIME; i++) {
            assertThat(post()).isEqualTo(toldNs);
        }
        assertThat(post()).isEqualTo(clock.get());
        assertThat(post()).isLessThan(clock.get());
    }

    @Test
    void inAnotherTickThereIsAnotherTime() {
        post();
        queuePair.tick++;
        assertThat(post()).isEqualTo(clock.get());
        assertThat(post()).isLessThan(clock.get());
    }

    @Test
    void theTimeOfAPollWillDo() {
        post();
        clock.addAndGet(MS);
        driver.poll();
        long polledNs = clock.get();
        assertThat(post()).isEqualTo(polledNs);
    }

    @Test
    void whoNeedsTheTimeIsToldIt() {
        queuePair.tick = EngineQueuePair.NO_TICK;
        for (int i = 0; i < 3; i++) {
            assertThat(post()).isEqualTo(clock.get());
        }
    }

    @Test
    void whileOthersHaveSomethingToSendItIsTold() {
        post();
        Timed other = new Timed();
        engine.touched(other);
        assertThat(post()).isEqualTo(clock.get());
        assertThat(post()).isLessThan(clock.get());
    }

    @Test
    void whoHasSomethingToSendItselfCanDoWithout() {
        post();
        engine.touched(queuePair);
        assertThat(post()).isLessThan(clock.get());
    }

    /** What arrives there is timed. */
    @Test
    void whoReceivesAsWellReadsTheClockForThat() {
        clock.addAndGet(MS);
        post();
        while (link.receivedNs == 0) {
            post();
        }
        assertThat(queuePair.heardNs).isLessThan(clock.get());
        assertThat(link.receivedNs).isEqualTo(clock.get());
    }

    /** Otherwise it would sleep past a timer that the post has set. */
    @Test
    void whoGoesToSleepSeesThatSomethingWasPostedAtTheTimeOfItsRound() {
        ProcessorContention contention = new ProcessorContention(clock::get);
        AdaptiveSpin spin = new AdaptiveSpin(clock::get, contention);
        post();
        driver.serve(null, spin);
        assertThat(post()).isLessThan(clock.get());
        clock.addAndGet(10_000 * MS);
        driver.sleep(Long.MAX_VALUE, spin, null);
        assertThat(link.sleptForNs).isLessThan(10 * MS);
    }
}
