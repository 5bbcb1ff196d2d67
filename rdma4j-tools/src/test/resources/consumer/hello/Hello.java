// SPDX-License-Identifier: Apache-2.0
package hello;

import io.rdma4j.cm.CmId;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendFlag;

import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** Sends a message from one id to another, and prints what arrived. Its argument is the address of both. */
public final class Hello {
    private static final Duration TIMEOUT = Duration.ofSeconds(2);

    private Hello() {}

    public static void main(String[] arguments) throws Exception {
        Waiting.assertThatNothingComes();
        try (CmId listener = CmId.create(PortSpace.TCP)) {
            listener.bindAddress(new InetSocketAddress(InetAddress.ofLiteral(arguments[0]), 0));
            listener.listen(1);
            CompletableFuture<String> arrived = CompletableFuture
                    .supplyAsync(() -> receive(listener));
            send(listener.localAddress());
            System.out.println(arrived.get());
        }
    }

    private static String receive(CmId listener) {
        try (CmId id = listener.awaitRequest(); Arena arena = Arena.ofShared()) {
            id.createQueuePair();
            try (MemoryRegion region = id.registerMessages(arena.allocate(100))) {
                id.postReceive(1, region, 0, 100);
                id.accept();
                id.awaitReceiveCompletion();
                return region.segment().getString(0);
            }
        } catch (RdmaException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void send(InetSocketAddress listener) throws RdmaException {
        try (CmId id = CmId.create(PortSpace.TCP); Arena arena = Arena.ofShared()) {
            id.resolveAddress(listener, TIMEOUT);
            id.resolveRoute(TIMEOUT);
            id.createQueuePair();
            try (MemoryRegion region = id.registerMessages(arena.allocateFrom("hello RDMA"))) {
                id.connect(new ConnectionParameters());
                id.postSend(1, region, 0, region.length(), SendFlag.SIGNALED);
                id.awaitSendCompletion();
                id.disconnect();
            }
        }
    }
}
