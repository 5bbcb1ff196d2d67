// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.spi.ConnectRequest;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** From which port an id connects when the first one cannot be used towards the destination. */
class SourcePortTest {
    private static final InetSocketAddress PEER = new InetSocketAddress(FakeDevice.SECOND, 7472);

    private static final InetSocketAddress OF_OTHER_VERSION = new InetSocketAddress("fd00::1",
            7472);

    private final CmEventChannel events = CmEventChannel.create();
    private CmId id;

    @BeforeEach
    void create() throws RdmaException {
        id = CmId.create(events, PortSpace.TCP);
    }

    @AfterEach
    void close() throws RdmaException {
        FakeProvider.DEVICE.context().connectFailures.clear();
        id.close();
        events.close();
    }

    private static void refusePorts(int count) {
        for (int i = 0; i < count; i++) {
            FakeProvider.DEVICE.context().connectFailures.add(new RdmaException(
                    Errno.EADDRNOTAVAIL, "connect", "the connection before has just ended"));
        }
    }

    private void resolve() throws RdmaException {
        id.resolveAddress(null, PEER, Duration.ofSeconds(1));
        id.resolveRoute(Duration.ofSeconds(1));
        FakeProvider.DEVICE.context().connectCalls.clear();
    }

    private static ConnectionParameters parameters() {
        return new ConnectionParameters().queuePairNumber(7);
    }

    @Test
    void aPortThatNobodyHasAskedForIsReplacedByAnotherOne() throws Exception {
        resolve();
        refusePorts(3);
        id.connect(parameters());
        List<Integer> ports = FakeProvider.DEVICE.context().connectCalls.stream()
                .map(ConnectRequest::source).map(InetSocketAddress::getPort).toList();
        assertThat(ports).hasSize(4).doesNotHaveDuplicates();
        assertThat(id.localAddress()).isNotNull();
        assertThat(id.localAddress().getPort()).isEqualTo(ports.getLast());
    }

    @Test
    void aPortThatTheIdHasAskedForIsKept() throws Exception {
        id.bindAddress(new InetSocketAddress(FakeDevice.FIRST, 40_007));
        resolve();
        refusePorts(1);
        assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> id.connect(parameters()))
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EADDRNOTAVAIL));
        assertThat(FakeProvider.DEVICE.context().connectCalls).hasSize(1);
    }

    /** As Linux has it: the source is for an id that is not bound yet. */
    @Test
    void boundIdKeepsItsAddressWhateverSourceItIsResolvedWith() throws Exception {
        id.bindAddress(new InetSocketAddress(FakeDevice.FIRST, 40_008));
        for (int port : new int[]{0, 40_008, 40_009}) {
            try (CmId bound = CmId.create(events, PortSpace.TCP)) {
                bound.bindAddress(new InetSocketAddress(FakeDevice.FIRST, 0));
                InetSocketAddress before = bound.localAddress();
                bound.resolveAddress(new InetSocketAddress(FakeDevice.FIRST, port), PEER,
                        Duration.ofSeconds(1));
                assertThat(bound.localAddress()).isEqualTo(before);
                assertThat(bound.peerAddress()).isEqualTo(PEER);
            }
        }
    }

    /** A failed step leaves the id as it was: bound if it was bound. */
    @Test
    void boundIdStaysBoundWhenItsAddressCannotBeResolved() throws Exception {
        InetSocketAddress own = new InetSocketAddress(FakeDevice.FIRST, 40_010);
        try (CmId bound = CmId.create(PortSpace.TCP)) {
            bound.bindAddress(own);
            assertThatExceptionOfType(RdmaException.class).isThrownBy(
                    () -> bound.resolveAddress(own, OF_OTHER_VERSION, Duration.ofSeconds(1)));
            assertThat(bound.localAddress()).isEqualTo(own);
            bound.resolveAddress(own, PEER, Duration.ofSeconds(1));
            assertThat(bound.localAddress()).isEqualTo(own);
        }
    }

    @Test
    void whereNoPortIsFreeTheSearchEnds() throws Exception {
        resolve();
        refusePorts(100_000);
        assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> id.connect(parameters()))
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EADDRNOTAVAIL));
    }
}
