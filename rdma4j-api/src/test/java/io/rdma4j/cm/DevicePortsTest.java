// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.spi.CmContext;
import io.rdma4j.spi.ListenRequest;
import io.rdma4j.verbs.DeviceKind;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.TransportType;
import org.junit.jupiter.api.Test;

import java.net.InetSocketAddress;

import static org.assertj.core.api.Assertions.assertThat;

/** Who gives out the ports of ids, and for how many devices. */
class DevicePortsTest extends IdsOfSeveralDevices {
    @Test
    void portIsOneThatTheDevicesAuthorityGives() throws Exception {
        SystemPorts ports = new SystemPorts();
        // Of the ports there are, the first half is taken by other processes.
        ports.takenBelow = 46_000;
        softIwarp.portAuthority = ports;
        FakeProvider.offer(softIwarp);
        for (int i = 0; i < 20; i++) {
            CmId id = bound(FIRST);
            assertThat(id.localPort()).isGreaterThanOrEqualTo(46_000)
                    .isEqualTo(ports.given.getLast());
            id.close();
            assertThat(ports.released.getLast()).isEqualTo(ports.given.getLast());
        }
        assertRefused(() -> bound(new InetSocketAddress(FakeDevice.FIRST, 7471)),
                Errno.EADDRINUSE, "another process");
        // Nothing is left of what was refused.
        ports.takenBelow = 0;
        assertThat(bound(new InetSocketAddress(FakeDevice.FIRST, 7471)).localPort())
                .isEqualTo(7471);
    }

    @Test
    void reservationGoesWithTheCallsThatUseThePort() throws Exception {
        SystemPorts ports = new SystemPorts();
        softIwarp.portAuthority = ports;
        FakeProvider.offer(softIwarp);
        CmId listener = bound(FIRST);
        listener.listen(1);
        assertThat(softIwarp.context().listenCalls.getLast().reservation()).isNotNull();
        CmId client = id();
        client.resolveAddress(new InetSocketAddress(FakeDevice.SECOND, 7471), TIMEOUT);
        client.resolveRoute(TIMEOUT);
        CmEventChannel events = CmEventChannel.create();
        client.migrate(events);
        client.connect(new ConnectionParameters().queuePairNumber(5));
        assertThat(softIwarp.context().connectCalls.getLast().port()).isNotNull();
        assertThat(ports.given).hasSize(2);
        client.close();
        events.close();
    }

    @Test
    void wildcardPortIsReservedOncePerAuthority() throws Exception {
        SystemPorts ports = new SystemPorts();
        softIwarp.portAuthority = ports;
        nativeDevice.portAuthority = ports;
        FakeProvider.offer(softIwarp, nativeDevice, softRoce);
        CmId id = bound(ANY);
        assertThat(ports.given).containsExactly(id.localPort());
        id.listen(1);
        assertThat(ports.given).hasSize(1);
        assertThat(softIwarp.context().listenCalls).hasSize(1);
        assertThat(nativeDevice.context().listenCalls).hasSize(1);
        assertThat(softRoce.context().listenCalls).hasSize(1);
    }

    @Test
    void wildcardListenerHearsDevicesThatComeLater() throws Exception {
        SystemPorts ports = new SystemPorts();
        ports.hasOneWildcardListener = true;
        FakeDevice later = new FakeDevice("zzz1", DeviceKind.NATIVE, TransportType.INFINIBAND);
        nativeDevice.portAuthority = ports;
        later.portAuthority = ports;
        FakeProvider.offer(nativeDevice);
        CmId listener = id();
        listener.listen(2);
        ListenRequest.Devices devices = nativeDevice.context().listenCalls.getLast().devices();
        assertThat(devices).isNotNull();
        assertThat(devices.named("zzz1")).isNull();
        assertThat(devices.named(nativeDevice.name())).isSameAs(nativeDevice.context());

        FakeProvider.offer(nativeDevice, later);
        CmContext opened = devices.named("zzz1");
        assertThat(opened).isNotNull().isSameAs(later.context()).isSameAs(devices.named("zzz1"));
        nativeDevice.context().listenHandlers.getLast().onRequest(opened,
                later.context().connection(), new InetSocketAddress(FakeDevice.FIRST, 1),
                new InetSocketAddress(FakeDevice.SECOND, 2), new ConnectionParameters());
        CmId requested = listener.pollRequest(TIMEOUT);
        assertThat(requested).isNotNull();
        assertThat(deviceOf(requested)).isEqualTo("zzz1");

        // What has gone is not asked again, and another of its name is opened.
        later.context().watchers.forEach(CmContext.Watcher::onDeviceGone);
        assertThat(devices.named("zzz1")).isNotNull().isNotSameAs(opened);
        requested.close();
        listener.close();
        assertThat(devices.named("zzz1")).isNull();
        assertThat(later.opened).hasSize(3).allMatch(context -> context.isClosed);
    }

    @Test
    void wildcardListenerIsOneObjectWhereTheDevicesSaySo() throws Exception {
        SystemPorts ports = new SystemPorts();
        ports.hasOneWildcardListener = true;
        FakeDevice second = new FakeDevice("zzz1", DeviceKind.NATIVE, TransportType.INFINIBAND);
        nativeDevice.portAuthority = ports;
        second.portAuthority = ports;
        FakeProvider.offer(nativeDevice, second, softRoce);
        CmId listener = id();
        listener.listen(2);
        assertThat(nativeDevice.context().listenCalls).hasSize(1);
        assertThat(second.context().listenCalls).isEmpty();
        assertThat(softRoce.context().listenCalls).hasSize(1);
        // The one listener says by which device a request came.
        nativeDevice.context().listenHandlers.getLast().onRequest(second.context(),
                second.context().connection(), new InetSocketAddress(FakeDevice.FIRST, 1),
                new InetSocketAddress(FakeDevice.SECOND, 2), new ConnectionParameters());
        CmId requested = listener.pollRequest(TIMEOUT);
        assertThat(requested).isNotNull();
        ids.addFirst(requested);
        assertThat(deviceOf(requested)).isEqualTo("zzz1");
    }

    @Test
    void wildcardPortThatTheBestDeviceCannotHaveIsRefused() throws Exception {
        SystemPorts ports = new SystemPorts();
        ports.takenBelow = 65_536;
        softRoce.portAuthority = ports;
        FakeProvider.offer(softIwarp, softRoce);
        assertRefused(() -> bound(new InetSocketAddress(7471)), Errno.EADDRINUSE,
                "another process");
        // Nothing is left of what was refused.
        ports.takenBelow = 0;
        assertThat(bound(new InetSocketAddress(7471)).localPort()).isEqualTo(7471);
    }

    @Test
    void wildcardPortThatAnotherAuthorityRefusesIsUsedWithTheBest() throws Exception {
        SystemPorts ports = new SystemPorts();
        ports.takenBelow = 65_536;
        softIwarp.portAuthority = ports;
        FakeProvider.offer(softIwarp, softRoce);
        CmId id = bound(new InetSocketAddress(7471));
        id.listen(1);
        assertThat(softRoce.context().listenCalls).hasSize(1);
        assertThat(softIwarp.context().listenCalls).isEmpty();
        FakeProvider.offer(softIwarp);
        assertRefused(() -> bound(new InetSocketAddress(7472)), Errno.EADDRINUSE,
                "another process");
    }
}
