// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

import static org.assertj.core.api.Assertions.assertThat;

/** How often a follower of devices acts. */
class DeviceFollowerTest {
    private static final long SECOND_NS = 1_000_000_000;

    private final CountDownLatch oneTooMany = new CountDownLatch(21);
    private final CountDownLatch triedAgain = new CountDownLatch(3);
    private final CountDownLatch tried = new CountDownLatch(1);
    @SuppressWarnings("NullAway.Init")
    private DeviceFollower follower;

    private DeviceFollower started(BooleanSupplier task) {
        return started(new DeviceFollower(task));
    }

    private DeviceFollower started(DeviceFollower started) {
        FakeProvider.reportChanges(true);
        follower = started;
        started.start();
        return started;
    }

    private boolean onRun() {
        oneTooMany.countDown();
        follower.onChange();
        return false;
    }

    @AfterEach
    void stop() {
        follower.stop();
        FakeProvider.reportChanges(false);
        assertThat(FakeProvider.watching()).isZero();
    }

    /** So does a device that fails whenever it is opened: each try is a change. */
    @Test
    void changesWithoutEndAreFollowedTwentyTimesASecondAndNotMoreOften() throws Exception {
        started(this::onRun);
        long startNs = System.nanoTime();
        FakeProvider.change(FakeProvider.DEVICE);
        assertThat(oneTooMany.await(60, TimeUnit.SECONDS)).isTrue();
        assertThat(System.nanoTime() - startNs).isGreaterThanOrEqualTo(SECOND_NS);
    }

    private boolean leavesSomething() {
        tried.countDown();
        triedAgain.countDown();
        return triedAgain.getCount() > 0;
    }

    @Test
    void whatIsLeftUndoneIsTriedAgainEachSecondUntilItIsDone() throws Exception {
        long startNs = System.nanoTime();
        started(this::leavesSomething).tryLater();
        assertThat(triedAgain.await(60, TimeUnit.SECONDS)).isTrue();
        assertThat(System.nanoTime() - startNs).isGreaterThanOrEqualTo(3 * SECOND_NS);
    }

    @Test
    void changeIsFollowedAtOnceAlthoughATryIsAwaited() throws Exception {
        started(new DeviceFollower(this::leavesSomething, 300 * SECOND_NS)).tryLater();
        FakeProvider.change(FakeProvider.DEVICE);
        assertThat(tried.await(60, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void followerThatIsStoppedDoesNotTryAgain() throws Exception {
        DeviceFollower stopped = started(this::leavesSomething);
        stopped.tryLater();
        stopped.stop();
        stopped.tryLater();
        for (Thread each : Thread.getAllStackTraces().keySet()) {
            if (each.getName().equals("rdma4j-listen")) {
                assertThat(each.join(Duration.ofSeconds(60))).isTrue();
            }
        }
        assertThat(triedAgain.getCount()).isEqualTo(3);
    }
}
