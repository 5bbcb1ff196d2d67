// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmEventType;
import io.rdma4j.cm.CmId;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.softnic.network.OnceFree;
import io.rdma4j.softnic.network.linux.datagram.LinuxNetwork;
import io.rdma4j.softnic.options.DeviceOptions;
import io.rdma4j.softnic.options.NetworkBackend;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaDevices;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

/**
 * Each kind of destination, from the loopback device of each transport on each back-end, to a listener at the wildcard address:
 * it is served, or refused at once and in words.
 */
class DestinationsAloneTest extends CmStage {
    /** Whatever is refused has not to wait for time-outs, which take seventeen seconds. */
    private static final Duration SOON = Duration.ofSeconds(4);

    /** What becomes of a destination. */
    enum Outcome {
        /** The listener gets a request. */
        SERVED,
        /** The address cannot be resolved. */
        UNRESOLVED,
        /** Nobody is there. */
        NOBODY,
        /** The address cannot be resolved, or this machine has a route or a link for it, which is tried no further. */
        UNRESOLVED_UNLESS_ROUTED
    }

    record Row(InetAddress destination, Outcome outcome, String words) {
        Row(String destination, Outcome outcome, String words) {
            this(InetAddress.ofLiteral(destination), outcome, words);
        }
    }

    private static List<Row> rows() throws Exception {
        byte[] mapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, -1, 127, 0, 0, 1};
        return List.of(new Row("127.0.0.1", Outcome.SERVED, ""),
                new Row("0.0.0.0", Outcome.SERVED, ""), new Row(IPV6, Outcome.SERVED, ""),
                new Row("::", Outcome.SERVED, ""),
                new Row(Inet6Address.getByAddress(null, mapped, -1), Outcome.SERVED, ""),
                new Row("127.9.8.7", Outcome.NOBODY, ""),
                new Row("127.255.255.255", Outcome.UNRESOLVED, "broadcast"),
                new Row("255.255.255.255", Outcome.UNRESOLVED, "255.255.255.255"),
                new Row("239.1.2.3", Outcome.UNRESOLVED, "multicast group"),
                new Row("ff02::123", Outcome.UNRESOLVED, "multicast group"),
                new Row("fe80::1:2:3", Outcome.UNRESOLVED_UNLESS_ROUTED, "fe80:"),
                new Row("192.0.2.1", Outcome.UNRESOLVED_UNLESS_ROUTED, "192.0.2.1"),
                new Row("2001:db8::1", Outcome.UNRESOLVED_UNLESS_ROUTED, "2001:db8:"));
    }

    static List<Arguments> cases() throws Exception {
        List<Arguments> cases = new ArrayList<>();
        for (String device : List.of("roce_lo", "iwarp_lo")) {
            for (NetworkBackend backend : List.of(NetworkBackend.LINUX, NetworkBackend.PORTABLE)) {
                for (Row row : rows()) {
                    cases.add(Arguments.of(device, backend, row));
                }
            }
        }
        return cases;
    }

    @ParameterizedTest
    @MethodSource("cases")
    void everyKindOfDestinationIsServedOrRefusedAtOnce(String device, NetworkBackend backend,
            Row row) throws Exception {
        if (backend == NetworkBackend.LINUX) {
            assumeThat(LinuxNetwork.obstacle()).isNull();
        }
        if (row.destination instanceof Inet6Address && row.outcome == Outcome.SERVED) {
            requireIpv6();
        }
        if (backend == NetworkBackend.PORTABLE && row.outcome == Outcome.SERVED) {
            // It shares them with no process, and any program of this machine may have them for a while.
            OnceFree.await("127.0.0.1");
            if (row.destination instanceof Inet6Address) {
                OnceFree.await(IPV6);
            }
        }
        // Ids join the device as it is open.
        try (DeviceContext _ = DeviceOptions.DEFAULT.withBackend(backend)
                .open(RdmaDevices.find(device))) {
            try {
                reach(device, row);
            } finally {
                closeIds();
            }
        }
    }

    private void reach(String device, Row row) throws Exception {
        CmId listener = id(PortSpace.TCP);
        listener.device(device);
        listener.bindAddress(new InetSocketAddress(0));
        listener.listen(1);
        CmId client = id(PortSpace.TCP);
        client.device(device);
        client.resolveAddress(new InetSocketAddress(row.destination, listener.localPort()),
                TIMEOUT);
        try (CmEvent resolved = soon()) {
            follow(client, resolved, row);
        }
    }

    private void follow(CmId client, CmEvent resolved, Row row) throws Exception {
        switch (row.outcome) {
            case UNRESOLVED -> requireUnresolved(resolved, row);
            case UNRESOLVED_UNLESS_ROUTED -> {
                if (resolved.type() != CmEventType.ADDR_RESOLVED) {
                    requireUnresolved(resolved, row);
                }
            }
            case SERVED -> {
                connect(client, resolved);
                try (CmEvent asked = soon()) {
                    assertThat(asked.type()).as(asked.description())
                            .isEqualTo(CmEventType.CONNECT_REQUEST);
                    closedAtEnd(asked.id());
                    assertThat(asked.id().localAddress().getAddress())
                            .isEqualTo(client.peerAddress().getAddress());
                }
            }
            case NOBODY -> {
                connect(client, resolved);
                try (CmEvent refused = soon()) {
                    assertThat(refused.type()).isIn(CmEventType.REJECTED,
                            CmEventType.UNREACHABLE);
                    requireWords(refused.failure("connect"));
                }
            }
        }
    }

    private void connect(CmId client, CmEvent resolved) throws RdmaException {
        assertThat(resolved.type()).as(resolved.description())
                .isEqualTo(CmEventType.ADDR_RESOLVED);
        client.resolveRoute(TIMEOUT);
        expect(CmEventType.ROUTE_RESOLVED).close();
        client.createQueuePair(reliable());
        client.connect(new ConnectionParameters());
    }

    private CmEvent soon() throws RdmaException {
        CmEvent event = events.pollEvent(SOON);
        assertThat(event).as("an event within %s", SOON).isNotNull();
        return event;
    }

    private static void requireUnresolved(CmEvent event, Row row) {
        assertThat(event.type()).as(event.description()).isEqualTo(CmEventType.ADDR_ERROR);
        RdmaException refusal = event.failure("resolve address");
        requireWords(refusal);
        assertThat(refusal).hasMessageContaining(row.words);
        assertThat(refusal.errno()).isIn(Errno.ENETUNREACH, Errno.EINVAL, Errno.ENODEV);
    }

    private static void requireWords(RdmaException refusal) {
        assertThat(refusal.getMessage()).doesNotContain("\n", "EIO", "error ");
    }
}
