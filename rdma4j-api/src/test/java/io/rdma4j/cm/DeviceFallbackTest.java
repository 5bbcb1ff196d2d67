// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.connection.RejectReason;
import io.rdma4j.spi.CmConnection;
import io.rdma4j.spi.Refusal;
import io.rdma4j.verbs.DeviceKind;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.TransportType;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** How an id comes to another device when the best one has found nobody at its destination. */
class DeviceFallbackTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(2);
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Refusal BY_NOBODY = new Refusal(RejectReason.INVALID_SERVICE_ID.code(),
            RejectReason.INVALID_SERVICE_ID.text(), new byte[0], true);
    private static final String REJECTED = "rejected (8: invalid service ID: no process listens at"
            + " that port of that address)";
    private static final String SILENT = "the peer did not answer in time";
    private static final String OTHER = "; a program listens there for iwarp0: resolve the address"
            + " again to take that device";
    /** What the process remembers of one test is nothing to the next. */
    private static int nextPort = 20_000;

    private final InetSocketAddress server = new InetSocketAddress(FakeDevice.SECOND, nextPort++);
    private final FakeDevice softRoce = new FakeDevice("roce0", DeviceKind.SOFTWARE,
            TransportType.INFINIBAND);
    private final FakeDevice softIwarp = new FakeDevice("iwarp0", DeviceKind.SOFTWARE,
            TransportType.IWARP);
    private final CmEventChannel events = CmEventChannel.create();
    private final List<CmId> ids = new ArrayList<>();

    @BeforeEach
    void offer() {
        softIwarp.seesListeners = true;
        FakeProvider.offer(softRoce, softIwarp);
    }

    @AfterEach
    void close() throws Exception {
        System.clearProperty("rdma4j.device");
        for (CmId id : ids) {
            id.close();
        }
        events.close();
        FakeProvider.offer(FakeProvider.DEVICE);
    }

    private CmId id() throws RdmaException {
        CmId id = CmId.create(events, PortSpace.TCP);
        ids.add(id);
        return id;
    }

    private CmId resolved() throws RdmaException {
        CmId id = id();
        id.resolveAddress(server, TIMEOUT);
        expect(CmEventType.ADDR_RESOLVED);
        return id;
    }

    private String deviceOfNext() throws RdmaException {
        return resolved().context().device().name();
    }

    /** {@return the handler of what becomes of its request} */
    private CmConnection.Handler connect(CmId id) throws RdmaException {
        id.resolveRoute(TIMEOUT);
        expect(CmEventType.ROUTE_RESOLVED);
        id.connect(new ConnectionParameters().queuePairNumber(5));
        return contextOf(id).handlers.getLast();
    }

    private FakeContext contextOf(CmId id) {
        return (FakeContext) id.context();
    }

    private CmConnection.Handler connecting() throws RdmaException {
        return connect(resolved());
    }

    private void expect(CmEventType type) throws RdmaException {
        try (CmEvent event = events.pollEvent(PATIENCE)) {
            assertThat(event).isNotNull();
            assertThat(event.type()).isEqualTo(type);
        }
    }

    private void expectFailure(CmEventType type, Errno errno, String description)
            throws RdmaException {
        try (CmEvent event = events.pollEvent(PATIENCE)) {
            assertThat(event).isNotNull();
            assertThat(event.type()).isEqualTo(type);
            assertThat(event.description()).isEqualTo(description);
            RdmaException failure = event.failure("connect");
            assertThat(failure.errno()).isEqualTo(errno);
            assertThat(failure.getClass()).isEqualTo(description.contains("iwarp0")
                    ? OtherDeviceException.class
                    : type == CmEventType.REJECTED
                            ? RejectedException.class
                            : RdmaException.class);
        }
    }

    @Test
    void deviceThatSeesAListenerIsNamedAndTakenNext() throws Exception {
        connecting().onRefused(BY_NOBODY);
        expectFailure(CmEventType.REJECTED, Errno.ECONNREFUSED, REJECTED + OTHER);
        assertThat(deviceOfNext()).isEqualTo("iwarp0");
        assertThat(softIwarp.looks).hasValue(1);
        assertThat(softRoce.looks).hasValue(0);
    }

    @Test
    void synchronousIdThrowsWithTheNameOfTheDevice() throws Exception {
        CmId id = CmId.create(PortSpace.TCP);
        ids.add(id);
        id.resolveAddress(server, TIMEOUT);
        id.resolveRoute(TIMEOUT);
        contextOf(id).answer = (connection, handler) -> handler.onRefused(BY_NOBODY);
        assertThatExceptionOfType(OtherDeviceException.class)
                .isThrownBy(() -> id.connect(new ConnectionParameters().queuePairNumber(5)))
                .withMessageContaining(REJECTED + OTHER)
                .satisfies(e -> assertThat(e.device()).isEqualTo("iwarp0"));
    }

    @Test
    void idFromAGivenAddressTakesItAsWell() throws Exception {
        connecting().onRefused(BY_NOBODY);
        expectFailure(CmEventType.REJECTED, Errno.ECONNREFUSED, REJECTED + OTHER);
        CmId id = id();
        id.resolveAddress(new InetSocketAddress(FakeDevice.FIRST, 0), server, TIMEOUT);
        expect(CmEventType.ADDR_RESOLVED);
        assertThat(id.context().device().name()).isEqualTo("iwarp0");
    }

    @Test
    void whoeverCannotSeeAListenerStaysWithItsDevice() throws Exception {
        softIwarp.seesListeners = false;
        connecting().onRefused(BY_NOBODY);
        expectFailure(CmEventType.REJECTED, Errno.ECONNREFUSED, REJECTED);
        assertThat(deviceOfNext()).isEqualTo("roce0");
    }

    @Test
    void deviceThatDoesNotHaveTheLocalAddressIsNotAsked() throws Exception {
        softIwarp.hosted = List.of(FakeDevice.FIRST);
        connecting().onRefused(BY_NOBODY);
        expectFailure(CmEventType.REJECTED, Errno.ECONNREFUSED, REJECTED);
        assertThat(softIwarp.looks).hasValue(0);
    }

    @Test
    void programThatRejectsIsNotAskedAnotherWay() throws Exception {
        connecting().onRefused(new Refusal(RejectReason.CONSUMER_DEFINED.code(),
                RejectReason.CONSUMER_DEFINED.text(), new byte[0]));
        expectFailure(CmEventType.REJECTED, Errno.ECONNREFUSED, "rejected (28: consumer defined)");
        assertThat(softIwarp.looks).hasValue(0);
        assertThat(deviceOfNext()).isEqualTo("roce0");
    }

    @ParameterizedTest
    @EnumSource(names = {"ETIMEDOUT", "ECONNREFUSED", "EPERM"})
    void peerOfWhichOneTransportHearsNothingMayAnswerAnother(Errno reason) throws Exception {
        connecting().onUnreachable(reason);
        try (CmEvent event = events.pollEvent(PATIENCE)) {
            assertThat(event).isNotNull();
            assertThat(event.description()).endsWith(OTHER);
        }
        assertThat(deviceOfNext()).isEqualTo("iwarp0");
    }

    @ParameterizedTest
    @EnumSource(names = {"EHOSTUNREACH", "ENETUNREACH", "ENETDOWN", "ECONNRESET"})
    void hostThatIsGoneIsGoneForAllTransports(Errno reason) throws Exception {
        connecting().onUnreachable(reason);
        expect(CmEventType.UNREACHABLE);
        assertThat(softIwarp.looks).hasValue(0);
    }

    // ---------------------------------------------------------------- who has no choice

    @Test
    void idThatNamesItsDeviceKeepsIt() throws Exception {
        CmId id = id();
        id.device("roce0");
        id.resolveAddress(server, TIMEOUT);
        expect(CmEventType.ADDR_RESOLVED);
        CmConnection.Handler handler = connect(id);
        handler.onSilence(contextOf(id).connection());
        handler.onRefused(BY_NOBODY);
        expectFailure(CmEventType.REJECTED, Errno.ECONNREFUSED, REJECTED);
        assertThat(softIwarp.looks).hasValue(0);
        connecting().onRefused(BY_NOBODY);
        expectFailure(CmEventType.REJECTED, Errno.ECONNREFUSED, REJECTED + OTHER);
        CmId again = id();
        again.device("roce0");
        again.resolveAddress(server, TIMEOUT);
        expect(CmEventType.ADDR_RESOLVED);
        assertThat(again.context().device().name()).isEqualTo("roce0");
    }

    @Test
    void propertyThatNamesTheDeviceIsObeyed() throws Exception {
        System.setProperty("rdma4j.device", "roce0");
        connecting().onRefused(BY_NOBODY);
        expectFailure(CmEventType.REJECTED, Errno.ECONNREFUSED, REJECTED);
        assertThat(softIwarp.looks).hasValue(0);
    }

    @Test
    void idThatWasBoundBeforeKeepsItsDevice() throws Exception {
        CmId id = id();
        id.bindAddress(new InetSocketAddress(FakeDevice.FIRST, 0));
        id.resolveAddress(server, TIMEOUT);
        expect(CmEventType.ADDR_RESOLVED);
        connect(id).onRefused(BY_NOBODY);
        expectFailure(CmEventType.REJECTED, Errno.ECONNREFUSED, REJECTED);
        assertThat(softIwarp.looks).hasValue(0);
    }

    // ---------------------------------------------------------------- silence

    @Test
    void silenceEndsTheRequestWhereAnotherDeviceSeesAListener() throws Exception {
        CmId id = resolved();
        CmConnection[] asked = new CmConnection[1];
        contextOf(id).answer = (connection, handler) -> asked[0] = connection;
        connect(id).onSilence(asked[0]);
        expectFailure(CmEventType.UNREACHABLE, Errno.ETIMEDOUT, SILENT + OTHER);
        assertThat(softIwarp.looks).hasValue(1);
        assertThat(deviceOfNext()).isEqualTo("iwarp0");
    }

    @Test
    void silentPeerIsWaitedForWhereNoOtherDeviceSeesAListener() throws Exception {
        softIwarp.seesListeners = false;
        CmId id = resolved();
        CmConnection[] asked = new CmConnection[1];
        contextOf(id).answer = (connection, handler) -> asked[0] = connection;
        CountDownLatch looked = new CountDownLatch(1);
        softIwarp.onLook = looked::countDown;
        CmConnection.Handler handler = connect(id);
        handler.onSilence(asked[0]);
        assertThat(looked.await(30, TimeUnit.SECONDS)).isTrue();
        softIwarp.seesListeners = true;
        // It has looked once, which is enough.
        handler.onUnreachable(Errno.ETIMEDOUT);
        expectFailure(CmEventType.UNREACHABLE, Errno.ETIMEDOUT, SILENT);
        assertThat(softIwarp.looks).hasValue(1);
    }

    @Test
    void answerDuringTheLookIsTheOutcome() throws Exception {
        CmId id = resolved();
        CmConnection.Handler handler = connect(id);
        softIwarp.onLook = () -> handler.onEstablished(null);
        // One that is not given up any more, because its peer was heard.
        handler.onSilence(contextOf(id).connection());
        expect(CmEventType.ESTABLISHED);
        assertThat(deviceOfNext()).isEqualTo("roce0");
    }

    // ---------------------------------------------------------------- when it is over

    @Test
    void bestDeviceIsTriedAgainOnceTheOtherHasFailedAsWell() throws Exception {
        connecting().onRefused(BY_NOBODY);
        expectFailure(CmEventType.REJECTED, Errno.ECONNREFUSED, REJECTED + OTHER);
        CmId other = resolved();
        assertThat(other.context().device().name()).isEqualTo("iwarp0");
        connect(other).onRefused(new Refusal(-Errno.ECONNREFUSED.number(), "nobody", new byte[0]));
        expect(CmEventType.REJECTED);
        assertThat(deviceOfNext()).isEqualTo("roce0");
    }

    @Test
    void bestDeviceIsTakenAgainOnceItHasConnected() throws Exception {
        CmConnection.Handler first = connecting();
        CmConnection.Handler second = connecting();
        first.onRefused(BY_NOBODY);
        expectFailure(CmEventType.REJECTED, Errno.ECONNREFUSED, REJECTED + OTHER);
        second.onEstablished(null);
        expect(CmEventType.ESTABLISHED);
        assertThat(deviceOfNext()).isEqualTo("roce0");
    }

    @Test
    void idThatIsClosedDuringTheLookHearsNothingOfIt() throws Exception {
        CountDownLatch looking = new CountDownLatch(1);
        CountDownLatch closed = new CountDownLatch(1);
        softIwarp.onLook = () -> {
            looking.countDown();
            try {
                assertThat(closed.await(30, TimeUnit.SECONDS)).isTrue();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        };
        CmId id = resolved();
        connect(id).onRefused(BY_NOBODY);
        assertThat(looking.await(30, TimeUnit.SECONDS)).isTrue();
        assertThat(events.pollEvent(Duration.ZERO)).isNull();
        id.close();
        closed.countDown();
        assertThat(deviceOfNext()).isEqualTo("roce0");
        assertThat(events.pollEvent(Duration.ZERO)).isNull();
    }
}
