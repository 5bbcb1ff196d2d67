// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.examples.course;

import io.rdma4j.cm.CmId;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendFlag;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** A virtual thread for each connection, on both sides: blocking calls, and no event loop. */
public final class VirtualThreads {
    private static final int CLIENTS = 16;
    private static final Duration TIMEOUT = Duration.ofSeconds(2);

    private VirtualThreads() {}

    /** Takes the address to use; 127.0.0.1 without one. */
    public static void main(String... words) throws Exception {
        InetAddress address = InetAddress.getByName(words.length > 0 ? words[0] : "127.0.0.1");
        try (CmId listener = CmId.create(PortSpace.TCP);
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            listener.bindAddress(new InetSocketAddress(address, 0));
            listener.listen(CLIENTS);
            List<Future<Void>> served = new ArrayList<>();
            List<Future<String>> answers = new ArrayList<>();
            for (int i = 1; i <= CLIENTS; i++) {
                String text = "client " + i;
                answers.add(threads.submit(() -> ask(listener.localAddress(), text)));
            }
            for (int i = 0; i < CLIENTS; i++) {
                CmId id = listener.awaitRequest();
                served.add(threads.submit(() -> serve(id)));
            }
            for (Future<String> answer : answers) {
                System.out.println(answer.get());
            }
            for (Future<Void> end : served) {
                end.get();
            }
        }
    }

    /** Sends back the first message of a client. */
    private static Void serve(CmId client) throws RdmaException {
        try (Arena arena = Arena.ofShared(); CmId id = client) {
            id.createQueuePair();
            try (MemoryRegion region = id.registerMessages(arena.allocate(64))) {
                id.postReceive(1, region, 0, 64);
                id.accept();
                long length = id.awaitReceiveCompletion().byteLength();
                id.postSend(2, region, 0, length, SendFlag.SIGNALED);
                id.awaitSendCompletion().requireSuccess("send");
                id.closeQueuePair();
            }
        }
        return null;
    }

    private static String ask(InetSocketAddress server, String text) throws RdmaException {
        try (Arena arena = Arena.ofShared(); CmId id = CmId.create(PortSpace.TCP)) {
            id.resolveAddress(server, TIMEOUT);
            id.resolveRoute(TIMEOUT);
            id.createQueuePair();
            MemorySegment answer = arena.allocate(64);
            try (MemoryRegion region = id.registerMessages(answer)) {
                id.postReceive(1, region, 0, 64);
                id.connect();
                id.postSend(2, arena.allocateFrom(text)); // copied: it is short
                id.awaitReceiveCompletion().requireSuccess("receive");
                id.closeQueuePair();
                return answer.getString(0);
            }
        }
    }
}
