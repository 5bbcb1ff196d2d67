// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.cm;

import io.rdma4j.connection.DatagramParameters;
import io.rdma4j.ibverbs.abi.CmLayout.CmEvent;
import io.rdma4j.ibverbs.abi.CmSymbol;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.ibverbs.values.Paths;
import io.rdma4j.spi.CmDatagrams;
import io.rdma4j.spi.CmMembership;
import io.rdma4j.spi.JoinRequest;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.LinkLayer;
import io.rdma4j.verbs.RdmaException;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.util.HexFormat;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@Timeout(60)
class MembershipTest {
    private static final InetAddress GROUP = InetAddress.ofLiteral("239.1.2.3");
    private static final AddressHandleAttributes PATH = AddressHandleAttributes
            .to(Gid.of(GROUP), 1);
    /** As the subnet has a group of IPv4. */
    private static final AddressHandleAttributes OF_SUBNET = new AddressHandleAttributes(
            Gid.of(HexFormat.of().parseHex("ff12601bffff0000" + "000000000f010203")), 0, 0, 1, 3,
            0xc003, 2, 0, 0, true, 1);
    private static final int FULL_MEMBER = 0;
    private static final int SEND_ONLY = 1;

    private Machine machine = new Machine();
    private final BlockingQueue<Object> words = new LinkedBlockingQueue<>();
    private final CmMembership.Handler heard = new CmMembership.Handler() {
        @Override
        public void onJoined(AddressHandleAttributes path, @Nullable Integer qkey) {
            words.add(path);
            assertThat(qkey).isNull();
        }

        @Override
        public void onNotJoined(RdmaException cause) {
            words.add(cause);
        }

        @Override
        public void onUnknownEvent(int typeCode, int status) {
            words.add(typeCode + " " + status);
        }
    };

    MembershipTest() throws RdmaException {}

    @AfterEach
    void nothingIsLeft() {
        machine.close();
    }

    /** Goes on with an older library. */
    private void without(CmSymbol missing) throws RdmaException {
        machine.close();
        machine = new Machine(missing);
    }

    private CmMembership join(InetAddress local, boolean isSendOnly) throws RdmaException {
        CmDatagrams datagrams = machine.roce.datagramServices();
        assertThat(datagrams).isNotNull();
        return datagrams.join(new JoinRequest(GROUP, local, 8, isSendOnly), heard);
    }

    private CmMembership join() throws RdmaException {
        return join(Machine.ROCE, false);
    }

    private Object next() throws InterruptedException {
        Object word = words.poll(20, TimeUnit.SECONDS);
        assertThat(word).as("what a handler hears").isNotNull();
        return word == null ? "" : word;
    }

    private static void assertErrno(Errno errno, ThrowingCallable call) {
        assertThatExceptionOfType(RdmaException.class).isThrownBy(call)
                .satisfies(e -> assertThat(e.errno()).isEqualTo(errno));
    }

    @Test
    void eventThatThisVersionDoesNotKnowIsToldWithItsNumber() throws Exception {
        CmMembership membership = join();
        machine.cm.postUnknown(machine.newest(), 99, 7);
        assertThat(next()).isEqualTo("99 7");
        membership.close();
    }

    @Test
    void theKernelIsAskedAndSaysThePath() throws Exception {
        CmMembership membership = join();
        FakeCm.Id id = machine.newest();
        assertThat(id.space).isEqualTo(0x111);
        assertThat(id.groups).containsEntry(GROUP, FULL_MEMBER);
        assertThat(words).isEmpty();

        MemorySegment event = machine.cm.event(id, EventType.MULTICAST_JOIN, 0);
        Paths.write(event, CmEvent.UD_AH_ATTR, PATH);
        Native.putInt(event, CmEvent.UD_QP_NUM, DatagramParameters.MULTICAST_QUEUE_PAIR);
        Native.putInt(event, CmEvent.UD_QKEY, DatagramParameters.UDP_QKEY);
        machine.cm.post(event);

        assertThat(next()).isEqualTo(PATH.withTrafficClass(8));
        membership.close();
        assertThat(id.groups).isEmpty();
        membership.close();
        assertThat(machine.cm.count(CmSymbol.LEAVE_MULTICAST)).isEqualTo(1);
    }

    /** The subnet manager decides on it, and on the Q_Key. */
    @Test
    void aGroupOfInfinibandHasThePathThatTheKernelSays() throws Exception {
        machine.roce.linkLayer = LinkLayer.INFINIBAND;
        BlockingQueue<Integer> keys = new LinkedBlockingQueue<>();
        CmDatagrams datagrams = machine.roce.datagramServices();
        assertThat(datagrams).isNotNull();
        CmMembership membership = datagrams.join(new JoinRequest(GROUP, Machine.ROCE, 8, false),
                new CmMembership.Handler() {
                    @Override
                    public void onJoined(AddressHandleAttributes path, @Nullable Integer qkey) {
                        words.add(path);
                        keys.add(Objects.requireNonNull(qkey));
                    }

                    @Override
                    public void onNotJoined(RdmaException cause) {
                        words.add(cause);
                    }
                });
        assertThat(machine.roce.connections().groupLid(OF_SUBNET.destination(), 1)).isZero();
        MemorySegment event = machine.cm.event(machine.newest(), EventType.MULTICAST_JOIN, 0);
        Paths.write(event, CmEvent.UD_AH_ATTR, OF_SUBNET);
        Native.putInt(event, CmEvent.UD_QP_NUM, DatagramParameters.MULTICAST_QUEUE_PAIR);
        Native.putInt(event, CmEvent.UD_QKEY, 0x0b1b);
        machine.cm.post(event);

        assertThat(next()).isEqualTo(OF_SUBNET);
        assertThat(keys.poll(20, TimeUnit.SECONDS)).isEqualTo(0x0b1b);
        assertThat(machine.roce.connections().groupLid(OF_SUBNET.destination(), 1))
                .isEqualTo(0xc003);
        assertThat(machine.roce.connections().groupLid(OF_SUBNET.destination(), 2)).isZero();
        assertThat(machine.roce.connections().groupLid(PATH.destination(), 1)).isZero();
        membership.close();
        assertThat(machine.roce.connections().groupLid(OF_SUBNET.destination(), 1)).isZero();
    }

    @Test
    void whoOnlySendsIsNoReceiverForTheKernelEither() throws Exception {
        CmMembership membership = join(Machine.ROCE, true);
        assertThat(machine.newest().groups).containsEntry(GROUP, SEND_ONLY);
        membership.close();
    }

    @Test
    void anOldLibraryJoinsToReceive() throws Exception {
        without(CmSymbol.JOIN_MULTICAST_EX);
        CmMembership membership = join();
        assertThat(machine.cm.calls()).contains("rdma_join_multicast");
        assertThat(machine.newest().groups).containsOnlyKeys(GROUP);
        membership.close();
        assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> join(Machine.ROCE, true))
                .withMessageContaining("rdma_join_multicast_ex").satisfies(
                        e -> assertThat(e.errno()).isEqualTo(Errno.EOPNOTSUPP));
        assertThat(machine.cm.ids()).isEmpty();
    }

    @Test
    void whatTheKernelCannotJoinIsHeard() throws Exception {
        CmMembership membership = join();
        machine.cm.post(machine.newest(), EventType.MULTICAST_ERROR,
                -Errno.EADDRNOTAVAIL.number());
        assertThat(next()).isInstanceOfSatisfying(RdmaException.class, e -> {
            assertThat(e.errno()).isEqualTo(Errno.EADDRNOTAVAIL);
            assertThat(e).hasMessageContaining("239.1.2.3").hasMessageContaining("rxe0");
        });
        membership.close();
    }

    @Test
    void refusalOfTheCallLeavesNothing() {
        machine.cm.failNext(CmSymbol.JOIN_MULTICAST_EX, Errno.EOPNOTSUPP);
        assertErrno(Errno.EOPNOTSUPP, this::join);
        assertErrno(Errno.EADDRNOTAVAIL, () -> join(Machine.IWARP, false));
        assertErrno(Errno.ENODEV, () -> join(Machine.PEER, false));
        assertThat(machine.cm.ids()).isEmpty();
        assertThat(machine.cm.count(CmSymbol.LEAVE_MULTICAST)).isZero();
    }

    @Test
    void whoHasLeftHearsNothing() throws Exception {
        CmMembership left = join();
        FakeCm.Id id = machine.newest();
        left.close();
        machine.cm.post(id, EventType.MULTICAST_JOIN, 0);
        CmMembership other = join();
        machine.cm.post(machine.newest(), EventType.MULTICAST_ERROR, -5);
        assertThat(next()).isInstanceOf(RdmaException.class);
        assertThat(words).isEmpty();
        other.close();
    }

    @Test
    void membershipsEndWithTheDevice() throws Exception {
        join();
        machine.roce.close();
        assertThat(machine.cm.ids()).isEmpty();
        assertErrno(Errno.EBADF, this::join);
        assertThat(machine.iwarp.datagramServices()).isNull();
    }
}
