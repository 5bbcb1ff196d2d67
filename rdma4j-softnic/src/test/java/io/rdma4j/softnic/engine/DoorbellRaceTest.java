// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.engine;

import io.rdma4j.softnic.Race;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;

/** Threads that post, poll and change things at the same moment, with no thread in the background. */
@Tag("stress")
class DoorbellRaceTest {
    private final Engine engine = new Engine(new Numbers()::next, new QuietLink());
    private final EngineDriver driver = new EngineDriver(engine, System::nanoTime, null, () -> {});

    private static final class Numbers {
        private int last = 100;

        int next() {
            return ++last;
        }
    }

    @Test
    void noBellIsLost() throws Exception {
        List<PostedQueuePair> queuePairs = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            queuePairs.add(new PostedQueuePair(engine, driver));
        }
        Race race = new Race();
        boolean[] isEnded = {false};
        // When all have returned, no thread is left that could answer a doorbell.
        CyclicBarrier turns = new CyclicBarrier(4, () -> {
            queuePairs.forEach(PostedQueuePair::assertHeard);
            isEnded[0] = race.isOver();
        });
        for (int poster = 0; poster < 2; poster++) {
            int number = poster;
            race.once("poster " + poster, () -> {
                for (int i = number; !isEnded[0]; i++) {
                    queuePairs.get(i % 3).post(i % 5 == 0
                            ? EngineQueuePair.RECEIVE_DOORBELL
                            : EngineQueuePair.SEND_DOORBELL);
                    turns.await();
                }
            });
        }
        race.once("poller", () -> {
            while (!isEnded[0]) {
                driver.poll();
                turns.await();
            }
        });
        race.once("changer", () -> {
            while (!isEnded[0]) {
                driver.run(nowNs -> {});
                turns.await();
            }
        });
        race.run();
    }
}
