// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmEventChannel;
import io.rdma4j.cm.CmEventType;
import io.rdma4j.cm.CmId;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.softnic.network.OnceFree;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** Ids on the loopback device, with one channel, closed after each test. */
abstract class CmStage {
    static final Duration TIMEOUT = Duration.ofSeconds(2);
    static final Duration LONG = Duration.ofSeconds(20);

    /** A loopback address that no other process takes, whatever else is tested on this machine. */
    static final String OWN = address(64);
    /** Another. */
    static final String OTHER = address(128);
    /** The only loopback address of its IP version. */
    static final String IPV6 = "::1";

    final CmEventChannel events = CmEventChannel.create();
    private final Deque<CmId> ids = new ArrayDeque<>();

    @AfterEach
    void everythingCanBeClosed() throws RdmaException {
        closeIds();
        events.close();
    }

    /** Before something that they use is closed. */
    final void closeIds() throws RdmaException {
        while (!ids.isEmpty()) {
            ids.pop().close();
        }
    }

    private static String address(int first) {
        long pid = ProcessHandle.current().pid();
        return "127." + (first + (pid >>> 15 & 63)) + "." + (pid >>> 7 & 255) + "."
                + (1 + (pid & 127));
    }

    /** {@return an address of each IP version, to be asked for with {@link #requirePresent}} */
    static List<String> ownAddresses() {
        return List.of(OWN, IPV6);
    }

    /** Skips a test that wants IPv6 on a machine without. */
    static void requirePresent(String address) throws Exception {
        if (address.equals(IPV6)) {
            requireIpv6();
        }
    }

    /** Skips a test on a machine without IPv6; waits for its only loopback address if another process has it. */
    static void requireIpv6() throws Exception {
        assumeTrue(NetworkInterface.getByInetAddress(InetAddress.ofLiteral(IPV6)) != null,
                "no network interface has " + IPV6);
        OnceFree.take(IPV6, CmStage::isIpv6Free);
    }

    private static boolean isIpv6Free() {
        try (CmId probe = CmId.create(PortSpace.TCP)) {
            // Of itself an id would take iWARP where another process has the address.
            probe.device("roce");
            probe.bindAddress(anyPort(IPV6));
            return true;
        } catch (RdmaException taken) {
            return false;
        }
    }

    CmId id(PortSpace space) throws RdmaException {
        return closedAtEnd(CmId.create(events, space));
    }

    CmId closedAtEnd(CmId id) {
        ids.push(id);
        return id;
    }

    static InetSocketAddress anyPort(String address) {
        return new InetSocketAddress(InetAddress.ofLiteral(address), 0);
    }

    CmId listener(PortSpace space, String address) throws RdmaException {
        CmId listener = id(space);
        listener.bindAddress(anyPort(address));
        listener.listen(4);
        return listener;
    }

    /** {@return the next event, which must be of a type} */
    CmEvent expect(CmEventType type) throws RdmaException {
        return expect(events, type);
    }

    static CmEvent expect(CmEventChannel channel, CmEventType type) throws RdmaException {
        CmEvent event = channel.pollEvent(LONG);
        assertThat(event).isNotNull();
        assertThat(event.type()).as(event.description()).isEqualTo(type);
        return event;
    }

    /** {@return the id of the next request} */
    CmId request() throws RdmaException {
        try (CmEvent event = expect(CmEventType.CONNECT_REQUEST)) {
            return closedAtEnd(event.id());
        }
    }

    void resolve(CmId id, InetSocketAddress address) throws RdmaException {
        id.resolveAddress(address, TIMEOUT);
        expect(CmEventType.ADDR_RESOLVED).close();
        id.resolveRoute(TIMEOUT);
        expect(CmEventType.ROUTE_RESOLVED).close();
    }

    static QueuePairInitAttributes reliable() {
        return new QueuePairInitAttributes()
                .capabilities(QueuePairCapabilities.ofDepth(8, 8).withElements(4, 4)
                        .withInlineData(64));
    }

    static QueuePairInitAttributes datagrams() {
        return reliable().type(QueuePairType.UD);
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    static void assertRefused(ThrowingCallable call, Errno errno, String... words) {
        assertThatExceptionOfType(RdmaException.class).isThrownBy(call).satisfies(e -> {
            assertThat(e.errno()).as(e.getMessage()).isEqualTo(errno);
            assertThat(e.getMessage()).doesNotContain("\n");
            for (String word : words) {
                assertThat(e.getMessage()).contains(word);
            }
        });
    }
}
