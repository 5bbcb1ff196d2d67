// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.testkit;

import io.rdma4j.verbs.AsyncEvent;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * One thread closes a queue while another takes an event of it: either that thread gets no event, or the queue stays open until the
 * event is acknowledged. For one thread, which closes.
 */
public final class ClosingRace implements AutoCloseable {
    private static final int PAUSES = 50;
    private static final int TURNS_OF_PAUSE = 20;

    private final ExecutorService taker = Executors.newSingleThreadExecutor();

    /** Begins none yet. */
    public ClosingRace() {}

    /** Takes an event. */
    public interface Taking {
        /** {@return what acknowledges the event, null if there is none} */
        @Nullable
        Runnable take() throws RdmaException;

        /** {@return what takes an asynchronous event of a device} */
        static Taking asyncEventOf(DeviceContext context) {
            return () -> {
                AsyncEvent event = context.asyncEventChannel().pollEvent(Duration.ZERO);
                return event == null ? null : event::acknowledge;
            };
        }
    }

    /** Closes a queue. */
    public interface Closing {
        /** @throws RdmaException EBUSY while an event of it is not acknowledged */
        void close() throws RdmaException;
    }

    /**
     * Lets both happen at once, and closes the queue in the end.
     *
     * @param round a number of its own: each begins with other pauses
     * @throws AssertionError if the queue was closed and its event taken, or neither
     */
    public void run(Taking taking, Closing closing, int round) throws Exception {
        CyclicBarrier begin = new CyclicBarrier(2);
        CountDownLatch done = new CountDownLatch(1);
        Future<Boolean> taken = taker.submit(() -> {
            begin.await();
            pause(round % PAUSES);
            Runnable acknowledgement = taking.take();
            assertThat(done.await(20, TimeUnit.SECONDS)).isTrue();
            if (acknowledgement != null) {
                acknowledgement.run();
            }
            return acknowledgement != null;
        });
        boolean isClosed = false;
        begin.await();
        pause(round / PAUSES % PAUSES);
        try {
            closing.close();
            isClosed = true;
        } catch (RdmaException e) {
            assertThat(e.errno()).isEqualTo(Errno.EBUSY);
            assertThat(e).hasMessageContaining("1 event(s) are not acknowledged");
        } finally {
            done.countDown();
        }
        assertThat(taken.get(20, TimeUnit.SECONDS)).as("taken in round %d", round)
                .isNotEqualTo(isClosed);
        closing.close();
    }

    private static void pause(int length) {
        for (int i = 0; i < TURNS_OF_PAUSE * length; i++) {
            Thread.onSpinWait();
        }
    }

    /** Ends the thread that takes. */
    @Override
    public void close() {
        taker.shutdown();
    }
}
