// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.examples.course;

import io.rdma4j.cm.CmId;
import io.rdma4j.connection.DatagramParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.WorkCompletionFlag;

import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.FutureTask;

import static java.util.Objects.requireNonNull;

/** Datagrams (UD): a look-up, and a message each way. Lesson 8 goes on with {@link Multicast}. */
public final class Lesson08 {
    private static final int GRH = AddressHandle.GLOBAL_ROUTE_LENGTH;
    private static final Duration TIMEOUT = Duration.ofSeconds(2);

    private Lesson08() {}

    /** Takes the address to use; 127.0.0.1 without one. */
    public static void main(String... words) throws Exception {
        InetAddress address = InetAddress.getByName(words.length > 0 ? words[0] : "127.0.0.1");
        try (Arena arena = Arena.ofShared();
                CmId listener = CmId.create(PortSpace.UDP);
                CmId client = CmId.create(PortSpace.UDP)) {
            listener.bindAddress(new InetSocketAddress(address, 0));
            listener.listen(1);
            client.resolveAddress(listener.localAddress(), TIMEOUT);
            client.createQueuePair();
            client.resolveRoute(TIMEOUT);
            FutureTask<CmId> accepting = new FutureTask<>(() -> accept(listener)); // 1
            Thread.ofVirtual().start(accepting);
            client.connect(); // 2
            DatagramParameters service = requireNonNull(
                    requireNonNull(client.event()).datagram()); // 3
            try (CmId server = accepting.get();
                    MemoryRegion region = client.registerMessages(arena.allocate(256))) {
                exchange(client, server, service, region);
                client.closeQueuePair();
                server.closeQueuePair();
            }
        }
        Multicast.main(words);
    }

    private static CmId accept(CmId listener) throws RdmaException {
        CmId id = listener.awaitRequest();
        id.createQueuePair();
        id.accept();
        return id;
    }

    private static void exchange(CmId client, CmId server, DatagramParameters service,
            MemoryRegion region) throws RdmaException {
        server.postReceive(1, region, 64, GRH + 24); // 4
        client.postReceive(2, region, 128, GRH + 24);
        try (AddressHandle there = client.protectionDomain()
                .createAddressHandle(service.path())) { // 5
            region.segment().setString(0, "ping");
            client.postDatagram(3, region, 0, 5, there, service, SendFlag.SIGNALED); // 6
            client.awaitSendCompletion().requireSuccess("send");
            WorkCompletion ping = server.awaitReceiveCompletion();
            System.out.println("server: " + ping.byteLength() + " bytes, header: "
                    + ping.has(WorkCompletionFlag.GRH) + ", from the client: "
                    + (ping.sourceQueuePairNumber() == client.queuePair().number()) + ", "
                    + region.segment().getString(64 + GRH)); // 7
            try (AddressHandle back = server.protectionDomain().createAddressHandle(1, ping,
                    region.segment().asSlice(64, GRH))) { // 8
                region.segment().setString(0, "pong");
                server.postDatagram(4, region, 0, 5, back, ping.sourceQueuePairNumber(),
                        DatagramParameters.UDP_QKEY, SendFlag.SIGNALED);
                server.awaitSendCompletion().requireSuccess("send");
                client.awaitReceiveCompletion().requireSuccess("receive");
                System.out.println("client: " + region.segment().getString(128 + GRH));
            }
        }
    }
}
