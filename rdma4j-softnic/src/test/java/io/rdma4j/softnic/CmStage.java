package io.rdma4j.softnic;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmEventType;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Ids on the loopback device, with one channel, closed after each test. */
abstract class CmStage {
    static final Duration TIMEOUT = Duration.ofSeconds(2);
    static final Duration LONG = Duration.ofSeconds(20);

    /** A loopback address that no other process takes, whatever else is tested on this machine. */
    static final String OWN = address(64);
    /** Another. */
    static final String OTHER = address(128);

    final EventChannel events = EventChannel.create();
    private final Deque<CmId> ids = new ArrayDeque<>();

    @AfterEach
    void everythingCanBeClosed() throws RdmaException {
        while (!ids.isEmpty()) {
            ids.pop().close();
        }
        events.close();
    }

    private static String address(int first) {
        long pid = ProcessHandle.current().pid();
        return "127." + (first + (pid >>> 16 & 63)) + "." + (pid >>> 8 & 255) + "." + (pid & 255);
    }

    /** {@return an address of each IP version; the only IPv6 address may be another process's} */
    static List<String> ownAddresses() {
        return isIpv6Free() ? List.of(OWN, "::1") : List.of(OWN);
    }

    static boolean isIpv6Free() {
        try (CmId probe = CmId.create(PortSpace.TCP)) {
            probe.bindAddress(anyPort("::1"));
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

    static CmEvent expect(EventChannel channel, CmEventType type) throws RdmaException {
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
