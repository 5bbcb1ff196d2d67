// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.event;

import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Looks into a set that wait for nothing. */
@Timeout(30)
class EventSetLookTest {
    private final EventSet<RdmaException> set = new EventSet<>(Events.FAILURES) {
    };
    private final EventSource<String, RdmaException> source = new EventSource<>(
            Events.FAILURES, true, set) {
        @Override
        public void close() {}
    };

    @Test
    void lookThatFindsNothingNeedsNoLock() throws Exception {
        CountDownLatch isHeld = new CountDownLatch(1);
        CountDownLatch isSeen = new CountDownLatch(1);
        source.queue.addDriver(new Holder(isHeld, isSeen));
        Thread holder = Thread.ofPlatform().start(set::waitElsewhere);
        isHeld.await();
        assertThat(set.pollSource(Duration.ZERO)).isNull();
        assertThat(holder.isAlive()).isTrue();
        isSeen.countDown();
        holder.join();
    }

    @Test
    void lookSeesWhatAnotherThreadHasPublished() throws Exception {
        Thread.ofPlatform().start(() -> source.queue.publish("event")).join();
        assertThat(set.pollSource(Duration.ZERO)).isSameAs(source);
        assertThat(source.pollEvent(Duration.ZERO)).isEqualTo("event");
        assertThat(set.pollSource(Duration.ZERO)).isNull();
    }

    @Test
    void lookIntoAClosedSetFails() {
        set.close();
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> set.pollSource(Duration.ZERO));
    }

    /** A driver that keeps the lock of the set while a thread tells it that it waits elsewhere. */
    private static final class Holder extends IdleDriver {
        private final CountDownLatch isHeld;
        private final CountDownLatch isSeen;

        Holder(CountDownLatch isHeld, CountDownLatch isSeen) {
            this.isHeld = isHeld;
            this.isSeen = isSeen;
        }

        @Override
        public void waitElsewhere() {
            isHeld.countDown();
            try {
                isSeen.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
