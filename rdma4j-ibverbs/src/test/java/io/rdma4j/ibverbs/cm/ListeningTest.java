// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.cm;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.ibverbs.abi.CmLayout.CmEvent;
import io.rdma4j.ibverbs.abi.CmSymbol;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.ibverbs.cm.Machine.Heard;
import io.rdma4j.spi.CmConnection;
import io.rdma4j.spi.CmContext;
import io.rdma4j.spi.CmListener;
import io.rdma4j.spi.CmOptions;
import io.rdma4j.spi.ListenRequest;
import io.rdma4j.spi.PortReservation;
import io.rdma4j.testkit.Wait;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.PortState;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@Timeout(60)
class ListeningTest {
    private static final InetSocketAddress CALLER = new InetSocketAddress(Machine.PEER, 41000);

    private Machine machine;
    private final Heard heard = new Heard();
    private final BlockingQueue<Asked> asked = new LinkedBlockingQueue<>();

    /** A request as the handler got it. */
    private record Asked(CmContext via, CmConnection request, InetSocketAddress local,
            InetSocketAddress peer, ConnectionParameters parameters) {}

    ListeningTest() throws RdmaException {
        machine = new Machine();
    }

    @AfterEach
    void nothingIsLeft() {
        machine.close();
    }

    private CmConnection.Handler onRequest(CmContext via, CmConnection request,
            InetSocketAddress local, InetSocketAddress peer, ConnectionParameters parameters) {
        asked.add(new Asked(via, request, local, peer, parameters));
        return heard;
    }

    private CmListener listen(OpenDevice device, @Nullable InetAddress address)
            throws RdmaException {
        return device.listen(machine.listen(address, null), this::onRequest);
    }

    private FakeCm.Id ask(FakeCm.Id listener, InetAddress local) {
        FakeCm.Id id = machine.cm.request(listener, new InetSocketAddress(local, 18515), CALLER);
        MemorySegment event = machine.cm.requestEvent(listener, id);
        Native.putByte(event, CmEvent.RESPONDER_RESOURCES, 2);
        Native.putByte(event, CmEvent.INITIATOR_DEPTH, 3);
        Native.putByte(event, CmEvent.FLOW_CONTROL, 1);
        Native.putByte(event, CmEvent.RETRY_COUNT, 5);
        Native.putByte(event, CmEvent.RNR_RETRY_COUNT, 4);
        Native.putInt(event, CmEvent.QP_NUM, 0x654321);
        machine.cm.data(event, (byte) 1, (byte) 0);
        machine.cm.post(event);
        return id;
    }

    private Asked next() throws InterruptedException {
        Asked next = asked.poll(20, TimeUnit.SECONDS);
        if (next == null) {
            throw new AssertionError("no request has come");
        }
        return next;
    }

    private static void assertErrno(Errno errno, ThrowingCallable call) {
        assertThatExceptionOfType(RdmaException.class).isThrownBy(call)
                .satisfies(e -> assertThat(e.errno()).isEqualTo(errno));
    }

    private void awaitGone(FakeCm.Id id) {
        Wait.until("the request is destroyed", () -> !machine.cm.ids().contains(id));
    }

    @Test
    void aRequestSaysWhoAsksForWhat() throws Exception {
        CmListener listener = listen(machine.roce, Machine.ROCE);
        assertThat(machine.newest().backlog).isEqualTo(2);
        ask(machine.newest(), Machine.ROCE);
        Asked request = next();

        assertThat(request.via()).isSameAs(machine.roce);
        assertThat(request.local()).isEqualTo(new InetSocketAddress(Machine.ROCE, 18515));
        assertThat(request.peer()).isEqualTo(CALLER);
        ConnectionParameters wanted = request.parameters();
        assertThat(wanted.responderResources()).isEqualTo(2);
        assertThat(wanted.initiatorDepth()).isEqualTo(3);
        assertThat(wanted.flowControl()).isTrue();
        assertThat(wanted.retryCount()).isEqualTo(5);
        assertThat(wanted.rnrRetryCount()).isEqualTo(4);
        assertThat(wanted.sharedReceiveQueue()).isFalse();
        assertThat(wanted.queuePairNumber()).isEqualTo(0x654321);
        assertThat(wanted.privateData()).containsExactly(1, 0);
        request.request().close();
        listener.close();
    }

    @Test
    void eventThatThisVersionDoesNotKnowIsToldWithItsNumber() throws Exception {
        BlockingQueue<String> others = new LinkedBlockingQueue<>();
        CmListener listener = machine.roce.listen(machine.listen(Machine.ROCE, null),
                new CmListener.Handler() {
                    @Override
                    public CmConnection.Handler onRequest(CmContext via, CmConnection request,
                            InetSocketAddress local, InetSocketAddress peer,
                            ConnectionParameters parameters) {
                        return ListeningTest.this.onRequest(via, request, local, peer, parameters);
                    }

                    @Override
                    public void onUnknownEvent(int typeCode, int status) {
                        others.add(typeCode + " " + status);
                    }
                });
        machine.cm.postUnknown(machine.newest(), 99, 7);
        assertThat(others.poll(20, TimeUnit.SECONDS)).isEqualTo("99 7");
        listener.close();
    }

    @Test
    void anAcceptedRequestIsEstablishedWhenThePeerIsReady() throws Exception {
        CmListener listener = listen(machine.roce, Machine.ROCE);
        FakeCm.Id id = ask(machine.newest(), Machine.ROCE);
        CmConnection connection = next().request();
        machine.cm.attributes(1);
        assertThat(connection.bringUp(Machine.parameters(), CmOptions.DEFAULT)
                .attributes(QueuePairState.RTR).state()).isEqualTo(QueuePairState.RTR);
        connection.accept(Machine.parameters(), Machine.QUEUE_PAIR);
        connection.communicationEstablished();
        machine.cm.post(id, EventType.ESTABLISHED, 0);

        assertThat(heard.next()).isEqualTo("established");
        assertThat(heard.granted).isNull();
        assertErrno(Errno.EISCONN, connection::communicationEstablished);
        assertErrno(Errno.EINVAL,
                () -> connection.accept(Machine.parameters(), Machine.QUEUE_PAIR));
        assertThat(id.params).containsExactly(Machine.param());
        connection.close();
        listener.close();
    }

    @Test
    void aFailedAcceptanceMayBeTriedAgain() throws Exception {
        CmListener listener = listen(machine.roce, Machine.ROCE);
        ask(machine.newest(), Machine.ROCE);
        CmConnection connection = next().request();
        machine.cm.failNext(CmSymbol.ACCEPT, Errno.EINVAL);
        assertErrno(Errno.EINVAL, () -> connection.accept(Machine.parameters(), 1));

        connection.accept(Machine.parameters(), 1);

        connection.close();
        listener.close();
    }

    @Test
    void aRejectedRequestCarriesPrivateData() throws Exception {
        CmListener listener = listen(machine.roce, Machine.ROCE);
        FakeCm.Id id = ask(machine.newest(), Machine.ROCE);
        CmConnection connection = next().request();

        connection.reject(new byte[]{4, 5});

        assertThat(id.privateData).containsExactly(new byte[]{4, 5});
        connection.close();
        assertThat(machine.cm.count(CmSymbol.REJECT)).isEqualTo(1);
        listener.close();
    }

    @Test
    void aWithdrawnRequestCannotBeAccepted() throws Exception {
        CmListener listener = listen(machine.roce, Machine.ROCE);
        FakeCm.Id id = ask(machine.newest(), Machine.ROCE);
        CmConnection connection = next().request();
        machine.cm.post(id, EventType.REJECTED, 4);
        assertThat(heard.next()).isEqualTo("refused 4");

        assertErrno(Errno.ECONNRESET, () -> connection.accept(Machine.parameters(), 1));

        connection.close();
        listener.close();
    }

    @Test
    void aPeerOfIwarpThatLeavesBeforeItIsReadyIsUnreachable() throws Exception {
        CmListener listener = listen(machine.iwarp, Machine.IWARP);
        FakeCm.Id id = ask(machine.newest(), Machine.IWARP);
        CmConnection connection = next().request();
        connection.accept(Machine.parameters(), 1);

        machine.cm.post(id, EventType.DISCONNECTED, 0);

        assertThat(heard.next()).isEqualTo("unreachable ECONNRESET");
        connection.close();
        listener.close();
    }

    @Test
    void moreThanTheBacklogAllowsIsRejected() throws Exception {
        CmListener listener = listen(machine.roce, Machine.ROCE);
        FakeCm.Id listening = machine.newest();
        ask(listening, Machine.ROCE);
        CmConnection first = next().request();
        ask(listening, Machine.ROCE);
        CmConnection second = next().request();

        awaitGone(ask(listening, Machine.ROCE));

        first.accept(Machine.parameters(), 1);
        ask(listening, Machine.ROCE);
        next().request().close();
        first.close();
        second.close();
        listener.close();
    }

    @Test
    void aWildcardListenerSaysByWhichDeviceARequestCame() throws Exception {
        CmListener listener = listen(machine.roce, null);
        assertThat(machine.cm.ids()).hasSize(2)
                .allSatisfy(each -> assertThat(each.isOfOwnVersionOnly).isTrue())
                .allSatisfy(each -> assertThat(each.backlog).isEqualTo(2))
                .extracting(each -> Native.getShort(each.structure, 32))
                .containsExactly(SocketAddresses.IPV6, SocketAddresses.IPV4);
        ask(machine.newest(), Machine.IWARP);
        Asked request = next();

        assertThat(request.via()).isSameAs(machine.iwarp);
        assertThat(machine.iwarp.requested).containsExactly(CALLER);
        assertThat(machine.roce.requested).isEmpty();
        assertThat(request.request().bringUp(Machine.parameters(), CmOptions.DEFAULT).states())
                .isEmpty();
        listener.close();
        machine.roce.close();
        request.request().accept(Machine.parameters(), 1);
        request.request().close();
    }

    @Test
    void aWildcardPortIsOneForBothIpVersions() throws Exception {
        InetSocketAddress any = new InetSocketAddress(18515);
        PortReservation port = machine.ports.reserve(PortSpace.TCP, any, false);
        assertThat(machine.cm.ids()).extracting(
                each -> SocketAddresses.read(each.structure, 32).getPort())
                .containsExactly(18515, 18515);
        assertErrno(Errno.EADDRINUSE, () -> machine.ports.reserve(PortSpace.TCP, any, false));
        assertThat(machine.cm.ids()).hasSize(2);
        port.release();
        assertThat(machine.cm.ids()).isEmpty();
    }

    @Test
    void aRequestByADeviceThatIsNotOpenIsRejected() throws Exception {
        CmListener listener = listen(machine.roce, null);
        machine.iwarp.close();

        awaitGone(ask(machine.newest(), Machine.IWARP));

        assertThat(asked).isEmpty();
        listener.close();
    }

    @Test
    void aRequestByADeviceThatTheIdDoesNotListenOnIsRejected() throws Exception {
        CmListener listener = machine.roce.listen(
                new ListenRequest(PortSpace.TCP, QueuePairType.RC, 18515, null, null, null, 5,
                        name -> name.equals("rxe0") ? machine.roce : null),
                this::onRequest);

        awaitGone(ask(machine.newest(), Machine.IWARP));
        ask(machine.newest(), Machine.ROCE);

        Asked heardOf = next();
        assertThat(heardOf.via()).isSameAs(machine.roce);
        heardOf.request().close();
        listener.close();
    }

    @Test
    void theOtherIpVersionIsRejected() throws Exception {
        CmListener listener = machine.roce.listen(
                new ListenRequest(PortSpace.TCP, QueuePairType.RC, 18515, null, null,
                        StandardProtocolFamily.INET6, 5, machine::named),
                this::onRequest);

        awaitGone(ask(machine.newest(), Machine.ROCE));

        assertThat(asked).isEmpty();
        listener.close();
    }

    @Test
    void requestsThatComeWhileTheListenerIsClosedAreDestroyed() throws Exception {
        for (int i = 0; i < 20; i++) {
            CmListener listener = listen(machine.roce, Machine.ROCE);
            FakeCm.Id listening = machine.newest();
            ask(listening, Machine.ROCE);
            ask(listening, Machine.ROCE);
            listener.close();
            listener.close();
            for (Asked each = asked.poll(); each != null; each = asked.poll()) {
                each.request().close();
            }
        }
        machine.roce.close();
        Wait.until("all requests are gone", () -> machine.cm.ids().isEmpty());
    }

    @Test
    void aPortThatAnotherProgramHasIsRefused() throws Exception {
        InetSocketAddress address = new InetSocketAddress(Machine.ROCE, 18515);
        PortReservation port = machine.ports.reserve(PortSpace.TCP, address, false);

        assertErrno(Errno.EADDRINUSE,
                () -> machine.ports.reserve(PortSpace.TCP, address, false));

        CmListener listener = machine.roce.listen(machine.listen(Machine.ROCE, port),
                this::onRequest);
        assertThat(machine.cm.ids()).hasSize(1);
        machine.ports.reserve(PortSpace.UDP, address, false).release();
        listener.close();
        port.release();
        machine.ports.reserve(PortSpace.TCP, address, false).release();
    }

    @Test
    void aPortThatAllShareIsGivenToAll() throws Exception {
        InetSocketAddress address = new InetSocketAddress(Machine.ROCE, 18515);
        PortReservation one = machine.ports.reserve(PortSpace.TCP, address, true);

        machine.ports.reserve(PortSpace.TCP, address, true).release();

        one.release();
        assertThat(machine.ports.hasOneWildcardListener()).isTrue();
    }

    @Test
    void aListenerForUnreliableConnectionsIsOfThatType() throws Exception {
        InetSocketAddress address = new InetSocketAddress(Machine.ROCE, 18515);
        PortReservation port = machine.ports.reserve(PortSpace.IB, address, false);
        CmListener listener = machine.roce.listen(new ListenRequest(PortSpace.IB,
                QueuePairType.UC, 18515, port, Machine.ROCE, null, 2, null), this::onRequest);
        FakeCm.Id id = machine.newest();
        assertThat(machine.cm.ids()).containsExactly(id);
        assertThat(id.space).isEqualTo(0x13f);
        assertThat(id.queuePairType).isEqualTo(3);
        assertThat(id.isSynchronous).isFalse();
        ask(id, Machine.ROCE);
        next().request().close();
        port.release();

        // At all addresses, of both IP versions.
        listener.close();
        CmListener everywhere = machine.roce.listen(new ListenRequest(PortSpace.IB,
                QueuePairType.UC, 18515, null, null, null, 2, machine::named), this::onRequest);
        assertThat(Native.getShort(machine.newest().structure, 32))
                .isEqualTo(SocketAddresses.IPV6);
        machine.cm.failNext(CmSymbol.MIGRATE_ID, Errno.EINVAL);
        assertErrno(Errno.EINVAL, () -> machine.roce.listen(new ListenRequest(PortSpace.IB,
                QueuePairType.UC, 18516, null, Machine.ROCE, null, 2, null), this::onRequest));
        assertThat(machine.cm.ids()).hasSize(1);
        everywhere.close();
    }

    @Test
    void whatTheKernelDoesNotConnectIsUnsupported() {
        assertErrno(Errno.EOPNOTSUPP,
                () -> machine.iwarp.listen(new ListenRequest(PortSpace.IB, QueuePairType.RC, 1,
                        null, null, null, 1, null), this::onRequest));
        for (OpenDevice each : List.of(machine.roce, machine.iwarp)) {
            assertErrno(Errno.EOPNOTSUPP,
                    () -> each.listen(new ListenRequest(PortSpace.TCP, QueuePairType.UC, 1, null,
                            null, null, 1, null), this::onRequest));
        }
    }

    @Test
    void aRouteNeedsAnAddressAndAPortThatIsUp() throws Exception {
        machine.roce.checkRoute(Machine.ROCE, Machine.PEER);
        assertErrno(Errno.ENETUNREACH,
                () -> machine.roce.checkRoute(Machine.IWARP, Machine.PEER));
        machine.roce.portState = PortState.DOWN;

        assertErrno(Errno.ENETUNREACH,
                () -> machine.roce.checkRoute(Machine.ROCE, Machine.PEER));
    }
}
