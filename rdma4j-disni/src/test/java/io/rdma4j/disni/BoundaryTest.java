// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.disni;

import com.ibm.disni.util.MemoryUtils;
import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvQPInitAttr;
import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.IbvSge;
import com.ibm.disni.verbs.IbvWC;
import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaEventChannel;
import com.ibm.disni.verbs.SVCPostSend;
import io.rdma4j.cm.CmEventType;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** Each structure that DiSNI and the native boundary exchange, in both directions. */
class BoundaryTest {
    private static final int SIZE = 4096;
    /** {@code IBV_WC_RECV}, which tells receives from sends. */
    private static final int RECEIVE = 128;
    private static final int RECEIVE_WITH_IMMEDIATE = 129;
    private static final int WITH_IMMEDIATE = 2;

    private Connection connection;
    private End client;
    private End server;
    private ByteBuffer ofClient;
    private ByteBuffer ofServer;
    private IbvMr clientRegion;
    private IbvMr serverRegion;

    @BeforeEach
    void connect() throws IOException {
        connection = new Connection();
        client = connection.client;
        server = connection.server;
        ofClient = ByteBuffer.allocateDirect(SIZE);
        ofServer = ByteBuffer.allocateDirect(SIZE);
        clientRegion = client.register(ofClient);
        serverRegion = server.register(ofServer);
    }

    @AfterEach
    void disconnect() throws Exception {
        clientRegion.deregMr().execute().free();
        serverRegion.deregMr().execute().free();
        connection.close();
    }

    private static IbvWC requireSuccess(IbvWC completion) {
        assertThat(WorkCompletionStatus.ofCode(completion.getStatus()))
                .isEqualTo(WorkCompletionStatus.SUCCESS);
        return completion;
    }

    private static void requireStatus(IbvWC completion, WorkCompletionStatus status) {
        assertThat(WorkCompletionStatus.ofCode(completion.getStatus())).isEqualTo(status);
    }

    private void put(ByteBuffer buffer, String text) {
        buffer.put(0, text.getBytes(StandardCharsets.US_ASCII));
    }

    private static String text(ByteBuffer buffer, int offset, int length) {
        byte[] bytes = new byte[length];
        buffer.get(offset, bytes);
        return new String(bytes, StandardCharsets.US_ASCII);
    }

    @Test
    void idsKnowBothAddresses() throws IOException {
        assertThat(connection.listener.getSource()).isEqualTo(Connection.ADDRESS);
        assertThat(server.id.getSource()).isEqualTo(Connection.ADDRESS);
        assertThat(client.id.getDestination()).isEqualTo(Connection.ADDRESS);
        assertThat(server.id.getDestination()).isEqualTo(client.id.getSource());
    }

    @Test
    void idWithoutAddressesHasNone() throws IOException {
        RdmaCmId id = connection.clientEvents.createId(RdmaCm.RDMA_PS_TCP);
        InetSocketAddress none = new InetSocketAddress("0.0.0.0", 0);
        assertThat(id.getSource()).isEqualTo(none);
        assertThat(id.getDestination()).isEqualTo(none);
        assertThat(connection.listener.getDestination()).isEqualTo(none);
        assertThat(id.destroyId()).isZero();
    }

    /** A peer in C reads the number that is big-endian on the wire; DiSNI has it as it lies in memory. */
    @Test
    void immediatesAreOnTheWireAsInC() throws IOException {
        server.receive(1, End.element(serverRegion, 0, SIZE));
        server.receive(2);
        IbvSendWR message = End.request(3, IbvSendWR.IBV_WR_SEND_WITH_IMM,
                End.element(clientRegion, 0, 4));
        message.setImm_data(Integer.reverseBytes(0x01020304));
        IbvSendWR write = End.to(End.request(4, IbvSendWR.IBV_WR_RDMA_WRITE_WITH_IMM,
                End.element(clientRegion, 0, 8)), serverRegion, 0);
        write.setImm_data(0x11223344);
        client.send(message, write);
        IbvWC received = requireSuccess(server.awaitCompletion());
        assertThat(received.getOpcode()).isEqualTo(RECEIVE);
        assertThat(received.getWc_flags() & WITH_IMMEDIATE).isNotZero();
        assertThat(received.getImm_data()).isEqualTo(0x04030201);
        assertThat(received.getByte_len()).isEqualTo(4);
        received = requireSuccess(server.awaitCompletion());
        assertThat(received.getWr_id()).isEqualTo(2);
        assertThat(received.getOpcode()).isEqualTo(RECEIVE_WITH_IMMEDIATE);
        assertThat(received.getImm_data()).isEqualTo(0x11223344);
        assertThat(received.getQp_num()).isEqualTo(server.queuePair.getQp_num());
    }

    @Test
    void listOfRequestsIsPostedInOrder() throws IOException {
        put(ofServer, "read this");
        put(ofClient, "one two three");
        client.send(
                End.to(End.request(1, IbvSendWR.IBV_WR_RDMA_WRITE,
                        End.element(clientRegion, 0, 4), End.element(clientRegion, 8, 5)),
                        serverRegion, 100),
                End.to(End.request(2, IbvSendWR.IBV_WR_RDMA_READ,
                        End.element(clientRegion, 200, 9)), serverRegion, 0),
                End.to(End.request(3, IbvSendWR.IBV_WR_RDMA_WRITE,
                        End.element(clientRegion, 4, 3)), serverRegion, 100));
        List<Integer> opcodes = new ArrayList<>();
        for (int id = 1; id <= 3; id++) {
            IbvWC completion = requireSuccess(client.awaitCompletion());
            assertThat(completion.getWr_id()).isEqualTo(id);
            opcodes.add(completion.getOpcode());
        }
        // WRITE is 1 and READ is 2 among completions.
        assertThat(opcodes).containsExactly(1, 2, 1);
        assertThat(text(ofClient, 200, 9)).isEqualTo("read this");
        assertThat(text(ofServer, 100, 9)).isEqualTo("two three");
    }

    @Test
    void elementsOfNoneAreAMessageWithoutBytes() throws IOException {
        server.receive(1);
        client.send(End.request(2, IbvSendWR.IBV_WR_SEND));
        assertThat(requireSuccess(server.awaitCompletion()).getByte_len()).isZero();
        requireSuccess(client.awaitCompletion());
    }

    @Test
    void fourElementsAreTheMost() throws IOException {
        server.receive(1, End.element(serverRegion, 0, SIZE));
        put(ofClient, "abcdefgh");
        client.send(End.request(1, IbvSendWR.IBV_WR_SEND, elements(4)));
        assertThat(requireSuccess(server.awaitCompletion()).getByte_len()).isEqualTo(4);
        assertThat(text(ofServer, 0, 4)).isEqualTo("aceg");
        assertThatIOException()
                .isThrownBy(
                        () -> client.send(End.request(1, IbvSendWR.IBV_WR_SEND, elements(5))))
                .withMessageContaining("EINVAL");
        assertThatIOException().isThrownBy(() -> client.receive(1, elements(5)))
                .withMessageContaining("EINVAL");
    }

    /** Every second byte. */
    private IbvSge[] elements(int count) {
        return IntStream.range(0, count).mapToObj(i -> End.element(clientRegion, 2 * i, 1))
                .toArray(IbvSge[]::new);
    }

    @Test
    void inlineDataIsAnyMemoryAndCopiedAtOnce() throws IOException {
        server.receive(1, End.element(serverRegion, 0, SIZE));
        ByteBuffer unregistered = ByteBuffer.allocateDirect(8);
        put(unregistered, "inline");
        IbvSge first = new IbvSge();
        first.setAddr(MemoryUtils.getAddress(unregistered));
        first.setLength(2);
        IbvSge second = new IbvSge();
        second.setAddr(MemoryUtils.getAddress(unregistered) + 2);
        second.setLength(4);
        IbvSendWR request = End.request(2, IbvSendWR.IBV_WR_SEND, first, second);
        request.setSend_flags(IbvSendWR.IBV_SEND_INLINE | IbvSendWR.IBV_SEND_SIGNALED);
        client.send(request);
        put(unregistered, "------");
        requireSuccess(server.awaitCompletion());
        assertThat(text(ofServer, 0, 6)).isEqualTo("inline");
        second.setLength(4096);
        assertThatIOException().isThrownBy(() -> client.send(request))
                .withMessageContaining("4098 bytes of inline data are more than the ");
    }

    @Test
    void requestIsReadAnewAtEachExecution() throws IOException {
        put(ofClient, "abcd");
        IbvSendWR request = End.to(
                End.request(1, IbvSendWR.IBV_WR_RDMA_WRITE, End.element(clientRegion, 0, 1)),
                serverRegion, 0);
        SVCPostSend post = client.queuePair.postSend(List.of(request), null);
        post.execute();
        requireSuccess(client.awaitCompletion());
        SVCPostSend.SendWRMod changed = post.getWrMod(0);
        changed.setWr_id(7);
        changed.getSgeMod(0).setAddr(clientRegion.getAddr() + 2);
        changed.getSgeMod(0).setLength(2);
        changed.getRdmaMod().setRemote_addr(serverRegion.getAddr() + 1);
        post.execute();
        assertThat(requireSuccess(client.awaitCompletion()).getWr_id()).isEqualTo(7);
        post.free();
        assertThat(text(ofServer, 0, 3)).isEqualTo("acd");
    }

    @Test
    void completionOfAFailureNamesItsQueuePair() throws IOException {
        IbvSendWR write = End.to(End.request(9, IbvSendWR.IBV_WR_RDMA_WRITE,
                End.element(clientRegion, 0, 8)), serverRegion, 0);
        write.getRdma().setRkey(serverRegion.getRkey() + 1);
        client.send(write);
        IbvWC failed = client.awaitCompletion();
        requireStatus(failed, WorkCompletionStatus.REMOTE_ACCESS_ERROR);
        assertThat(failed.getWr_id()).isEqualTo(9);
        assertThat(failed.getQp_num()).isEqualTo(client.queuePair.getQp_num());
    }

    @Test
    void wrongLocalKeyFailsTheRequest() throws IOException {
        IbvSge element = End.element(clientRegion, 0, 8);
        element.setLkey(clientRegion.getLkey() + 1);
        client.send(End.request(1, IbvSendWR.IBV_WR_SEND, element));
        requireStatus(client.awaitCompletion(), WorkCompletionStatus.LOCAL_PROTECTION_ERROR);
    }

    @Test
    void shortReceiveFailsBothEnds() throws IOException {
        server.receive(1, End.element(serverRegion, 0, 4));
        client.send(End.request(2, IbvSendWR.IBV_WR_SEND, End.element(clientRegion, 0, 8)));
        IbvWC received = server.awaitCompletion();
        requireStatus(received, WorkCompletionStatus.LOCAL_LENGTH_ERROR);
        assertThat(received.getOpcode()).isEqualTo(RECEIVE);
        requireStatus(client.awaitCompletion(),
                WorkCompletionStatus.REMOTE_INVALID_REQUEST_ERROR);
    }

    @Test
    void flushedReceivesAreReceives() throws IOException {
        client.receive(5, End.element(clientRegion, 0, 8));
        client.id.disconnect();
        IbvWC flushed = client.awaitCompletion();
        requireStatus(flushed, WorkCompletionStatus.WORK_REQUEST_FLUSHED);
        assertThat(flushed.getOpcode()).isEqualTo(RECEIVE);
        assertThat(flushed.getQp_num()).isEqualTo(client.queuePair.getQp_num());
    }

    @Test
    void droppedBufferStaysWhileItIsRegistered() throws IOException {
        IbvMr dropped = server.register(ByteBuffer.allocateDirect(1 << 20));
        for (int round = 0; round < 5; round++) {
            System.gc();
            // What is freed would be taken anew.
            server.register(ByteBuffer.allocateDirect(1 << 20)).deregMr().execute().free();
        }
        put(ofClient, "still there");
        client.send(
                End.to(End.request(1, IbvSendWR.IBV_WR_RDMA_WRITE,
                        End.element(clientRegion, 0, 11)), dropped, 1000),
                End.to(End.request(2, IbvSendWR.IBV_WR_RDMA_READ,
                        End.element(clientRegion, 100, 11)), dropped, 1000));
        requireSuccess(client.awaitCompletion());
        requireSuccess(client.awaitCompletion());
        assertThat(text(ofClient, 100, 11)).isEqualTo("still there");
        dropped.deregMr().execute().free();
    }

    @Test
    void completionEventsWakeAndNeedNoAcknowledgement() throws IOException {
        assertThat(server.channel.getCqEvent(server.queue, 0)).isFalse();
        server.queue.reqNotification(false).execute().free();
        server.receive(1);
        client.send(End.request(2, IbvSendWR.IBV_WR_SEND));
        assertThat(server.channel.getCqEvent(server.queue, 20_000)).isTrue();
        requireSuccess(server.awaitCompletion());
        // More than there were, as DiSNI's programs do.
        assertThat(server.queue.ackEvents(3)).isZero();
    }

    @Test
    void solicitedEventsWakeForWhatWasSentSo() throws IOException {
        server.queue.reqNotification(true).execute().free();
        server.receive(1);
        server.receive(2);
        client.send(End.request(3, IbvSendWR.IBV_WR_SEND));
        requireSuccess(server.awaitCompletion());
        assertThat(server.channel.getCqEvent(server.queue, 0)).isFalse();
        IbvSendWR solicited = End.request(4, IbvSendWR.IBV_WR_SEND);
        solicited.setSend_flags(IbvSendWR.IBV_SEND_SOLICITED);
        client.send(solicited);
        assertThat(server.channel.getCqEvent(server.queue, 20_000)).isTrue();
    }

    /** As {@code poll} of C, which no interruption of a thread ends. */
    @Test
    void interruptedThreadWaitsAsLongAsAnother() throws IOException {
        Thread.currentThread().interrupt();
        long startNs = System.nanoTime();
        assertThat(connection.clientEvents.getCmEvent(200)).isNull();
        assertThat(server.channel.getCqEvent(server.queue, 200)).isFalse();
        assertThat(System.nanoTime() - startNs).isGreaterThanOrEqualTo(400_000_000L);
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void peerHearsOfTheEnd() throws IOException {
        assertThat(client.id.disconnect()).isZero();
        RdmaCmEvent event = Connection.expect(connection.serverEvents,
                CmEventType.DISCONNECTED);
        assertThat(event.getConnIdPriv()).isSameAs(server.id);
        assertThat(event.getListenIdPriv()).isNull();
    }

    @Test
    void sameDeviceHasTheSameNumber() throws IOException {
        assertThat(client.id.getVerbs().getCmd_fd()).isNotNegative()
                .isEqualTo(server.id.getVerbs().getCmd_fd());
        assertThat(client.id.getVerbs().getNumCompVectors()).isPositive();
        assertThat(client.domain.getHandle()).isNotEqualTo(server.domain.getHandle());
    }

    /** DiSNI's examples publish the local key as the peer's. */
    @Test
    void regionsHaveOneKey() {
        assertThat(serverRegion.getRkey()).isEqualTo(serverRegion.getLkey());
    }

    // ---------------------------------------------------------------- what it cannot do

    @Test
    void atomicsAreRefused() {
        for (int opcode : new int[]{IbvSendWR.IBV_WR_ATOMIC_CMP_AND_SWP,
            IbvSendWR.IBV_WR_ATOMIC_FETCH_AND_ADD, -1}) {
            assertThatIOException()
                    .isThrownBy(() -> client.send(
                            End.request(1, opcode, End.element(clientRegion, 0, 8))))
                    .withMessageContaining("EOPNOTSUPP").withMessageContaining("use rdma4j-api");
        }
    }

    @Test
    void requestsBeforeARefusedOneArePosted() throws IOException {
        server.receive(1);
        assertThatIOException()
                .isThrownBy(() -> client.send(End.request(2, IbvSendWR.IBV_WR_SEND),
                        End.request(3, IbvSendWR.IBV_WR_ATOMIC_CMP_AND_SWP)));
        assertThat(requireSuccess(client.awaitCompletion()).getWr_id()).isEqualTo(2);
        requireSuccess(server.awaitCompletion());
    }

    @Test
    void otherTypesOfQueuePairsAreRefused() {
        IbvQPInitAttr attributes = new IbvQPInitAttr();
        attributes.setQp_type(IbvQP.IBV_QPT_UD);
        attributes.setSend_cq(server.queue);
        attributes.setRecv_cq(server.queue);
        assertThatIOException().isThrownBy(() -> server.id.createQP(server.domain, attributes))
                .withMessageContaining("reliable connections alone, which are type 2, not 4");
    }

    @Test
    void wildcardAddressHasNoDevice() throws IOException {
        RdmaCmId id = connection.serverEvents.createId(RdmaCm.RDMA_PS_TCP);
        id.bindAddr(new InetSocketAddress("0.0.0.0", 0));
        assertThatIOException().isThrownBy(id::getVerbs)
                .withMessageContaining("needs one address of this host");
        assertThat(id.destroyId()).isZero();
    }

    @Test
    void ipv6IsRefused() throws IOException {
        RdmaCmId id = connection.serverEvents.createId(RdmaCm.RDMA_PS_TCP);
        assertThatExceptionOfType(UnknownHostException.class)
                .isThrownBy(
                        () -> id.bindAddr(new InetSocketAddress(InetAddress.ofLiteral("::1"), 0)))
                .withMessageContaining("IPv4 alone, not 0:0:0:0:0:0:0:1");
        assertThat(id.destroyId()).isZero();
    }

    @Test
    void heapBuffersHaveNoAddress() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> server.register(ByteBuffer.allocate(8)))
                .withMessageContaining("use ByteBuffer.allocateDirect");
    }

    @Test
    void addressOfABufferIsThatOfItsFirstByte() {
        ByteBuffer moved = ofClient.duplicate().position(100).limit(200);
        assertThat(MemoryUtils.getAddress(moved)).isEqualTo(clientRegion.getAddr());
    }

    @Test
    void channelWithoutEventsSaysSoInTime() throws IOException {
        RdmaEventChannel channel = RdmaEventChannel.createEventChannel();
        assertThat(channel.getCmEvent(1)).isNull();
        assertThat(channel.destroyEventChannel()).isZero();
    }
}
