// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.engine;

import io.rdma4j.event.EventQueue;
import io.rdma4j.event.WaitFailures;
import io.rdma4j.softnic.Race;
import io.rdma4j.softnic.network.DatagramNetwork;
import io.rdma4j.softnic.network.PortableNetwork;
import io.rdma4j.softnic.network.linux.datagram.LinuxNetwork;
import io.rdma4j.testkit.Wait;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.net.InetAddress;
import java.net.NetworkInterface;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Threads that wait in and outside the progress, give up, are interrupted and come back, while others publish and
 * poll: who waits for an event gets it. The next is published when the last was taken, so that none is found
 * by a wake-up that was another's.
 */
@Tag("stress")
class EngineWaitersRaceTest {
    private static final int QUEUES = 3;
    private static final int WAITERS = 2;

    /** One queue of events, its publisher and its waiters. */
    private static final class Channel {
        private final Race race;
        private final EventQueue<Long, RdmaException> events;
        private final AtomicLong taken = new AtomicLong();
        private final List<Thread> waiting = new ArrayList<>();
        private final EngineDriver driver;
        private final int seed;

        Channel(Race race, EngineDriver driver, int seed) {
            this.race = race;
            this.driver = driver;
            this.seed = seed;
            // The last waits for rare events.
            events = new EventQueue<>(
                    new WaitFailures<>("await event", RdmaException::ofSystem), seed < QUEUES - 1);
            events.addDriver(driver.progress());
        }

        void addPublisher(AtomicInteger publishersLeft) {
            race.once("publisher " + seed, () -> {
                Random random = new Random(seed);
                for (long number = 0; !race.isOver(); number++) {
                    publish(number, random);
                    long next = number + 1;
                    Wait.until("the event is taken",
                            () -> taken.get() == next || race.hasFailed(), Thread::yield);
                }
                publishersLeft.decrementAndGet();
                events.close();
            });
        }

        private void publish(long number, Random random) {
            switch (random.nextInt(4)) {
                case 0 -> driver.run(nowNs -> events.publish(number));
                case 1 -> interruptOne(number, random);
                default -> events.publish(number);
            }
        }

        private void interruptOne(long number, Random random) {
            Thread interrupted;
            synchronized (waiting) {
                interrupted = waiting.isEmpty()
                        ? null
                        : waiting.get(random.nextInt(waiting.size()));
            }
            if (interrupted != null) {
                interrupted.interrupt();
            }
            events.publish(number);
        }

        void addWaiter(int number, boolean isVirtual) {
            race.once("waiter " + seed + "." + number, () -> {
                if (isVirtual) {
                    Throwable[] failure = {null};
                    Thread waiter = Thread.ofVirtual().start(() -> {
                        try {
                            waitOn(new Random(number));
                        } catch (RdmaException | RuntimeException | Error e) {
                            failure[0] = e;
                        }
                    });
                    waiter.join();
                    assertThat(failure[0]).isNull();
                } else {
                    waitOn(new Random(number));
                }
            });
        }

        private void waitOn(Random random) throws RdmaException {
            synchronized (waiting) {
                waiting.add(Thread.currentThread());
            }
            while (!race.hasFailed()) {
                try {
                    Long event = random.nextInt(3) == 0
                            ? events.poll(Duration.ofNanos(random.nextInt(200_000)))
                            : events.take();
                    if (event != null) {
                        assertThat(event).isEqualTo(taken.get());
                        taken.incrementAndGet();
                    }
                    if (random.nextInt(8) == 0) {
                        driver.poll();
                    }
                } catch (RdmaException e) {
                    if (e.errno() == Errno.EBADF) {
                        return;
                    }
                    assertThat(e.errno()).isEqualTo(Errno.EINTR);
                    assertThat(Thread.interrupted()).isTrue();
                }
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"false, false", "true, false", "false, true"})
    void whoeverWaitsForAnEventGetsIt(boolean isPortable, boolean isVirtual) throws Exception {
        NetworkInterface loopback = NetworkInterface
                .getByInetAddress(InetAddress.getLoopbackAddress());
        DatagramNetwork network = isPortable || LinuxNetwork.obstacle() != null
                ? new PortableNetwork(loopback)
                : new LinuxNetwork(loopback, LinuxNetwork.SharedMemoryUse.NEVER);
        EngineDriver driver = new EngineDriver(
                new Engine(() -> 1, new SleepingLink(network)),
                System::nanoTime, "background", () -> {});
        driver.start();
        Race race = new Race();
        List<Channel> channels = new ArrayList<>();
        AtomicInteger publishersLeft = new AtomicInteger(QUEUES);
        for (int queue = 0; queue < QUEUES; queue++) {
            Channel channel = new Channel(race, driver, queue);
            channels.add(channel);
            channel.addPublisher(publishersLeft);
            for (int waiter = 0; waiter < WAITERS; waiter++) {
                channel.addWaiter(waiter, isVirtual && waiter == 0);
            }
        }
        race.once("changer", () -> {
            Random random = new Random(3);
            while (publishersLeft.get() > 0 && !race.hasFailed()) {
                if (random.nextInt(64) == 0) {
                    driver.poll();
                } else {
                    driver.run(nowNs -> {});
                }
                Thread.onSpinWait();
            }
        });
        race.run();
        driver.close();
        network.close();
        for (Channel channel : channels) {
            assertThat(channel.taken.get()).isPositive();
        }
    }
}
