// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.cm;

import io.rdma4j.connection.DatagramParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.ibverbs.abi.CmLayout.CmEvent;
import io.rdma4j.ibverbs.abi.CmSymbol;
import io.rdma4j.ibverbs.abi.Layout.AddressHandleAttr;
import io.rdma4j.ibverbs.abi.Layout.QueuePairAttr;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.ibverbs.values.QueuePairValues;
import io.rdma4j.spi.CmDatagrams;
import io.rdma4j.spi.CmListener;
import io.rdma4j.spi.CmLookup;
import io.rdma4j.spi.CmLookupRequest;
import io.rdma4j.spi.CmOptions;
import io.rdma4j.spi.ConnectRequest;
import io.rdma4j.spi.ListenRequest;
import io.rdma4j.spi.QueuePairBringUp;
import io.rdma4j.spi.Refusal;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.LinkLayer;
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
import java.net.InetSocketAddress;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@Timeout(60)
class DatagramServicesTest {
    private static final InetSocketAddress CALLER = new InetSocketAddress(Machine.PEER, 41000);

    private final Machine machine;
    private final CmDatagrams datagrams;
    private final BlockingQueue<Object> words = new LinkedBlockingQueue<>();
    private final CmLookup.Handler heard = new CmLookup.Handler() {
        @Override
        public void onService(DatagramParameters service) {
            words.add(service);
        }

        @Override
        public void onRefused(Refusal refusal) {
            words.add(refusal.text());
        }

        @Override
        public void onUnreachable(Errno reason) {
            words.add(reason);
        }

        @Override
        public void onUnknownEvent(int typeCode, int status) {
            words.add(typeCode + " " + status);
        }
    };

    DatagramServicesTest() throws RdmaException {
        machine = new Machine();
        CmDatagrams found = machine.roce.datagramServices();
        if (found == null) {
            throw new AssertionError("RoCE has datagrams");
        }
        datagrams = found;
    }

    @AfterEach
    void nothingIsLeft() {
        machine.close();
    }

    private CmLookup lookUp() throws RdmaException {
        CmLookup lookup = datagrams.lookUp(new ConnectRequest(PortSpace.UDP, QueuePairType.UD,
                new InetSocketAddress(Machine.ROCE, 40000), null, Machine.THERE,
                Machine.parameters(), Machine.QUEUE_PAIR, CmOptions.DEFAULT), heard);
        machine.await(CmSymbol.CONNECT, 1);
        return lookup;
    }

    private Object next() throws InterruptedException {
        Object word = words.poll(20, TimeUnit.SECONDS);
        if (word == null) {
            throw new AssertionError("nothing was heard");
        }
        return word;
    }

    private static void assertErrno(Errno errno, ThrowingCallable call) {
        assertThatExceptionOfType(RdmaException.class).isThrownBy(call)
                .satisfies(e -> assertThat(e.errno()).isEqualTo(errno));
    }

    @Test
    void eventThatThisVersionDoesNotKnowIsToldWithItsNumber() throws Exception {
        CmLookup lookup = lookUp();
        machine.cm.postUnknown(machine.newest(), 99, 7);
        assertThat(next()).isEqualTo("99 7");
        lookup.close();
    }

    /** An interface of InfiniBand belongs to a partition, which need not be the first of the port. */
    @Test
    void aQueuePairIsBroughtUpInThePartitionOfItsAddress() throws Exception {
        QueuePairBringUp bringUp = datagrams.bringUp(Machine.ROCE, 7);
        assertThat(bringUp.attributes(QueuePairState.INIT).pkeyIndex()).isZero();
        assertThat(machine.cm.count(CmSymbol.INIT_QP_ATTR)).isZero();

        machine.roce.linkLayer = LinkLayer.INFINIBAND;
        MemorySegment ofKernel = machine.cm
                .attributes(QueuePairValues.mask(QueuePairAttribute.PKEY_INDEX));
        Native.putShort(ofKernel, QueuePairAttr.PKEY_INDEX, 5);
        QueuePairAttributes attributes = bringUp.attributes(QueuePairState.INIT);
        assertThat(attributes.pkeyIndex()).isEqualTo(5);
        assertThat(attributes.qkey()).isEqualTo(7);
        bringUp.attributes(QueuePairState.RTR);
        assertThat(machine.cm.count(CmSymbol.INIT_QP_ATTR)).isOne();
        assertThat(machine.cm.ids()).isEmpty();
    }

    @Test
    void aServiceIsFoundWithItsPath() throws Exception {
        CmLookup lookup = lookUp();
        FakeCm.Id id = machine.newest();
        MemorySegment event = machine.cm.event(id, EventType.ESTABLISHED, 0);
        MemorySegment.copy(Gid.of(Machine.PEER).bytes(), 0, event, JAVA_BYTE,
                CmEvent.UD_AH_ATTR + AddressHandleAttr.DGID, 16);
        Native.putByte(event, CmEvent.UD_AH_ATTR + AddressHandleAttr.SGID_INDEX, 3);
        Native.putByte(event, CmEvent.UD_AH_ATTR + AddressHandleAttr.HOP_LIMIT, 64);
        Native.putByte(event, CmEvent.UD_AH_ATTR + AddressHandleAttr.TRAFFIC_CLASS, 32);
        Native.putByte(event, CmEvent.UD_AH_ATTR + AddressHandleAttr.IS_GLOBAL, 1);
        Native.putByte(event, CmEvent.UD_AH_ATTR + AddressHandleAttr.PORT_NUM, 1);
        Native.putInt(event, CmEvent.UD_QP_NUM, 0x42);
        Native.putInt(event, CmEvent.UD_QKEY, DatagramParameters.UDP_QKEY);
        machine.cm.data(event, (byte) 6);
        machine.cm.post(event);

        assertThat(next()).isInstanceOfSatisfying(DatagramParameters.class, service -> {
            assertThat(service.path()).isEqualTo(AddressHandleAttributes
                    .to(Gid.of(Machine.PEER), 3).withTrafficClass(32));
            assertThat(service.queuePairNumber()).isEqualTo(0x42);
            assertThat(service.qkey()).isEqualTo(DatagramParameters.UDP_QKEY);
            assertThat(service.privateData()).containsExactly(6);
        });
        assertThat(id.space).isEqualTo(0x111);
        assertThat(id.params).containsExactly(Machine.param());
        lookup.close();
        lookup.close();
    }

    @Test
    void aServiceThatSaysNoIsNotSilent() throws Exception {
        CmLookup lookup = lookUp();
        machine.cm.post(machine.newest(), EventType.UNREACHABLE, 2);

        assertThat(next()).isEqualTo("rejected by the service");
        lookup.close();
    }

    @Test
    void whoDoesNotAnswerIsUnreachable() throws Exception {
        CmLookup lookup = lookUp();
        machine.cm.post(machine.newest(), EventType.UNREACHABLE, -110);

        assertThat(next()).isEqualTo(Errno.ETIMEDOUT);
        lookup.close();
    }

    @Test
    void aLookUpIsAnsweredOnce() throws Exception {
        BlockingQueue<CmLookupRequest> asked = new LinkedBlockingQueue<>();
        CmListener listener = datagrams.listen(
                new ListenRequest(PortSpace.UDP, QueuePairType.UD, 18515, null, Machine.ROCE, null,
                        4, null),
                (via, request, local, peer, privateData) -> {
                    assertThat(peer).isEqualTo(CALLER);
                    asked.add(request);
                });
        FakeCm.Id listening = machine.newest();
        FakeCm.Id id = machine.cm.request(listening,
                new InetSocketAddress(Machine.ROCE, 18515), CALLER);
        machine.cm.post(machine.cm.requestEvent(listening, id));
        CmLookupRequest request = asked.poll(20, TimeUnit.SECONDS);
        if (request == null) {
            throw new AssertionError("no look-up has come");
        }
        assertErrno(Errno.EOPNOTSUPP, () -> request.accept(7, 0x11, new byte[0]));

        request.accept(7, DatagramParameters.UDP_QKEY, new byte[]{3});

        assertThat(id.privateData).containsExactly(new byte[]{3});
        assertThat(Native.getInt(MemorySegment.ofArray(id.params.getFirst()), 8)).isEqualTo(7);
        assertErrno(Errno.EINVAL, () -> request.reject(new byte[0]));
        request.close();
        assertThat(machine.cm.count(CmSymbol.REJECT)).isZero();
        listener.close();
    }
}
