// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.ibcm;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.DatagramParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.connection.RejectReason;
import io.rdma4j.protocol.Capture;
import io.rdma4j.protocol.roce.wire.PacketView;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.QueuePairType;
import org.junit.jupiter.api.Test;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

import static org.assertj.core.api.Assertions.assertThat;

/** Connection manager messages that Linux sent are understood, and written again byte for byte. */
class GoldenMessageTest {
    @Test
    void everyMessageIsReadAndWrittenAgainWithTheSameBytes() {
        Set<String> kinds = new TreeSet<>();
        int count = 0;
        for (String capture : Capture.ALL) {
            for (byte[] mad : mads(capture)) {
                CmMessage.Received received = CmMessage.decode(ByteBuffer.wrap(mad));
                assertThat(received).isNotNull();
                ByteBuffer again = ByteBuffer.allocate(Mad.LENGTH);
                CmMessage.encode(received.transaction(), received.message(), again);
                assertThat(again.array()).as(capture).isEqualTo(mad);
                kinds.add(received.message().getClass().getSimpleName());
                count++;
            }
        }
        assertThat(count).isGreaterThan(20);
        assertThat(kinds).contains("Request", "Reply", "ReadyToUse", "Reject", "DisconnectRequest",
                "DisconnectReply", "ServiceRequest", "ServiceReply");
    }

    @Test
    void theRequestOfRpingHasTheFieldsThatLinuxGaveIt() {
        CmMessage.Received received = CmMessage
                .decode(ByteBuffer.wrap(mads("rxe-rping").getFirst()));
        assertThat(received).isNotNull();
        CmMessage.Request request = (CmMessage.Request) received.message();
        assertThat(request.serviceId()).isEqualTo(0x0106_1c06L);
        assertThat(request.queuePair()).isEqualTo(0x13);
        assertThat(request.startingPsn()).isEqualTo(0x35a9f7);
        assertThat(request.pathMtu()).isEqualTo(5);
        assertThat(request.retryCount()).isEqualTo(7);
        assertThat(request.rnrRetryCount()).isEqualTo(7);
        assertThat(request.maxRetries()).isEqualTo(15);
        assertThat(request.primary().ackTimeoutExponent()).isEqualTo(19);
        IpHeader ip = IpHeader.decode(request.privateData().bytes());
        assertThat(ip).isNotNull();
        assertThat(ip.sourcePort()).isEqualTo(0x98a9);
        assertThat(ip.source().address().getHostAddress()).isEqualTo("10.77.0.12");
        assertThat(ip.destination().address().getHostAddress()).isEqualTo("10.77.0.11");
    }

    @Test
    void theRefusalWhereNobodyListensGivesItsReason() {
        CmMessage.Received received = CmMessage
                .decode(ByteBuffer.wrap(mads("rxe-connect-rejected").getLast()));
        assertThat(received).isNotNull();
        CmMessage.Reject reject = (CmMessage.Reject) received.message();
        assertThat(reject.reason()).isEqualTo(RejectReason.INVALID_SERVICE_ID.code());
        assertThat(reject.rejected()).isEqualTo(CmMessage.Reject.OF_REQUEST);
        assertThat(reject.senderId()).isZero();
    }

    @Test
    void theLookUpOfUdaddyHasTheFieldsThatLinuxGaveIt() {
        List<byte[]> mads = mads("rxe-udaddy");
        CmMessage.Received asked = CmMessage.decode(ByteBuffer.wrap(mads.getFirst()));
        assertThat(asked).isNotNull();
        CmMessage.ServiceRequest request = (CmMessage.ServiceRequest) asked.message();
        assertThat(request.serviceId())
                .isEqualTo(ListenSpec.serviceId(PortSpace.UDP, 7174)).isEqualTo(0x0111_1c06L);
        assertThat(request.pkey()).isEqualTo(0xffff);
        IpHeader ip = IpHeader.decode(request.privateData().bytes());
        assertThat(ip).isNotNull();
        assertThat(ip.sourcePort()).isEqualTo(0xdf22);
        assertThat(ip.source().address().getHostAddress()).isEqualTo("10.77.0.12");
        assertThat(ip.destination().address().getHostAddress()).isEqualTo("10.77.0.11");

        CmMessage.Received answered = CmMessage.decode(ByteBuffer.wrap(mads.get(2)));
        assertThat(answered).isNotNull();
        assertThat(answered.transaction()).isEqualTo(asked.transaction());
        CmMessage.ServiceReply reply = (CmMessage.ServiceReply) answered.message();
        assertThat(reply.requestId()).isEqualTo(request.requestId());
        assertThat(reply.status()).isZero();
        assertThat(reply.queuePair()).isEqualTo(0x1f);
        assertThat(reply.qkey()).isEqualTo(DatagramParameters.UDP_QKEY);
        assertThat(reply.serviceId()).isEqualTo(request.serviceId());
    }

    @Test
    void aLookUpOfOursHasTheBytesOfLinux() {
        byte[] linux = mads("rxe-udaddy").getFirst();
        CmMessage.Received asked = CmMessage.decode(ByteBuffer.wrap(linux));
        assertThat(asked).isNotNull();
        int requestId = ((CmMessage.ServiceRequest) asked.message()).requestId();
        IbConnectionManager manager = new IbConnectionManager(CmSettings.defaults(1),
                () -> requestId - 1);
        CmPeer peer = new CmPeer(new Gid(0, 0xffff_0a4d_000cL), new Gid(0, 0xffff_0a4d_000bL));
        manager.lookUp(
                new ConnectSpec(peer, PortSpace.UDP, QueuePairType.UD, 0xdf22, 7174,
                        new ConnectionParameters(), 0, Mtu.MTU_4096, 0, null),
                new CmPair.Silence(), 0);
        ByteBuffer ours = ByteBuffer.allocate(Mad.LENGTH);
        manager.pollTransmit(ours);
        assertThat(ours.putLong(8, asked.transaction()).array()).isEqualTo(linux);
    }

    private static List<byte[]> mads(String capture) {
        List<byte[]> mads = new ArrayList<>();
        for (Capture.Packet packet : Capture.packets(capture)) {
            PacketView view = new PacketView();
            MemorySegment bytes = packet.payload();
            assertThat(view.wrap(bytes, 0, (int) bytes.byteSize())).isNull();
            if (view.opcode().hasDatagram()
                    && view.destinationQueuePairNumber() == IbConnectionManager.QUEUE_PAIR) {
                assertThat(view.qkey()).isEqualTo(IbConnectionManager.QKEY);
                mads.add(bytes.asSlice(view.payloadStart(), view.payloadLength())
                        .toArray(ValueLayout.JAVA_BYTE));
            }
        }
        return mads;
    }
}
