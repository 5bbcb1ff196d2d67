// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.protocol.count.Counter;
import io.rdma4j.protocol.ibcm.CmSettings;
import io.rdma4j.softnic.device.PortView;
import io.rdma4j.softnic.device.SoftDevice;
import io.rdma4j.softnic.device.SoftNic;
import io.rdma4j.softnic.network.SimulatedNetwork;
import io.rdma4j.softnic.roce.RoceFamily;
import io.rdma4j.softnic.roce.RoceTransport;
import io.rdma4j.softnic.verbs.SoftDeviceContext;
import io.rdma4j.spi.CmContext;
import io.rdma4j.verbs.AsyncEvent;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.Test;

import java.net.InetAddress;
import java.net.NetworkInterface;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import static io.rdma4j.softnic.Counted.counted;
import static org.assertj.core.api.Assertions.assertThat;

/** What a device makes of changes of its network interface. */
class PortEventTest {
    private static final InetAddress FIRST = InetAddress.ofLiteral("10.0.0.1");
    private static final InetAddress SECOND = InetAddress.ofLiteral("10.0.0.2");
    /** What the interface has when the device is opened. */
    private static final InetAddress THIRD = InetAddress.ofLiteral("10.0.0.3");

    private final SimulatedNetwork network = new SimulatedNetwork(1);
    private final SoftNic nic;
    private final SoftDeviceContext context;
    private final List<String> news = new ArrayList<>();

    PortEventTest() throws Exception {
        SoftDevice device = new SoftDevice(RoceFamily.ROCE,
                NetworkInterface.getByInetAddress(InetAddress.getLoopbackAddress()), false,
                () -> up(THIRD));
        nic = new SoftNic(device, RoceTransport.on(network.newNode(), CmSettings.defaults(1)),
                new Random(1)::nextInt,
                network::nowNs, null);
        nic.start(null);
        context = SoftNic.contextOf(nic);
        context.watch(new CmContext.Watcher() {
            @Override
            public void onAddressChanged(InetAddress address) {
                news.add("lost " + address.getHostAddress());
            }

            @Override
            public void onDeviceGone() {
                news.add("gone");
            }
        });
        nic.onPort(up(FIRST));
        takeEvents();
        news.clear();
    }

    private static PortView up(InetAddress... addresses) {
        return new PortView(true, true, List.of(addresses));
    }

    private List<AsyncEventType> takeEvents() throws RdmaException {
        List<AsyncEventType> types = new ArrayList<>();
        AsyncEvent event = context.asyncEventChannel().pollEvent(Duration.ZERO);
        while (event != null) {
            types.add(event.type());
            assertThat(event.port()).isEqualTo(1);
            event.acknowledge();
            event = context.asyncEventChannel().pollEvent(Duration.ZERO);
        }
        return types;
    }

    @Test
    void nothingNewIsNoNews() throws Exception {
        nic.onPort(up(FIRST));
        assertThat(takeEvents()).isEmpty();
        assertThat(news).isEmpty();
    }

    @Test
    void portThatGoesDownAndComesUpSaysSo() throws Exception {
        nic.onPort(new PortView(true, false, List.of(FIRST)));
        nic.onPort(new PortView(true, false, List.of(FIRST)));
        assertThat(takeEvents()).containsExactly(AsyncEventType.PORT_ERROR);
        assertThat(counted(context, Counter.LINK_DOWNED)).isEqualTo(1);
        nic.onPort(up(FIRST));
        assertThat(takeEvents()).containsExactly(AsyncEventType.PORT_ACTIVE);
    }

    @Test
    void newAddressGetsAnEntry() throws Exception {
        nic.onPort(up(FIRST, SECOND));
        assertThat(takeEvents()).containsExactly(AsyncEventType.GID_CHANGE);
        assertThat(context.queryGidTable()).extracting(entry -> entry.gid())
                .contains(Gid.of(FIRST), Gid.of(SECOND));
        assertThat(news).isEmpty();
    }

    @Test
    void lostAddressLeavesItsEntryEmptyAndTheOthersInTheirPlace() throws Exception {
        nic.onPort(up(FIRST, SECOND));
        int place = nic.gids().indexOf(Gid.of(SECOND));
        takeEvents();
        nic.onPort(up(SECOND));
        assertThat(takeEvents()).containsExactly(AsyncEventType.GID_CHANGE);
        assertThat(news).containsExactly("lost 10.0.0.1");
        assertThat(context.queryGid(1, place)).isEqualTo(Gid.of(SECOND));
        assertThat(nic.gids()).doesNotContain(Gid.of(FIRST));
        nic.onPort(up(SECOND, FIRST));
        assertThat(nic.gids()).contains(Gid.of(FIRST));
    }

    @Test
    void interfaceThatIsGoneIsTheEndOfTheDevice() throws Exception {
        nic.onPort(new PortView(false, false, List.of()));
        nic.onPort(new PortView(false, false, List.of()));
        assertThat(takeEvents()).containsExactly(AsyncEventType.PORT_ERROR,
                AsyncEventType.DEVICE_FATAL);
        assertThat(news).containsExactly("gone");
        assertThat(context.queryGidTable()).isEmpty();
        // If the device is opened anew, its address is free.
        network.newNode().open(FIRST);
    }
}
