// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.DeviceKind;
import io.rdma4j.verbs.TransportType;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** A device may open and close slowly, in the kernel or over a network: no monitor of ids is held meanwhile. */
class DeviceMonitorsTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(2);
    private static final InetSocketAddress LOCAL = new InetSocketAddress(FakeDevice.FIRST, 0);

    private final FakeDevice device = new FakeDevice("slow0", DeviceKind.SOFTWARE,
            TransportType.INFINIBAND);
    private final List<String> held = new ArrayList<>();
    private int opened;
    private int closed;

    @BeforeEach
    void offerDevice() {
        FakeProvider.offer(device);
        device.onOpen = () -> {
            opened++;
            noteMonitors();
        };
        device.onClose = () -> {
            closed++;
            noteMonitors();
        };
    }

    @AfterEach
    void noMonitorWasHeld() {
        FakeProvider.offer(FakeProvider.DEVICE);
        assertThat(held).isEmpty();
        assertThat(opened).isOne();
        assertThat(closed).isOne();
    }

    private void noteMonitors() {
        ThreadInfo[] own = ManagementFactory.getThreadMXBean()
                .getThreadInfo(new long[]{Thread.currentThread().threadId()}, true, false);
        Arrays.stream(own[0].getLockedMonitors())
                .filter(monitor -> monitor.getClassName().startsWith("io.rdma4j.")
                        || String.valueOf(monitor.getLockedStackFrame()).contains("io.rdma4j."))
                .forEach(monitor -> held.add(String.valueOf(monitor.getLockedStackFrame())));
    }

    @Test
    void boundId() throws Exception {
        try (CmId id = CmId.create(PortSpace.TCP)) {
            id.bindAddress(LOCAL);
        }
    }

    @Test
    void idThatHasResolvedAnAddress() throws Exception {
        try (CmId id = CmId.create(PortSpace.TCP)) {
            id.resolveAddress(LOCAL, new InetSocketAddress(FakeDevice.SECOND, 7471), TIMEOUT);
        }
    }

    @Test
    void listener() throws Exception {
        try (CmId id = CmId.create(PortSpace.TCP)) {
            id.bindAddress(LOCAL);
            id.listen(1);
        }
    }
}
