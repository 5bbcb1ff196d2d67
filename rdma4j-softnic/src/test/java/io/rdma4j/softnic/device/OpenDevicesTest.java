// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.device;

import io.rdma4j.protocol.ibcm.CmSettings;
import io.rdma4j.softnic.network.SimulatedNetwork;
import io.rdma4j.softnic.roce.RoceFamily;
import io.rdma4j.softnic.roce.RoceTransport;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.net.InetAddress;
import java.net.NetworkInterface;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** One device under each name, and none waits for another to be opened. */
@Timeout(20)
class OpenDevicesTest {
    private final SimulatedNetwork network = new SimulatedNetwork(1);
    private final OpenDevices open = new OpenDevices();

    private SoftNic nic() {
        try {
            SoftDevice device = new SoftDevice(RoceFamily.ROCE,
                    NetworkInterface.getByInetAddress(InetAddress.getLoopbackAddress()), true,
                    () -> new PortView(true, true, List.of(InetAddress.getLoopbackAddress())));
            return new SoftNic(device, RoceTransport.on(network.newNode(), CmSettings.defaults(1)),
                    new Random(1)::nextInt, network::nowNs, null);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private static void nothing(SoftNic joined) {}

    @Test
    void aDeviceThatIsLongInOpeningKeepsNobodyFromAnother() throws Exception {
        CountDownLatch isOpening = new CountDownLatch(1);
        CountDownLatch mayOpen = new CountDownLatch(1);
        SoftNic slow = nic();
        try (ExecutorService other = Executors.newSingleThreadExecutor()) {
            Future<SoftNic> opened = other.submit(() -> open.open("roce_slow", () -> {
                isOpening.countDown();
                await(mayOpen);
                return slow;
            }, OpenDevicesTest::nothing));
            isOpening.await();

            SoftNic quick = nic();
            assertThat(open.open("roce_quick", () -> quick, OpenDevicesTest::nothing))
                    .isSameAs(quick);

            mayOpen.countDown();
            assertThat(opened.get()).isSameAs(slow);
        }
    }

    @Test
    void whoOpensWhatIsBeingOpenedJoinsIt() throws Exception {
        CountDownLatch isOpening = new CountDownLatch(1);
        CountDownLatch mayOpen = new CountDownLatch(1);
        SoftNic one = nic();
        try (ExecutorService others = Executors.newFixedThreadPool(2)) {
            Future<SoftNic> first = others.submit(() -> open.open("roce_one", () -> {
                isOpening.countDown();
                await(mayOpen);
                return one;
            }, OpenDevicesTest::nothing));
            isOpening.await();
            Future<SoftNic> second = others.submit(() -> open.open("roce_one", this::nic,
                    OpenDevicesTest::nothing));
            mayOpen.countDown();

            assertThat(first.get()).isSameAs(one);
            assertThat(second.get()).isSameAs(one);
            assertThat(one.contexts()).isEqualTo(2);
        }
    }

    @Test
    void whatCouldNotBeOpenedIsOpenedByTheNext() throws Exception {
        assertThatThrownBy(() -> open.open("roce_one", () -> {
            throw new RdmaException(Errno.ENODEV, "open device", "not yet");
        }, OpenDevicesTest::nothing)).hasMessageContaining("not yet");

        SoftNic nic = nic();
        assertThat(open.open("roce_one", () -> nic, OpenDevicesTest::nothing)).isSameAs(nic);
    }

    @Test
    void whoIsRefusedIsNoContext() throws Exception {
        SoftNic nic = open.open("roce_one", this::nic, OpenDevicesTest::nothing);

        assertThatThrownBy(() -> open.open("roce_one", this::nic, joined -> {
            throw new RdmaException(Errno.EBUSY, "open device", "otherwise");
        })).hasMessageContaining("otherwise");

        assertThat(nic.contexts()).isEqualTo(1);
    }

    /** As after Ctrl-C, while a thread waits for another process in order to open a device. */
    @Test
    void theEndOfTheProcessDoesNotWaitLongForADeviceThatIsBeingOpened() throws Exception {
        CountDownLatch isOpening = new CountDownLatch(1);
        CountDownLatch mayOpen = new CountDownLatch(1);
        SoftNic slow = nic();
        SoftNic quick = nic();
        open.open("roce_quick", () -> quick, OpenDevicesTest::nothing);
        try (ExecutorService other = Executors.newSingleThreadExecutor()) {
            Future<SoftNic> opened = other.submit(() -> open.open("roce_slow", () -> {
                isOpening.countDown();
                await(mayOpen);
                return slow;
            }, OpenDevicesTest::nothing));
            isOpening.await();
            try {
                Thread ending = Thread.ofPlatform().daemon().start(open::closeAll);

                assertThat(ending.join(Duration.ofSeconds(10))).isTrue();
                SoftNic next = nic();
                assertThat(open.open("roce_quick", () -> next, OpenDevicesTest::nothing))
                        .isSameAs(next);
            } finally {
                mayOpen.countDown();
            }
            assertThat(opened.get()).isSameAs(slow);
        }
    }

    @Test
    void aDeviceThatIsOpenedInTimeIsClosedWithTheProcess() throws Exception {
        CountDownLatch isOpening = new CountDownLatch(1);
        CountDownLatch mayOpen = new CountDownLatch(1);
        SoftNic slow = nic();
        try (ExecutorService other = Executors.newSingleThreadExecutor()) {
            Future<SoftNic> opened = other.submit(() -> open.open("roce_slow", () -> {
                isOpening.countDown();
                await(mayOpen);
                return slow;
            }, OpenDevicesTest::nothing));
            isOpening.await();
            Thread ending = Thread.ofPlatform().daemon().start(open::closeAll);
            mayOpen.countDown();
            opened.get();
            ending.join();

            SoftNic next = nic();
            assertThat(open.open("roce_slow", () -> next, OpenDevicesTest::nothing)).isSameAs(next);
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
