// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.softnic.SharedChannelStage.Link;
import io.rdma4j.testkit.Wait;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.WorkCompletion;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Many threads that wait for completions in queues of one channel, give up, are interrupted and come back,
 * beside a thread that takes events: who waits for a completion gets it, and all learn of the end. The next
 * message is sent when the last was taken, so that none is found by a wake-up that was another's.
 */
@Tag("stress")
class SharedChannelRaceTest {
    private static final int LINKS = 8;
    private static final int WAITERS = 2;

    private final SharedChannelStage stage = new SharedChannelStage();
    private final List<Link> links = new ArrayList<>();
    private final Race race;
    private final AtomicInteger sendersLeft = new AtomicInteger(LINKS);
    private final AtomicLong events = new AtomicLong();

    SharedChannelRaceTest() throws Exception {
        for (int i = 0; i < LINKS; i++) {
            Link link = stage.connect();
            for (int k = 0; k < SharedChannelStage.DEPTH / 2; k++) {
                link.expect(k);
            }
            links.add(link);
        }
        // Its time begins now.
        race = new Race();
    }

    @AfterEach
    void everythingCanBeClosed() throws RdmaException {
        stage.close();
    }

    /** One connection: its far end sends, its near end waits. */
    private final class Line {
        private final Link link;
        private final int seed;
        private final AtomicLong taken = new AtomicLong();
        private final List<Thread> waiting = new ArrayList<>();

        Line(Link link, int seed) {
            this.link = link;
            this.seed = seed;
        }

        void addThreads() {
            race.once("sender " + seed, this::send);
            for (int i = 0; i < WAITERS; i++) {
                int number = i;
                race.once("waiter " + seed + "." + i, () -> {
                    if (number == 0 && seed % 2 == 0) {
                        waitInVirtualThread(number);
                    } else {
                        waitForAll(number);
                    }
                });
            }
        }

        private void send() throws Exception {
            Random random = new Random(seed);
            for (long number = 0; number == 0 || goesOn(); number++) {
                if (random.nextInt(16) == 0) {
                    interruptOne(random);
                }
                link.sendFromFarEnd(number);
                long next = number + 1;
                Wait.until("the message is taken", () -> taken.get() == next || race.hasFailed(),
                        Thread::yield);
                assertThat(link.far.awaitSendCompletion().isSuccess()).isTrue();
            }
            sendersLeft.decrementAndGet();
            link.far.disconnect();
        }

        private boolean goesOn() {
            return !race.isOver() || (events.get() == 0 && !race.hasFailed());
        }

        private void interruptOne(Random random) {
            synchronized (waiting) {
                if (!waiting.isEmpty()) {
                    waiting.get(random.nextInt(waiting.size())).interrupt();
                }
            }
        }

        private void waitInVirtualThread(int number) throws InterruptedException {
            Throwable[] failure = {null};
            Thread.ofVirtual().start(() -> {
                try {
                    waitForAll(number);
                } catch (Exception | Error e) {
                    failure[0] = e;
                }
            }).join();
            assertThat(failure[0]).isNull();
        }

        private void waitForAll(int number) throws Exception {
            Random random = new Random(number);
            synchronized (waiting) {
                waiting.add(Thread.currentThread());
            }
            while (!race.hasFailed()) {
                long before = taken.get();
                boolean hasTaken = false;
                try {
                    hasTaken = take(next(random));
                } catch (RdmaException e) {
                    if (e.errno() == Errno.ENOTCONN) {
                        return;
                    }
                    assertThat(e.errno()).as(e.getMessage()).isEqualTo(Errno.EINTR);
                    assertThat(Thread.interrupted()).isTrue();
                }
                if (number > 0 && !hasTaken) {
                    // It does something else: the message is for the first, whichever thread was woken for it.
                    Wait.until("another takes the message", () -> taken.get() != before
                            || hasEnded() || race.hasFailed(), Thread::yield);
                }
            }
        }

        private boolean hasEnded() {
            return link.near.queuePair().state() == QueuePairState.ERR;
        }

        private WorkCompletion next(Random random) throws RdmaException {
            WorkCompletion completion = random.nextInt(3) == 0
                    ? link.near.pollReceiveCompletion(Duration.ofNanos(random.nextInt(300_000)))
                    : link.near.awaitReceiveCompletion();
            return completion == null ? new WorkCompletion() : completion;
        }

        private boolean take(WorkCompletion completion) throws RdmaException {
            if (!completion.isSuccess() || completion.byteLength() == 0) {
                return false;
            }
            link.expect(taken.get());
            taken.incrementAndGet();
            return true;
        }
    }

    @Test
    void whoeverWaitsForACompletionGetsItOrLearnsThatNoneCanCome() throws Exception {
        List<Line> lines = new ArrayList<>();
        for (Link link : links) {
            Line line = new Line(link, lines.size());
            line.addThreads();
            lines.add(line);
        }
        race.once("events", this::takeEvents);
        race.run();
        for (Line line : lines) {
            assertThat(line.taken.get()).isPositive();
        }
        assertThat(events.get()).isPositive();
    }

    /** Asks for events of any queue and takes those that come, which are only those. */
    private void takeEvents() throws RdmaException {
        Random random = new Random(7);
        int asked = 0;
        while (sendersLeft.get() > 0 && !race.hasFailed()) {
            if (asked < LINKS) {
                links.get(random.nextInt(LINKS)).receives().requestNotification();
                asked++;
            }
            CompletionQueue announced = stage.channel.pollEvent(Duration.ofMillis(1));
            if (announced != null) {
                announced.acknowledgeEvents(1);
                events.incrementAndGet();
                asked--;
            }
        }
        CompletionQueue left = stage.channel.pollEvent(Duration.ZERO);
        while (left != null) {
            left.acknowledgeEvents(1);
            left = stage.channel.pollEvent(Duration.ZERO);
        }
    }
}
