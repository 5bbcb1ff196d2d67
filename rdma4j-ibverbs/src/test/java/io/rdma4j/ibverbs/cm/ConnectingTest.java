// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.cm;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.connection.RejectReason;
import io.rdma4j.ibverbs.abi.CmLayout.CmEvent;
import io.rdma4j.ibverbs.abi.CmSymbol;
import io.rdma4j.ibverbs.abi.Layout.QueuePairAttr;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.ibverbs.abi.SystemSymbol;
import io.rdma4j.ibverbs.cm.Machine.Heard;
import io.rdma4j.spi.CmConnection;
import io.rdma4j.spi.CmContext;
import io.rdma4j.spi.CmOptions;
import io.rdma4j.spi.PortReservation;
import io.rdma4j.spi.QueuePairBringUp;
import io.rdma4j.spi.Refusal;
import io.rdma4j.testkit.Wait;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePairAttribute;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@Timeout(60)
class ConnectingTest {
    private static final int STATE_AND_READS = 1 | 1 << 9 | 1 << 13 | 1 << 17 | 1 << 21;

    private final Machine machine;
    private final Heard heard = new Heard();

    ConnectingTest() throws RdmaException {
        machine = new Machine();
    }

    @AfterEach
    void nothingIsLeft() {
        machine.close();
    }

    private CmConnection connect(InetAddress source) throws RdmaException {
        CmConnection connection = source.equals(Machine.ROCE)
                ? machine.roce.connect(Machine.request(source, null), heard)
                : machine.iwarp.connect(Machine.request(source, null), heard);
        machine.await(CmSymbol.CONNECT, 1);
        return connection;
    }

    private static void assertErrno(Errno errno,
            ThrowingCallable call) {
        assertThatExceptionOfType(RdmaException.class).isThrownBy(call)
                .satisfies(e -> assertThat(e.errno()).isEqualTo(errno));
    }

    private CmConnection established() throws Exception {
        CmConnection connection = connect(Machine.ROCE);
        machine.cm.post(machine.newest(), EventType.CONNECT_RESPONSE, 0);
        assertThat(heard.next()).isEqualTo("reply");
        connection.establish();
        return connection;
    }

    @Test
    void theChannelDoesNotBlock() {
        long flags = machine.cm.system.get(SystemSymbol.FCNTL)
                .call(machine.cm.descriptor(), 3, 0).value();

        assertThat(flags & 0x800).isNotZero();
    }

    @Test
    void roceConnectsInTheOrderOfTheLibrary() throws Exception {
        CmConnection connection = connect(Machine.ROCE);
        FakeCm.Id id = machine.newest();
        MemorySegment reply = machine.cm.event(id, EventType.CONNECT_RESPONSE, 0);
        Native.putByte(reply, CmEvent.RESPONDER_RESOURCES, 2);
        Native.putByte(reply, CmEvent.INITIATOR_DEPTH, 3);
        Native.putInt(reply, CmEvent.QP_NUM, 0x123456);
        machine.cm.data(reply, (byte) 9, (byte) 8);
        machine.cm.post(reply);

        assertThat(heard.next()).isEqualTo("reply");
        assertThat(heard.replied).isSameAs(connection);
        ConnectionParameters granted = heard.granted;
        assertThat(granted).isNotNull();
        assertThat(granted.privateData()).containsExactly(9, 8);
        assertThat(granted.responderResources()).isEqualTo(2);
        assertThat(granted.initiatorDepth()).isEqualTo(3);
        assertThat(granted.queuePairNumber()).isEqualTo(0x123456);
        connection.establish();
        connection.disconnect();
        machine.cm.post(id, EventType.DISCONNECTED, 0);
        assertThat(heard.next()).isEqualTo("disconnected");
        machine.cm.post(id, EventType.TIMEWAIT_EXIT, 0);
        assertThat(heard.next()).isEqualTo("time-wait over");
        connection.close();
        assertThat(id.params).containsExactly(Machine.param());
        assertThat(id.privateData).containsExactly(new byte[]{1, 2, 3});
        assertThat(machine.cm.calls()).containsExactly("rdma_create_event_channel",
                "rdma_create_id", "rdma_bind_addr", "rdma_resolve_addr", "rdma_resolve_route",
                "rdma_connect", "rdma_establish", "rdma_disconnect", "rdma_destroy_id");
    }

    /** Its number is newer than this, and it changes nothing. */
    @Test
    void eventThatThisVersionDoesNotKnowIsToldWithItsNumber() throws Exception {
        CmConnection connection = connect(Machine.ROCE);
        FakeCm.Id id = machine.newest();
        machine.cm.postUnknown(id, 99, 7);
        assertThat(heard.next()).isEqualTo("event 99 with status 7");
        machine.cm.postUnknown(id, -1, -110);
        assertThat(heard.next()).isEqualTo("event -1 with status -110");
        machine.cm.post(id, EventType.CONNECT_RESPONSE, 0);
        assertThat(heard.next()).isEqualTo("reply");
        connection.establish();
        machine.cm.postUnknown(id, Integer.MAX_VALUE, 0);
        assertThat(heard.next()).isEqualTo("event 2147483647 with status 0");
        connection.close();
    }

    @Test
    void eventOfIwarpThatThisVersionDoesNotKnowIsToldWithItsNumber() throws Exception {
        CmConnection connection = connect(Machine.IWARP);
        machine.cm.postUnknown(machine.newest(), 99, 7);
        assertThat(heard.next()).isEqualTo("event 99 with status 7");
        connection.close();
    }

    @Test
    void attributesAreWhatBothSidesAgreedOn() throws Exception {
        CmConnection connection = connect(Machine.ROCE);
        QueuePairBringUp bringUp = connection.bringUp(Machine.parameters(),
                new CmOptions(0, 11, null));
        assertErrno(Errno.EINVAL, () -> bringUp.attributes(QueuePairState.RTR));
        machine.cm.post(machine.newest(), EventType.CONNECT_RESPONSE, 0);
        assertThat(heard.next()).isEqualTo("reply");
        MemorySegment kernels = machine.cm.attributes(STATE_AND_READS);
        Native.putByte(kernels, QueuePairAttr.MAX_DEST_RD_ATOMIC, 9);
        Native.putByte(kernels, QueuePairAttr.MAX_RD_ATOMIC, 3);
        Native.putByte(kernels, QueuePairAttr.TIMEOUT, 18);

        QueuePairAttributes attributes = bringUp.attributes(QueuePairState.RTR);

        assertThat(attributes.mask()).containsExactlyInAnyOrder(QueuePairAttribute.STATE,
                QueuePairAttribute.TIMEOUT, QueuePairAttribute.MAX_READ_ATOMIC,
                QueuePairAttribute.MAX_DESTINATION_READ_ATOMIC);
        assertThat(attributes.state()).isEqualTo(QueuePairState.RTR);
        assertThat(attributes.maxDestinationReadAtomic()).isEqualTo(4);
        assertThat(attributes.maxReadAtomic()).isEqualTo(3);
        assertThat(attributes.ackTimeoutExponent()).isEqualTo(11);
        assertThat(bringUp.states()).containsExactly(QueuePairState.INIT, QueuePairState.RTR,
                QueuePairState.RTS);
        connection.close();
    }

    @Test
    void iwarpIsEstablishedWhenThePeerAccepts() throws Exception {
        CmConnection connection = connect(Machine.IWARP);
        FakeCm.Id id = machine.newest();
        machine.cm.post(id, EventType.ESTABLISHED, 0);
        assertThat(heard.next()).isEqualTo("established");
        assertThat(heard.granted).isNotNull();
        assertErrno(Errno.EINVAL, connection::establish);
        assertThat(connection.bringUp(Machine.parameters(), CmOptions.DEFAULT).states())
                .isEmpty();

        machine.cm.post(id, EventType.DISCONNECTED, 0);

        assertThat(heard.next()).isEqualTo("disconnected");
        assertThat(heard.next()).isEqualTo("time-wait over");
        connection.close();
    }

    @Test
    void aRefusalThatTheCallReportsComesAsAnyOther() throws Exception {
        machine.cm.failNext(CmSymbol.CONNECT, Errno.ECONNREFUSED);
        CmConnection connection = connect(Machine.IWARP);

        assertThat(heard.next()).isEqualTo("refused -111");
        assertThat(Objects.requireNonNull(heard.refusal).text())
                .isEqualTo("no process listens at that port of that address");
        connection.close();
    }

    @Test
    void closingDoesNotWaitForAConnectionOfTcp() throws Exception {
        CountDownLatch isConnecting = new CountDownLatch(1);
        CountDownLatch mayReturn = new CountDownLatch(1);
        machine.cm.whileConnecting(() -> {
            isConnecting.countDown();
            try {
                assertThat(mayReturn.await(20, TimeUnit.SECONDS)).isTrue();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        CmConnection connection = connect(Machine.IWARP);
        assertThat(isConnecting.await(20, TimeUnit.SECONDS)).isTrue();

        connection.close();

        assertThat(machine.cm.count(CmSymbol.DESTROY_ID)).isZero();
        mayReturn.countDown();
        machine.await(CmSymbol.DESTROY_ID, 1);
    }

    @Test
    void aRefusalSaysWhyAndWhatThePeerSent() throws Exception {
        CmConnection connection = connect(Machine.ROCE);
        MemorySegment no = machine.cm.event(machine.newest(), EventType.REJECTED, 28);
        machine.cm.data(no, (byte) 7);
        machine.cm.post(no);

        assertThat(heard.next()).isEqualTo("refused 28");
        Refusal refusal = heard.refusal;
        assertThat(refusal).isNotNull();
        assertThat(refusal.text()).isEqualTo("consumer defined");
        assertThat(refusal.isByNobody()).isFalse();
        assertThat(refusal.privateData()).containsExactly(7);
        assertErrno(Errno.ECONNRESET, connection::establish);
        connection.close();
    }

    @Test
    void aRefusalTellsThatNoProgramListens() throws Exception {
        CmConnection connection = connect(Machine.ROCE);
        machine.cm.post(machine.newest(), EventType.REJECTED,
                RejectReason.INVALID_SERVICE_ID.code());

        assertThat(heard.next()).isEqualTo("refused 8");
        Refusal refusal = heard.refusal;
        assertThat(refusal).isNotNull();
        assertThat(refusal.isByNobody()).isTrue();
        connection.close();
    }

    @Test
    void whoDoesNotAnswerIsUnreachable() throws Exception {
        CmConnection connection = connect(Machine.ROCE);
        machine.cm.post(machine.newest(), EventType.UNREACHABLE, -110);

        assertThat(heard.next()).isEqualTo("unreachable ETIMEDOUT");
        connection.close();
    }

    @Test
    void aStepThatFailsMakesThePeerUnreachable() throws Exception {
        machine.cm.failNext(CmSymbol.RESOLVE_ROUTE, Errno.ENETUNREACH);
        CmConnection connection = machine.roce.connect(Machine.request(Machine.ROCE, null), heard);

        assertThat(heard.next()).isEqualTo("unreachable ENETUNREACH");
        connection.close();
    }

    @Test
    void anAddressOfAnotherDeviceIsRefused() {
        assertErrno(Errno.EADDRNOTAVAIL,
                () -> machine.roce.connect(Machine.request(Machine.IWARP, null), heard));
    }

    @Test
    void theFirstStepThatFailsIsReportedByTheCall() {
        machine.cm.failNext(CmSymbol.RESOLVE_ADDR, Errno.ENETUNREACH);

        assertErrno(Errno.ENETUNREACH,
                () -> machine.roce.connect(Machine.request(Machine.ROCE, null), heard));
    }

    @Test
    void thePeersGoodbyeIsAnswered() throws Exception {
        CmConnection connection = established();

        machine.cm.post(machine.newest(), EventType.DISCONNECTED, 0);

        assertThat(heard.next()).isEqualTo("disconnected");
        assertThat(machine.cm.count(CmSymbol.DISCONNECT)).isEqualTo(1);
        connection.close();
    }

    @Test
    void closingEndsAnEstablishedConnectionOnce() throws Exception {
        CmConnection connection = established();

        connection.close();
        connection.close();

        assertThat(machine.cm.count(CmSymbol.DISCONNECT)).isEqualTo(1);
        assertThat(machine.cm.count(CmSymbol.DESTROY_ID)).isEqualTo(1);
        assertErrno(Errno.EINVAL, connection::disconnect);
        assertErrno(Errno.EINVAL, connection::establish);
    }

    @Test
    void anIdMayBeDestroyedWhileEventsOfItArePending() throws Exception {
        for (int i = 0; i < 50; i++) {
            CmConnection connection = machine.roce
                    .connect(Machine.request(Machine.ROCE, null), heard);
            machine.cm.post(machine.newest(), EventType.UNREACHABLE, -110);
            connection.close();
        }
        assertThat(machine.cm.faults()).isEmpty();
        assertThat(machine.cm.ids()).isEmpty();
    }

    @Test
    void aConnectionGoesOnWithTheIdThatHoldsItsPort() throws Exception {
        PortReservation port = machine.ports.reserve(PortSpace.TCP,
                new InetSocketAddress(Machine.ROCE, 40000), false);
        CmConnection connection = machine.roce.connect(Machine.request(Machine.ROCE, port), heard);
        machine.await(CmSymbol.CONNECT, 1);

        assertThat(machine.cm.ids()).hasSize(1);
        connection.close();
        port.release();
        port.release();
        assertThat(machine.cm.count(CmSymbol.DESTROY_ID)).isEqualTo(1);
    }

    @Test
    void watchersHearOfTheirDevice() throws Exception {
        BlockingQueue<String> words = new LinkedBlockingQueue<>();
        machine.roce.watch(new CmContext.Watcher() {
            @Override
            public void onAddressChanged(InetAddress address) {
                words.add("changed " + address.getHostAddress());
            }

            @Override
            public void onDeviceGone() {
                words.add("gone");
            }
        });
        CmConnection connection = established();
        machine.cm.post(machine.newest(), EventType.ADDR_CHANGE, 0);
        machine.cm.post(machine.newest(), EventType.DEVICE_REMOVAL, 0);

        assertThat(words.poll(20, TimeUnit.SECONDS)).isEqualTo("changed 10.0.0.1");
        assertThat(words.poll(20, TimeUnit.SECONDS)).isEqualTo("gone");
        connection.close();
    }

    @Test
    void closingTheDeviceEndsItsConnections() throws Exception {
        established();

        machine.roce.close();

        assertThat(machine.cm.count(CmSymbol.DISCONNECT)).isEqualTo(1);
        assertThat(machine.cm.ids()).isEmpty();
        assertErrno(Errno.EBADF,
                () -> machine.roce.connect(Machine.request(Machine.ROCE, null), heard));
    }

    // ---------------------------------------------------------------- what would end the JVM

    /** A call of the library with an id. */
    private interface IdCall {
        void with(NativeId id) throws RdmaException;
    }

    private static final List<IdCall> NEEDING_A_DEVICE = List.of(NativeId::resolveRoute,
            id -> id.connect(Machine.parameters(), 1),
            id -> id.connectSlowly(Machine.parameters(), 1),
            id -> id.accept(Machine.parameters(), 1),
            id -> id.reject(new byte[0]), NativeId::establish,
            NativeId::communicationEstablished, NativeId::disconnect,
            id -> id.attributes(QueuePairState.INIT),
            id -> id.joinGroup(InetAddress.ofLiteral("239.1.2.3"), false));
    private static final List<IdCall> NEEDING_AN_ID = List.of(NativeId::shareAddress,
            NativeId::ownVersionOnly, id -> id.typeOfService(1), id -> id.ackTimeoutExponent(1),
            id -> id.bind(Machine.THERE), id -> id.resolveAddress(Machine.THERE, 0),
            id -> id.listen(1), id -> id.local("look"), id -> id.peer("look"));

    /** The library looks into the device of an id without asking whether it has one. */
    @Test
    void anIdWithoutADeviceIsNotHandedToFunctionsThatLookIntoIt() throws Exception {
        NativeId id = machine.channel.create(PortSpace.TCP, "create id");
        List<String> before = machine.cm.calls();
        for (IdCall call : NEEDING_A_DEVICE) {
            assertErrno(Errno.EINVAL, () -> call.with(id));
        }
        assertThat(machine.cm.calls()).isEqualTo(before);
        id.destroy();
    }

    @Test
    void anIdThatIsDestroyedIsHandedToNoFunction() throws Exception {
        NativeId id = machine.channel.create(PortSpace.UDP, "create id");
        id.bind(new InetSocketAddress(Machine.ROCE, 0));
        id.destroy();
        List<String> before = machine.cm.calls();
        for (IdCall call : NEEDING_A_DEVICE) {
            assertErrno(Errno.EINVAL, () -> call.with(id));
        }
        for (IdCall call : NEEDING_AN_ID) {
            assertErrno(Errno.EINVAL, () -> call.with(id));
        }
        id.leaveGroup(InetAddress.ofLiteral("239.1.2.3"));
        id.destroy();
        assertThat(id.deviceName()).isNull();
        assertThat(machine.cm.calls()).isEqualTo(before);
    }

    private NativeId bound(int port) throws RdmaException {
        NativeId id = machine.channel.create(PortSpace.TCP, "create id");
        id.bind(new InetSocketAddress(Machine.ROCE, port));
        return id;
    }

    /** The fake library fails if it is handed one that is gone. */
    @Test
    void anIdThatAnotherThreadUsesIsNotReachedOnceItIsDestroyed() throws Exception {
        AtomicReference<NativeId> current = new AtomicReference<>(bound(1));
        AtomicBoolean isOver = new AtomicBoolean();
        AtomicLong uses = new AtomicLong();
        Thread using = Thread.ofPlatform().start(() -> {
            while (!isOver.get()) {
                NativeId id = Objects.requireNonNull(current.get());
                // Of a group memory would be left, if it was joined once more before the end.
                for (IdCall call : NEEDING_A_DEVICE.subList(0, NEEDING_A_DEVICE.size() - 1)) {
                    try {
                        call.with(id);
                    } catch (RdmaException closed) {
                        assertThat(closed.errno()).isEqualTo(Errno.EINVAL);
                    }
                }
                uses.incrementAndGet();
            }
        });
        try {
            for (int i = 2; i < 200; i++) {
                long before = uses.get();
                Objects.requireNonNull(current.getAndSet(bound(i))).destroy();
                Wait.until("it is used again", () -> uses.get() > before);
            }
        } finally {
            isOver.set(true);
            using.join();
        }
        Objects.requireNonNull(current.get()).destroy();
        assertThat(machine.cm.faults()).isEmpty();
        assertThat(machine.cm.ids()).isEmpty();
    }

    @Test
    void aClosedConnectionReachesTheLibraryNoMore() throws Exception {
        CmConnection connection = established();
        connection.close();
        List<String> before = machine.cm.calls();
        QueuePairBringUp bringUp = connection.bringUp(Machine.parameters(), CmOptions.DEFAULT);
        for (ThrowingCallable call : List.<ThrowingCallable>of(
                () -> connection.accept(Machine.parameters(), 1), connection::establish,
                connection::communicationEstablished, connection::disconnect,
                () -> connection.reject(new byte[0]),
                () -> bringUp.attributes(QueuePairState.INIT),
                () -> bringUp.attributes(QueuePairState.RTS))) {
            assertErrno(Errno.EINVAL, call);
        }
        connection.close();
        assertThat(machine.cm.calls()).isEqualTo(before);
    }

    @Test
    void nullPointersOfTheLibraryAreNotFollowed() throws Exception {
        CmConnection connection = established();
        machine.cm.giveNothing();
        assertErrno(Errno.EIO, () -> machine.channel.create(PortSpace.TCP, "create id"));
        assertErrno(Errno.EIO, () -> machine.channel.create(PortSpace.IB, QueuePairType.UC,
                new InetSocketAddress(Machine.ROCE, 0), "create id"));
        machine.cm.post(machine.newest(), EventType.DISCONNECTED, 0);
        assertThat(heard.next()).isEqualTo("disconnected");
        connection.close();
    }
}
