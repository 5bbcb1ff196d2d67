// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmEventType;
import io.rdma4j.cm.CmId;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.DatagramParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Arrays;

import static io.rdma4j.verbs.AddressHandle.GLOBAL_ROUTE_LENGTH;
import static org.assertj.core.api.Assertions.assertThat;

/** Datagram services through the connection manager, over real sockets on loopback. */
class DatagramServiceTest extends CmStage {
    @ParameterizedTest
    @MethodSource("ownAddresses")
    void serviceThatIsFoundTalksBothWays(String address) throws Exception {
        requirePresent(address);
        CmId listener = listener(PortSpace.UDP, address);
        CmId client = id(PortSpace.UDP);
        resolve(client, listener.localAddress());
        client.createQueuePair(datagrams());
        assertThat(client.queuePair().state()).isEqualTo(QueuePairState.RTS);
        client.connect(new ConnectionParameters().privateData(bytes("who is there")));
        CmId server;
        try (CmEvent request = expect(CmEventType.CONNECT_REQUEST)) {
            assertThat(request.privateData()).isEqualTo(Arrays.copyOf(bytes("who is there"), 180));
            server = closedAtEnd(request.id());
        }
        server.createQueuePair(datagrams());
        server.accept(new ConnectionParameters().privateData(bytes("it is me")));
        DatagramParameters found;
        try (CmEvent established = expect(CmEventType.ESTABLISHED)) {
            assertThat(established.id()).isSameAs(client);
            found = established.datagram();
            assertThat(found).isNotNull();
            assertThat(established.parameters()).isNull();
            assertThat(established.privateData())
                    .isEqualTo(Arrays.copyOf(bytes("it is me"), 136));
        }
        assertThat(found.queuePairNumber()).isEqualTo(server.queuePair().number());
        assertThat(found.qkey()).isEqualTo(DatagramParameters.UDP_QKEY);

        MemorySegment memory = Arena.ofAuto().allocate(256);
        try (MemoryRegion region = client.registerMessages(memory);
                AddressHandle there = client.protectionDomain().createAddressHandle(found.path())) {
            memory.setString(0, "hello");
            server.postReceive(1, region, 64, 64);
            client.postDatagram(2, region, 0, 6, there, found, SendFlag.SIGNALED);
            WorkCompletion received = server.awaitReceiveCompletion();
            assertThat(received.byteLength()).isEqualTo(GLOBAL_ROUTE_LENGTH + 6);
            assertThat(memory.getString(64 + GLOBAL_ROUTE_LENGTH)).isEqualTo("hello");
            assertThat(client.awaitSendCompletion().isSuccess()).isTrue();

            client.postReceive(3, region, 128, 64);
            try (AddressHandle back = server.protectionDomain().createAddressHandle(1, received,
                    memory.asSlice(64))) {
                server.postDatagram(4, region, 0, 6, back, received.sourceQueuePairNumber(),
                        DatagramParameters.UDP_QKEY, SendFlag.SIGNALED);
                assertThat(client.awaitReceiveCompletion().byteLength())
                        .isEqualTo(GLOBAL_ROUTE_LENGTH + 6);
                assertThat(server.awaitSendCompletion().isSuccess()).isTrue();
            }
        }
    }

    @Test
    void serviceMayHaveAQkeyOfItsOwn() throws Exception {
        CmId listener = listener(PortSpace.UDP, OWN);
        CmId client = id(PortSpace.UDP);
        resolve(client, listener.localAddress());
        client.createQueuePair(datagrams());
        client.connect(new ConnectionParameters());
        CmId server = request();
        server.createQueuePair(datagrams());
        server.accept(new ConnectionParameters().qkey(0x1111));
        DatagramParameters found;
        try (CmEvent established = expect(CmEventType.ESTABLISHED)) {
            found = established.datagram();
            assertThat(found).isNotNull();
            assertThat(found.qkey()).isEqualTo(0x1111);
        }
        MemorySegment memory = Arena.ofAuto().allocate(128);
        try (MemoryRegion region = client.registerMessages(memory);
                AddressHandle there = client.protectionDomain().createAddressHandle(found.path())) {
            server.postReceive(1, region, 0, 128);
            client.queuePair().postSend(
                    new SendWorkRequest().to(there, found.queuePairNumber(), found.qkey()));
            assertThat(server.awaitReceiveCompletion().byteLength())
                    .isEqualTo(GLOBAL_ROUTE_LENGTH);
        }
    }

    @Test
    void externalQueuePairIsNamedInTheAnswer() throws Exception {
        CmId listener = listener(PortSpace.UDP, OWN);
        CmId client = id(PortSpace.UDP);
        resolve(client, listener.localAddress());
        client.connect(new ConnectionParameters());
        CmId server = request();
        assertThat(server.initQueuePairAttributes(QueuePairState.INIT).qkey())
                .isEqualTo(DatagramParameters.UDP_QKEY);
        server.accept(new ConnectionParameters().queuePairNumber(0x1234));
        try (CmEvent established = expect(CmEventType.ESTABLISHED)) {
            DatagramParameters found = established.datagram();
            assertThat(found).isNotNull();
            assertThat(found.queuePairNumber()).isEqualTo(0x1234);
            assertThat(found).hasToString("queue pair 0x001234 at "
                    + found.path().destination().addressText() + ", Q_Key 0x01234567");
        }
    }

    @Test
    void serviceThatSaysNoIsUnreachableWithItsStatus() throws Exception {
        CmId listener = listener(PortSpace.UDP, OWN);
        CmId client = id(PortSpace.UDP);
        resolve(client, listener.localAddress());
        client.connect(new ConnectionParameters());
        CmId server = request();
        assertRefused(() -> server.reject(new byte[137]), Errno.EINVAL, "137", "136");
        server.reject(bytes("not today"));
        try (CmEvent refused = expect(CmEventType.UNREACHABLE)) {
            assertThat(refused.status()).isEqualTo(2);
            assertThat(refused.privateData()).hasSize(136).startsWith(bytes("not today"));
            assertThat(refused.description()).contains("2", "rejected by the service");
        }
    }

    @Test
    void requestThatIsClosedUnansweredIsRefused() throws Exception {
        CmId listener = listener(PortSpace.UDP, OWN);
        CmId client = id(PortSpace.UDP);
        resolve(client, listener.localAddress());
        client.connect(new ConnectionParameters());
        request().close();
        try (CmEvent refused = expect(CmEventType.UNREACHABLE)) {
            assertThat(refused.status()).isEqualTo(2);
        }
    }

    @Test
    void connectionsAndDatagramsAtOnePortAreTwoServices() throws Exception {
        CmId listener = listener(PortSpace.TCP, OWN);
        CmId client = id(PortSpace.UDP);
        resolve(client, listener.localAddress());
        client.connect(new ConnectionParameters());
        try (CmEvent refused = expect(CmEventType.UNREACHABLE)) {
            assertThat(refused.status()).isEqualTo(1);
        }
        CmId datagram = id(PortSpace.UDP);
        datagram.bindAddress(listener.localAddress());
        datagram.listen(1);
    }

    @Test
    void silentAddressIsUnreachable() throws Exception {
        System.setProperty("rdma4j.cm.responseTimeout", "13");
        System.setProperty("rdma4j.cm.maxRetries", "2");
        try {
            CmId client = id(PortSpace.UDP);
            resolve(client, new InetSocketAddress(InetAddress.ofLiteral("127.0.0.222"), 1));
            client.connect(new ConnectionParameters());
            try (CmEvent event = expect(CmEventType.UNREACHABLE)) {
                assertThat(event.status()).isEqualTo(-Errno.ECONNREFUSED.number());
            }
        } finally {
            System.clearProperty("rdma4j.cm.responseTimeout");
            System.clearProperty("rdma4j.cm.maxRetries");
        }
    }

    @Test
    void privateDataThatDoesNotFitIsRefused() throws Exception {
        CmId listener = listener(PortSpace.UDP, OWN);
        CmId client = id(PortSpace.UDP);
        resolve(client, listener.localAddress());
        assertRefused(() -> client.connect(new ConnectionParameters().privateData(new byte[181])),
                Errno.EINVAL, "181", "180");
        client.connect(new ConnectionParameters().privateData(new byte[180]));
        CmId server = request();
        assertRefused(
                () -> server.accept(
                        new ConnectionParameters().queuePairNumber(5).privateData(new byte[137])),
                Errno.EINVAL, "137", "136");
        assertRefused(() -> server.reject(new byte[137]), Errno.EINVAL, "137", "136");
        server.accept(new ConnectionParameters().queuePairNumber(5).privateData(new byte[136]));
        expect(CmEventType.ESTABLISHED).close();
    }

    @Test
    void synchronousLookUpTakesOneCallAndThrowsARefusal() throws Exception {
        CmId listener = listener(PortSpace.UDP, OWN);
        CmId client = closedAtEnd(CmId.create(PortSpace.UDP));
        client.resolveAddress(new InetSocketAddress(listener.localAddress().getAddress(), 1),
                TIMEOUT);
        client.resolveRoute(TIMEOUT);
        assertRefused(() -> client.connect(new ConnectionParameters()), Errno.ECONNREFUSED,
                "port 1", "service ID not supported");
    }

    @Test
    void whatADatagramServiceDoesNotHaveIsRefused() throws Exception {
        CmId listener = listener(PortSpace.UDP, OWN);
        CmId client = id(PortSpace.UDP);
        resolve(client, listener.localAddress());
        assertRefused(() -> client.createQueuePair(reliable().type(QueuePairType.RC)), Errno.EINVAL,
                "UDP", "UD",
                "RC");
        assertRefused(client::disconnect, Errno.EINVAL, "no connection");
        assertRefused(() -> client.ackTimeoutExponent(10), Errno.EINVAL, "UD");
        client.connect(new ConnectionParameters());
        assertRefused(client::establish, Errno.EINVAL, "no connection");
        CmId server = request();
        assertRefused(() -> server.initQueuePairAttributes(QueuePairState.SQD), Errno.EINVAL,
                "SQD");
    }
}
