// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.examples.course;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmEventChannel;
import io.rdma4j.cm.CmEventType;
import io.rdma4j.cm.CmId;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.SendFlag;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.FutureTask;

/** One message over a connection, by the numbered steps of the tutorials. */
public final class Lesson03 {
    private static final Duration TIMEOUT = Duration.ofSeconds(2);

    private Lesson03() {}

    /** Takes the address to use; 127.0.0.1 without one. */
    public static void main(String... words) throws Exception {
        InetAddress address = InetAddress.getByName(words.length > 0 ? words[0] : "127.0.0.1");
        try (CmEventChannel channel = CmEventChannel.create(); // S1
                CmId listener = CmId.create(channel, PortSpace.TCP)) { // S2
            listener.bindAddress(new InetSocketAddress(address, 0)); // S3
            listener.listen(1); // S4
            FutureTask<String> server = new FutureTask<>(() -> receive(channel));
            Thread.ofVirtual().start(server);
            send(listener.localAddress());
            System.out.println("server: received " + server.get());
        } // S17, S18
    }

    private static String receive(CmEventChannel channel) throws IOException {
        CmEvent request = await("server", channel, CmEventType.CONNECT_REQUEST); // S5
        try (Arena arena = Arena.ofShared(); CmId id = request.id()) {
            id.createQueuePair(); // S6
            MemorySegment message = arena.allocate(64);
            try (MemoryRegion region = id.registerMessages(message)) {
                id.postReceive(1, region, 0, message.byteSize());
                id.accept(); // S7
                request.acknowledge(); // S8
                await("server", channel, CmEventType.ESTABLISHED).acknowledge(); // S9, S10
                id.awaitReceiveCompletion().requireSuccess("receive"); // S11
                await("server", channel, CmEventType.DISCONNECTED).acknowledge(); // S12, S13
                id.disconnect(); // S14
                id.closeQueuePair(); // S15
                return message.getString(0);
            }
        } // S16
    }

    private static void send(InetSocketAddress server) throws IOException {
        try (Arena arena = Arena.ofShared();
                CmEventChannel channel = CmEventChannel.create(); // C1
                CmId id = CmId.create(channel, PortSpace.TCP)) { // C2
            id.resolveAddress(server, TIMEOUT); // C3
            await("client", channel, CmEventType.ADDR_RESOLVED).acknowledge(); // C4, C5
            id.createQueuePair(); // C6
            id.resolveRoute(TIMEOUT); // C7
            await("client", channel, CmEventType.ROUTE_RESOLVED).acknowledge(); // C8, C9
            id.connect(); // C10
            await("client", channel, CmEventType.ESTABLISHED).acknowledge(); // C11, C12
            MemorySegment message = arena.allocateFrom("hello RDMA");
            try (MemoryRegion region = id.registerMessages(message)) {
                id.postSend(1, region, 0, message.byteSize(), SendFlag.SIGNALED); // C13
                id.awaitSendCompletion().requireSuccess("send");
                id.disconnect(); // C14
                await("client", channel, CmEventType.DISCONNECTED).acknowledge(); // C15, C16
                id.closeQueuePair(); // C17
            }
        } // C18, C19
    }

    private static CmEvent await(String side, CmEventChannel channel, CmEventType expected)
            throws IOException {
        CmEvent event = channel.awaitEvent();
        System.out.println(side + ": " + event.type());
        if (event.type() != expected) {
            try (event) {
                throw event.failure("wait for " + expected);
            }
        }
        return event;
    }
}
