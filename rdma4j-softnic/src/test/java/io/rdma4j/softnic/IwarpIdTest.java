// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmEventType;
import io.rdma4j.cm.CmId;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.protocol.iwarp.wire.MpaFrame;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** Ids on an iWARP device: what differs from RoCE. */
class IwarpIdTest extends CmStage {
    private static final int PATIENCE_MS = 20_000;
    /** What this side sends, so that Linux's siw understands it. */
    private static final int LIMIT = 251;
    /** RFC 5044 7.1.1: 512 bytes, four of which have the numbers of READs. */
    private static final int MOST = MpaFrame.MAX_DATA - MpaFrame.READS_LENGTH;

    @Override
    CmId id(PortSpace space) throws RdmaException {
        CmId id = super.id(space);
        id.device("iwarp_lo");
        return id;
    }

    private static byte[] data(int length) {
        byte[] data = new byte[length];
        for (int i = 0; i < length; i++) {
            data[i] = (byte) (i * 5 + 1);
        }
        return data;
    }

    private static ConnectionParameters with(byte[] privateData) {
        return new ConnectionParameters().privateData(privateData);
    }

    private CmId client(CmId listener) throws RdmaException {
        CmId client = id(PortSpace.TCP);
        resolve(client, listener.localAddress());
        client.createQueuePair(reliable());
        return client;
    }

    /** {@return the id of the next request, whose private data is as it was sent} */
    private CmId request(byte[] privateData) throws RdmaException {
        try (CmEvent event = expect(CmEventType.CONNECT_REQUEST)) {
            assertThat(event.privateData()).isEqualTo(privateData);
            CmId server = closedAtEnd(event.id());
            server.createQueuePair(reliable());
            return server;
        }
    }

    @Test
    void refusalByThePeersSystemSaysThatNoProcessListens() throws Exception {
        CmId client = id(PortSpace.TCP);
        try (ServerSocket bound = new ServerSocket(0, 1, InetAddress.ofLiteral(OWN))) {
            resolve(client, new InetSocketAddress(bound.getInetAddress(), bound.getLocalPort()));
        }
        client.createQueuePair(reliable());
        client.connect(new ConnectionParameters());
        try (CmEvent event = expect(CmEventType.REJECTED)) {
            assertThat(event.description()).isEqualTo(
                    "rejected (-111: no process listens at that port of that address)");
        }
    }

    @Test
    void requestThatIsWithdrawnIsUnreachableForTheListener() throws Exception {
        CmId client = client(listener(PortSpace.TCP, OWN));
        client.connect(new ConnectionParameters());
        CmId server = request(data(0));
        client.close();
        try (CmEvent event = expect(CmEventType.UNREACHABLE)) {
            assertThat(event.id()).isSameAs(server);
            assertThat(event.status()).isEqualTo(-Errno.ECONNRESET.number());
        }
    }

    // ---------------------------------------------------------------- private data

    @Test
    void asMuchPrivateDataAsTheDeviceSaysArrivesWithBothMessages() throws Exception {
        CmId client = client(listener(PortSpace.TCP, OWN));
        assertThat(client.privateDataLimits().request()).isEqualTo(LIMIT);
        assertThat(client.privateDataLimits().acceptance()).isEqualTo(LIMIT);
        client.connect(with(data(LIMIT)));
        CmId server = request(data(LIMIT));
        server.accept(with(data(LIMIT)));
        for (int i = 0; i < 2; i++) {
            try (CmEvent event = expect(CmEventType.ESTABLISHED)) {
                assertThat(event.privateData())
                        .isEqualTo(event.id() == client ? data(LIMIT) : data(0));
            }
        }
    }

    @Test
    void aRejectionCarriesAsMuch() throws Exception {
        CmId client = client(listener(PortSpace.TCP, OWN));
        assertThat(client.privateDataLimits().rejection()).isEqualTo(LIMIT);
        client.connect(new ConnectionParameters());
        request(data(0)).reject(data(LIMIT));
        try (CmEvent event = expect(CmEventType.REJECTED)) {
            assertThat(event.privateData()).isEqualTo(data(LIMIT));
        }
    }

    /** And the step can be taken with less. */
    @Test
    void oneByteMoreIsRefusedByEachStep() throws Exception {
        CmId client = client(listener(PortSpace.TCP, OWN));
        String words = "private data has 252 bytes; at most 251 fit";
        assertRefused(() -> client.connect(with(data(LIMIT + 1))), Errno.EINVAL, "connect", words);
        client.connect(new ConnectionParameters());
        CmId server = request(data(0));
        assertRefused(() -> server.accept(with(data(LIMIT + 1))), Errno.EINVAL, "accept", words);
        assertRefused(() -> server.reject(data(LIMIT + 1)), Errno.EINVAL, "reject", words);
        server.accept(new ConnectionParameters());
        expect(CmEventType.ESTABLISHED).close();
        expect(CmEventType.ESTABLISHED).close();
    }

    private static MpaFrame frame(boolean isReply, int flags, int length) {
        return new MpaFrame(isReply, MpaFrame.ENHANCED | flags, MpaFrame.ENHANCED_REVISION,
                MpaFrame.UNLIMITED, MpaFrame.UNLIMITED, data(length));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, LIMIT + 1, 255, 256, MOST})
    void asMuchAsAPeerMaySendArrives(int length) throws Exception {
        CmId listener = listener(PortSpace.TCP, OWN);
        try (Socket peer = new Socket(InetAddress.ofLiteral(OWN), listener.localPort())) {
            peer.getOutputStream().write(frame(false, 0, length).bytes());
            request(data(length));
        }
        // The peer has closed the connection before the answer.
        expect(CmEventType.UNREACHABLE).close();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, MpaFrame.REJECT})
    void asMuchAsAPeerMayAnswerArrives(int flags) throws Exception {
        try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.ofLiteral(OWN))) {
            CmId client = id(PortSpace.TCP);
            resolve(client, new InetSocketAddress(listener.getInetAddress(),
                    listener.getLocalPort()));
            client.createQueuePair(reliable());
            client.connect(new ConnectionParameters());
            try (Socket peer = listener.accept()) {
                peer.getOutputStream().write(frame(true, flags, MOST).bytes());
                try (CmEvent event = expect(
                        flags == 0 ? CmEventType.ESTABLISHED : CmEventType.REJECTED)) {
                    assertThat(event.privateData()).isEqualTo(data(MOST));
                }
            }
        }
    }

    @Test
    void moreThanAPeerMaySendIsNoRequest() throws Exception {
        CmId listener = listener(PortSpace.TCP, OWN);
        try (Socket peer = new Socket(InetAddress.ofLiteral(OWN), listener.localPort())) {
            // Its header is enough to tell, and all of it is read before the end.
            byte[] header = frame(false, 0, MOST + 1).bytes();
            peer.getOutputStream().write(header, 0, MpaFrame.HEADER_LENGTH);
            peer.setSoTimeout(PATIENCE_MS);
            assertThat(peer.getInputStream().read()).isEqualTo(-1);
        }
        assertThat(events.pollEvent(Duration.ZERO)).isNull();
    }

    // ---------------------------------------------------------------- the end

    /** TCP waits by itself, but programs wait for the event. */
    @Test
    void theEndOfTimewaitIsReportedBehindTheEndOfTheConnection() throws Exception {
        CmId client = client(listener(PortSpace.TCP, OWN));
        client.connect(new ConnectionParameters());
        CmId server = request(data(0));
        server.accept(new ConnectionParameters());
        expect(CmEventType.ESTABLISHED).close();
        expect(CmEventType.ESTABLISHED).close();
        client.disconnect();
        List<CmEventType> ofClient = new ArrayList<>();
        List<CmEventType> ofServer = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            try (CmEvent event = events.pollEvent(LONG)) {
                assertThat(event).isNotNull();
                (event.id() == client ? ofClient : ofServer).add(event.type());
            }
        }
        assertThat(ofClient).containsExactly(CmEventType.DISCONNECTED, CmEventType.TIMEWAIT_EXIT);
        assertThat(ofServer).containsExactly(CmEventType.DISCONNECTED, CmEventType.TIMEWAIT_EXIT);
        server.disconnect();
        assertThat(events.pollEvent(Duration.ZERO)).isNull();
    }
}
