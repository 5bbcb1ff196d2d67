package io.rdma4j.cm;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/** How often a follower of devices acts. */
class DeviceFollowerTest {
    private final CountDownLatch oneTooMany = new CountDownLatch(21);
    private final DeviceFollower follower = new DeviceFollower(this::onRun);

    private void onRun() {
        oneTooMany.countDown();
        follower.onChange();
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
        FakeProvider.reportChanges(true);
        follower.start();
        long startNs = System.nanoTime();
        FakeProvider.change(FakeProvider.DEVICE);
        assertThat(oneTooMany.await(60, TimeUnit.SECONDS)).isTrue();
        assertThat(System.nanoTime() - startNs).isGreaterThanOrEqualTo(1_000_000_000);
    }
}
