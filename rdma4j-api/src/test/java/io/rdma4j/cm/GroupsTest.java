// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.connection.DatagramParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.spi.CmMembership;
import io.rdma4j.spi.JoinRequest;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Groups of a device that says when it likes whether it has joined them. */
@Timeout(60)
class GroupsTest {
    private static final InetAddress GROUP = InetAddress.ofLiteral("239.1.2.3");
    private static final AddressHandleAttributes PATH = AddressHandleAttributes.to(Gid.of(GROUP),
            7);
    private final RdmaException refusal = RdmaException.unsupported("join",
            "it likes no groups");

    private final CmEventChannel events = CmEventChannel.create();
    private final List<CmId> ids = new ArrayList<>();

    @AfterEach
    void everythingCanBeClosed() throws Exception {
        for (CmId id : ids) {
            id.close();
        }
        events.close();
        assertThat(FakeProvider.DEVICE.opened).allMatch(context -> context.isClosed);
    }

    private CmId bound(@Nullable CmEventChannel channel) throws Exception {
        CmId id = channel == null ? CmId.create(PortSpace.UDP)
                : CmId.create(channel, PortSpace.UDP);
        ids.add(id);
        id.bindAddress(new InetSocketAddress(FakeDevice.FIRST, 0));
        return id;
    }

    /** {@return an id whose device has not answered yet} */
    private CmId joining() throws Exception {
        CmId id = bound(events);
        context().joining = (path, handler) -> {};
        id.joinMulticast(GROUP, "mine");
        assertThat(events.pollEvent(Duration.ZERO)).isNull();
        return id;
    }

    private static FakeContext context() {
        return FakeProvider.DEVICE.context();
    }

    private static CmMembership.Handler handler() {
        return context().joinHandlers.getLast();
    }

    private CmEvent next() throws RdmaException {
        CmEvent event = events.pollEvent(Duration.ZERO);
        if (event == null) {
            throw new AssertionError("no event has come");
        }
        return event;
    }

    @Test
    void deviceThatKnowsAtOnceHasJoinedWhenTheCallReturns() throws Exception {
        CmId id = bound(events);
        id.typeOfService(8);
        id.joinMulticast(GROUP, MulticastMembership.SEND_ONLY_FULL_MEMBER, "mine");
        assertThat(context().joins)
                .containsExactly(new JoinRequest(GROUP, FakeDevice.FIRST, 8, true));
        try (CmEvent event = next()) {
            assertThat(event.type()).isEqualTo(CmEventType.MULTICAST_JOIN);
            assertThat(event.joinContext()).isEqualTo("mine");
        }
    }

    @Test
    void groupIsJoinedWhenTheDeviceSaysSo() throws Exception {
        joining();
        handler().onJoined(PATH, null);
        try (CmEvent event = next()) {
            assertThat(event.type()).isEqualTo(CmEventType.MULTICAST_JOIN);
            assertThat(event.joinContext()).isEqualTo("mine");
            DatagramParameters group = event.datagram();
            assertThat(group).isNotNull();
            assertThat(group.path()).isEqualTo(PATH);
            assertThat(group.qkey()).isEqualTo(DatagramParameters.UDP_QKEY);
            assertThat(group.queuePairNumber())
                    .isEqualTo(DatagramParameters.MULTICAST_QUEUE_PAIR);
        }
    }

    @Test
    void fabricThatGivesOutGroupsDecidesTheirQkey() throws Exception {
        joining();
        handler().onJoined(PATH, 0x1234);
        try (CmEvent event = next()) {
            DatagramParameters group = event.datagram();
            assertThat(group).isNotNull();
            assertThat(group.qkey()).isEqualTo(0x1234);
        }
    }

    @Test
    void groupThatTheDeviceDidNotJoinIsAnErrorAndCanBeJoinedAgain() throws Exception {
        CmId id = joining();
        handler().onNotJoined(refusal);
        try (CmEvent event = next()) {
            assertThat(event.type()).isEqualTo(CmEventType.MULTICAST_ERROR);
            assertThat(event.status()).isEqualTo(-Errno.EOPNOTSUPP.number());
            assertThat(event.cause()).isSameAs(refusal);
            assertThat(event.joinContext()).isEqualTo("mine");
        }
        assertThat(context().left).containsExactly(GROUP);
        id.joinMulticast(GROUP, null);
        handler().onJoined(PATH, null);
        next().close();
    }

    @Test
    void failureWithinTheCallLeavesTheGroupToo() throws Exception {
        CmId id = bound(events);
        context().joining = (path, handler) -> handler.onNotJoined(refusal);
        id.joinMulticast(GROUP, null);
        next().close();
        assertThat(context().left).containsExactly(GROUP);
        assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> id.leaveMulticast(GROUP))
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EADDRNOTAVAIL));
    }

    @Test
    void groupIsJoinedOnceAlsoWhileTheDeviceIsBusyWithIt() throws Exception {
        CmId id = joining();
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> id.joinMulticast(GROUP, null))
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EADDRINUSE));
    }

    @Test
    void whoLeavesBeforeTheAnswerHearsNoMore() throws Exception {
        CmId id = joining();
        id.leaveMulticast(GROUP);
        assertThat(context().left).containsExactly(GROUP);
        handler().onJoined(PATH, null);
        handler().onNotJoined(refusal);
        assertThat(events.pollEvent(Duration.ZERO)).isNull();
    }

    @Test
    void closedIdsLeaveTheirGroups() throws Exception {
        CmId id = joining();
        handler().onJoined(PATH, null);
        next().close();
        id.close();
        assertThat(context().left).containsExactly(GROUP);
    }

    @Test
    void synchronousIdWaitsForTheDevice() throws Exception {
        CmId id = bound(null);
        CompletableFuture<CmMembership.Handler> asked = new CompletableFuture<>();
        context().joining = (path, handler) -> asked.complete(handler);
        CompletableFuture<Void> joined = CompletableFuture.runAsync(() -> {
            try {
                id.joinMulticast(GROUP, "mine");
            } catch (RdmaException e) {
                throw new IllegalStateException(e);
            }
        });
        CmMembership.Handler handler = asked.get(20, TimeUnit.SECONDS);
        assertThat(joined).isNotDone();
        handler.onJoined(PATH, null);
        joined.get(20, TimeUnit.SECONDS);
        CmEvent event = id.event();
        assertThat(event).isNotNull();
        assertThat(event.type()).isEqualTo(CmEventType.MULTICAST_JOIN);
    }

    @Test
    void synchronousIdThrowsWhatTheDeviceReportsLater() throws Exception {
        CmId id = bound(null);
        context().joining = (path, handler) -> handler.onNotJoined(refusal);
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> id.joinMulticast(GROUP, null)).satisfies(e -> {
                    assertThat(e.errno()).isEqualTo(Errno.EOPNOTSUPP);
                    assertThat(e).hasMessageContaining("it likes no groups");
                });
    }
}
