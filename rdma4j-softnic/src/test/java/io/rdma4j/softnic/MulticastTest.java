// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmEventType;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.MulticastMembership;
import io.rdma4j.connection.DatagramParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.WorkCompletion;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;

import static io.rdma4j.verbs.AddressHandle.GLOBAL_ROUTE_LENGTH;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

/** Multicast groups through the connection manager, over real sockets on loopback. */
class MulticastTest extends CmStage {
    /** A group that no other process joins. */
    private static final String ADDRESS = OWN.replaceFirst("127", "239");
    private static final InetAddress GROUP = InetAddress.ofLiteral(ADDRESS);

    private CmId member() throws Exception {
        CmId id = id(PortSpace.UDP);
        id.bindAddress(anyPort(OWN));
        id.createQueuePair(datagrams());
        return id;
    }

    private DatagramParameters joined(Object context) throws Exception {
        try (CmEvent event = expect(CmEventType.MULTICAST_JOIN)) {
            assertThat(event.status()).isZero();
            assertThat(event.joinContext()).isSameAs(context);
            DatagramParameters group = event.datagram();
            assertThat(group).isNotNull();
            return group;
        }
    }

    @Test
    void membersReceiveWhatASenderSends() throws Exception {
        CmId receiver = member();
        CmId sender = member();
        receiver.joinMulticast(GROUP, "as receiver");
        DatagramParameters group = joined("as receiver");
        sender.joinMulticast(GROUP, MulticastMembership.SEND_ONLY_FULL_MEMBER, sender);
        assertThat(joined(sender).path()).isEqualTo(group.path());
        assertThat(group.path().destination()).isEqualTo(Gid.of(GROUP));
        assertThat(group.path().destination().toString())
                .startsWith("0000:0000:0000:0000:0000:ffff:ef");
        assertThat(group.queuePairNumber()).isEqualTo(0xffffff);
        assertThat(group.qkey()).isEqualTo(0x0123_4567);

        MemorySegment memory = Arena.ofAuto().allocate(256);
        try (MemoryRegion region = sender.registerMessages(memory);
                AddressHandle handle = sender.protectionDomain()
                        .createAddressHandle(group.path())) {
            memory.setString(0, "to all");
            receiver.postReceive(1, region, 64, 64);
            sender.postReceive(2, region, 128, 64);
            sender.postDatagram(3, region, 0, 7, handle, group);
            WorkCompletion received = receiver.awaitReceiveCompletion();
            assertThat(received.sourceQueuePairNumber()).isEqualTo(sender.queuePair().number());
            assertThat(memory.getString(64 + GLOBAL_ROUTE_LENGTH)).isEqualTo("to all");
            // Who only sends receives nothing, not even of its own.
            assertThat(sender.queuePair().receiveCompletionQueue().poll(new WorkCompletion()))
                    .isFalse();
        }
        receiver.leaveMulticast(GROUP);
        assertRefused(() -> receiver.leaveMulticast(GROUP), Errno.EADDRNOTAVAIL, ADDRESS);
        sender.leaveMulticast(GROUP);
    }

    @Test
    void addressOfAGroupCanBeResolved() throws Exception {
        CmId id = id(PortSpace.UDP);
        id.resolveAddress(anyPort(OWN), new InetSocketAddress(GROUP, 7174), TIMEOUT);
        expect(CmEventType.ADDR_RESOLVED).close();
        id.createQueuePair(datagrams());
        id.joinMulticast(GROUP, null);
        expect(CmEventType.MULTICAST_JOIN).close();
    }

    @Test
    void groupsAreLeftWithTheQueuePairAndTheId() throws Exception {
        CmId id = member();
        id.joinMulticast(GROUP, null);
        expect(CmEventType.MULTICAST_JOIN).close();
        id.closeQueuePair();
        id.createQueuePair(datagrams());
        id.leaveMulticast(GROUP);
        id.joinMulticast(GROUP, null);
        expect(CmEventType.MULTICAST_JOIN).close();
    }

    @Test
    void typeOfServiceIsThatOfTheGroupsPath() throws Exception {
        CmId id = member();
        id.typeOfService(0x28);
        id.joinMulticast(GROUP, id);
        assertThat(joined(id).path().trafficClass()).isEqualTo(0x28);
    }

    @Test
    void synchronousIdsJoinInOneCall() throws Exception {
        CmId id = closedAtEnd(CmId.create(PortSpace.UDP));
        id.bindAddress(anyPort(OWN));
        id.createQueuePair(datagrams());
        id.joinMulticast(GROUP, null);
        CmEvent event = id.event();
        assertThat(event).isNotNull();
        assertThat(event.type()).isEqualTo(CmEventType.MULTICAST_JOIN);
    }

    @Test
    void whatIsNoGroupOrForNoDatagramsIsRefused() throws Exception {
        CmId id = member();
        assertRefused(() -> id.joinMulticast(InetAddress.ofLiteral("127.0.0.1"), null),
                Errno.EINVAL, "127.0.0.1", "no multicast address");
        id.joinMulticast(GROUP, null);
        expect(CmEventType.MULTICAST_JOIN).close();
        assertRefused(() -> id.joinMulticast(GROUP, null), Errno.EADDRINUSE, ADDRESS);
        CmId connected = id(PortSpace.TCP);
        connected.bindAddress(anyPort(OWN));
        assertRefused(() -> connected.joinMulticast(GROUP, null), Errno.EINVAL, "TCP", "UDP");
    }

    @Test
    void groupAndIdAreOfOneIpVersion() throws Exception {
        CmId id = member();
        assertRefused(() -> id.joinMulticast(InetAddress.ofLiteral("ff1e::7174"), null),
                Errno.EINVAL, "ff1e", OWN, "IP version");
    }

    @Test
    void groupOfIpv6IsRefusedWhereLinuxDeliversNone() throws Exception {
        requireIpv6();
        assumeThat(System.getProperty("os.name")).isEqualTo("Linux");
        InetAddress group = InetAddress
                .ofLiteral("ff1e::" + ADDRESS.substring(4).replace('.', ':'));
        CmId id = id(PortSpace.UDP);
        id.bindAddress(anyPort("::1"));
        id.createQueuePair(datagrams());
        assertRefused(() -> id.queuePair().attachMulticast(Gid.of(group)), Errno.EADDRNOTAVAIL,
                "lo", "delivers no IPv6 multicast");
        id.joinMulticast(group, id);
        try (CmEvent failed = expect(CmEventType.MULTICAST_ERROR)) {
            assertThat(failed.status()).isEqualTo(-Errno.EADDRNOTAVAIL.number());
        }
        assertRefused(() -> id.joinMulticast(GROUP, null), Errno.EINVAL, ADDRESS, "IP version");
    }
}
