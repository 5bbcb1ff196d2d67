// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmEventType;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.OtherDeviceException;
import io.rdma4j.cm.RejectedException;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.TransportType;
import org.junit.jupiter.api.Test;

import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;

import static org.assertj.core.api.Assertions.assertThat;

/** A client that names no device, and a server that has no RoCE at its address. */
class OtherDeviceTest extends CmStage {
    private static final int ROCE_PORT = 4791;
    private static final int ANY_BACKLOG = 4;

    private CmId iwarpListener() throws RdmaException {
        CmId listener = id(PortSpace.TCP);
        listener.device("iwarp_lo");
        listener.bindAddress(anyPort(OWN));
        listener.listen(ANY_BACKLOG);
        return listener;
    }

    /** RoCE of this process has the address of the listeners. */
    private void haveRoce() throws RdmaException {
        CmId holder = id(PortSpace.TCP);
        holder.device("roce_lo");
        holder.bindAddress(anyPort(OWN));
    }

    private CmId connecting(InetSocketAddress server) throws RdmaException {
        CmId client = id(PortSpace.TCP);
        resolve(client, server);
        client.createQueuePair(reliable());
        client.connect(new ConnectionParameters());
        return client;
    }

    private static TransportType transportOf(CmId id) {
        return id.context().device().transport();
    }

    @Test
    void clientOfAListenerWithoutRoceIsConnectedByIwarpTheSecondTime() throws Exception {
        haveRoce();
        CmId listener = iwarpListener();
        CmId first = connecting(listener.localAddress());
        assertThat(transportOf(first)).isEqualTo(TransportType.INFINIBAND);
        try (CmEvent event = expect(CmEventType.REJECTED)) {
            assertThat(event.description()).startsWith("rejected (8: ")
                    .endsWith("a program listens there for iwarp_lo: resolve the address again to"
                            + " take that device");
            assertThat(event.failure("connect"))
                    .isInstanceOfSatisfying(OtherDeviceException.class,
                            e -> assertThat(e.device()).isEqualTo("iwarp_lo"));
        }
        CmId second = connecting(listener.localAddress());
        assertThat(transportOf(second)).isEqualTo(TransportType.IWARP);
        // The listener has heard of nobody else.
        CmId server = request();
        server.createQueuePair(reliable());
        server.accept();
        expect(CmEventType.ESTABLISHED).close();
        expect(CmEventType.ESTABLISHED).close();
        listener.close();
        server.disconnect();
    }

    @Test
    void hostWithoutAnyRoceIsAskedByIwarpTheSecondTime() throws Exception {
        CmId listener = iwarpListener();
        connecting(listener.localAddress());
        try (CmEvent event = expect(CmEventType.UNREACHABLE)) {
            assertThat(event.description()).contains("no process has the port", "iwarp_lo");
        }
        CmId second = id(PortSpace.TCP);
        resolve(second, listener.localAddress());
        assertThat(transportOf(second)).isEqualTo(TransportType.IWARP);
    }

    @Test
    void serverThatListensNowhereIsAskedByTheBestDeviceEachTime() throws Exception {
        haveRoce();
        InetSocketAddress nobody;
        try (ServerSocket closed = new ServerSocket(0, 1, InetAddress.ofLiteral(OWN))) {
            nobody = new InetSocketAddress(OWN, closed.getLocalPort());
        }
        for (int i = 0; i < 2; i++) {
            CmId client = connecting(nobody);
            assertThat(transportOf(client)).isEqualTo(TransportType.INFINIBAND);
            try (CmEvent event = expect(CmEventType.REJECTED)) {
                assertThat(event.description()).doesNotContain("iwarp");
                assertThat(event.failure("connect")).isExactlyInstanceOf(RejectedException.class);
            }
        }
    }

    @Test
    void silentPeerIsGivenUpEarlyWhereAProgramAcceptsStreams() throws Exception {
        InetAddress silent = InetAddress.ofLiteral(OTHER);
        try (DatagramSocket _ = new DatagramSocket(new InetSocketAddress(silent, ROCE_PORT));
                ServerSocket accepting = new ServerSocket(0, ANY_BACKLOG, silent)) {
            InetSocketAddress server = new InetSocketAddress(silent, accepting.getLocalPort());
            long startNs = System.nanoTime();
            connecting(server);
            try (CmEvent event = expect(CmEventType.UNREACHABLE)) {
                assertThat(event.status()).isEqualTo(-Errno.ETIMEDOUT.number());
                assertThat(event.description()).contains("did not answer in time", "iwarp_lo");
            }
            assertThat(System.nanoTime() - startNs).isGreaterThan(4_000_000_000L);
            CmId again = id(PortSpace.TCP);
            resolve(again, server);
            assertThat(transportOf(again)).isEqualTo(TransportType.IWARP);
        }
    }
}
