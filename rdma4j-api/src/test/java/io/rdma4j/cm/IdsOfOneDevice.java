// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Ids whose device a test drives, and their events. */
abstract class IdsOfOneDevice {
    static final Duration TIMEOUT = Duration.ofSeconds(2);
    static final InetSocketAddress PEER = new InetSocketAddress(FakeDevice.SECOND, 7471);

    final CmEventChannel events = CmEventChannel.create();
    final List<CmId> ids = new ArrayList<>();

    @AfterEach
    void everythingCanBeClosed() throws Exception {
        for (CmId id : ids) {
            id.close();
        }
        events.close();
        assertThat(FakeProvider.DEVICE.opened).allMatch(context -> context.isClosed);
    }

    final CmId bound(PortSpace space, InetAddress address) throws Exception {
        CmId id = CmId.create(events, space);
        ids.add(id);
        id.bindAddress(new InetSocketAddress(address, 0));
        return id;
    }

    final CmId resolved(PortSpace space) throws Exception {
        CmId id = bound(space, FakeDevice.FIRST);
        id.resolveAddress(PEER, TIMEOUT);
        expect(CmEventType.ADDR_RESOLVED, id, 0);
        return id;
    }

    final CmId connecting() throws Exception {
        CmId id = resolved(PortSpace.TCP);
        id.resolveRoute(TIMEOUT);
        expect(CmEventType.ROUTE_RESOLVED, id, 0);
        id.connect(new ConnectionParameters().queuePairNumber(5));
        return id;
    }

    final CmId lookingUp() throws Exception {
        CmId id = resolved(PortSpace.UDP);
        id.resolveRoute(TIMEOUT);
        expect(CmEventType.ROUTE_RESOLVED, id, 0);
        id.connect(new ConnectionParameters().queuePairNumber(5));
        return id;
    }

    final void expect(CmEventType type, CmId id, int status) throws RdmaException {
        try (CmEvent event = events.pollEvent(Duration.ZERO)) {
            assertThat(event).isNotNull();
            assertThat(event.type()).isEqualTo(type);
            assertThat(event.id()).isSameAs(id);
            assertThat(event.status()).isEqualTo(status);
        }
    }

    final void expectNothing() throws RdmaException {
        assertThat(events.pollEvent(Duration.ZERO)).isNull();
    }

    static void assertRefused(ThrowingCallable call, Errno errno) {
        assertThatExceptionOfType(RdmaException.class).isThrownBy(call)
                .satisfies(e -> assertThat(e.errno()).isEqualTo(errno));
    }

    final CmId routed(CmId id) throws Exception {
        ids.add(id);
        id.bindAddress(new InetSocketAddress(FakeDevice.FIRST, 0));
        id.resolveAddress(PEER, TIMEOUT);
        id.resolveRoute(TIMEOUT);
        if (id.channel() == events) {
            expect(CmEventType.ADDR_RESOLVED, id, 0);
            expect(CmEventType.ROUTE_RESOLVED, id, 0);
        }
        return id;
    }
}
