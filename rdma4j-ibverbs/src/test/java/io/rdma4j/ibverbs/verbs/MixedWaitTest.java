// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.verbs;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmEventChannel;
import io.rdma4j.cm.CmEventType;
import io.rdma4j.cm.CmId;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.AsyncEvent;
import io.rdma4j.verbs.AsyncEventChannel;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaDevices;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.WaitChannel;
import io.rdma4j.verbs.WaitSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;

/** One thread that waits for all events of a software device and of a native one over a library made of Java. */
@EnabledOnOs(OS.LINUX)
class MixedWaitTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    private static final String SOFTWARE = "roce_lo";

    private final FakeDriver driver = new FakeDriver();
    private final WaitSet set = WaitSet.create();
    private final List<AutoCloseable> opened = new ArrayList<>();
    private NativeContext device;
    private DeviceContext software;
    private CompletionChannel completions;
    private CmEventChannel connections;

    @BeforeEach
    void openDevices() throws RdmaException {
        opened.add(driver);
        opened.add(set);
        device = opened(driver.open());
        software = opened(RdmaDevices.find(SOFTWARE).open());
        completions = opened(CompletionChannel.create(set));
        connections = opened(CmEventChannel.create(set));
        device.asyncEventChannel().join(set);
        software.asyncEventChannel().join(set);
    }

    @AfterEach
    void closeInTurn() throws Exception {
        for (AutoCloseable each : opened.reversed()) {
            each.close();
        }
    }

    private <T extends AutoCloseable> T opened(T each) {
        opened.add(each);
        return each;
    }

    /** Waits until it is the turn of a channel. */
    private void awaitTurnOf(WaitChannel<?> expected) throws RdmaException {
        assertThat(set.poll(TIMEOUT)).isSameAs(expected);
    }

    private static void take(AsyncEventChannel channel, AsyncEventType expected)
            throws RdmaException {
        try (AsyncEvent event = channel.awaitEvent()) {
            assertThat(event.type()).isEqualTo(expected);
        }
    }

    @Test
    void oneThreadWaitsForAllEventsOfBoth() throws Exception {
        CompletionQueue ofNative = opened(device.createCompletionQueue(4, completions));
        CompletionQueue ofSoftware = opened(software.createCompletionQueue(1, completions));
        CmId id = opened(CmId.create(connections, PortSpace.TCP));

        driver.report(AsyncEventType.PORT_ACTIVE, 1);
        awaitTurnOf(device.asyncEventChannel());
        take(device.asyncEventChannel(), AsyncEventType.PORT_ACTIVE);

        ofNative.requestNotification();
        driver.announce();
        awaitTurnOf(completions);
        assertThat(completions.awaitEvent()).isSameAs(ofNative);
        ofNative.acknowledgeEvents(1);

        id.device(SOFTWARE);
        id.resolveAddress(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 7471),
                TIMEOUT);
        awaitTurnOf(connections);
        try (CmEvent event = connections.awaitEvent()) {
            assertThat(event.type()).isEqualTo(CmEventType.ADDR_RESOLVED);
        }

        ofSoftware.requestNotification();
        overrun(ofSoftware);
        List<WaitChannel<?>> ready = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            WaitChannel<?> next = set.await();
            ready.add(next);
            if (next == completions) {
                assertThat(completions.awaitEvent()).isSameAs(ofSoftware);
                ofSoftware.acknowledgeEvents(1);
            } else {
                take(software.asyncEventChannel(), AsyncEventType.CQ_ERROR);
            }
        }
        assertThat(ready).containsExactlyInAnyOrder(completions, software.asyncEventChannel());
        assertThat(set.poll(Duration.ZERO)).isNull();
    }

    /** Has more receives complete at once than the queue has room for. */
    private void overrun(CompletionQueue queue) throws RdmaException {
        try (ProtectionDomain domain = software.allocateProtectionDomain();
                QueuePair queuePair = domain.createQueuePair(new QueuePairInitAttributes()
                        .completionQueue(queue)
                        .capabilities(new QueuePairCapabilities(1, 8, 1, 1, 0)))) {
            queuePair.modify(new QueuePairAttributes().state(QueuePairState.INIT).pkeyIndex(0)
                    .port(1).accessFlags(Set.of()));
            for (int i = 0; i < 8; i++) {
                queuePair.postReceive(new ReceiveWorkRequest().id(i));
            }
            queuePair.modify(new QueuePairAttributes().state(QueuePairState.ERR));
        }
    }
}
