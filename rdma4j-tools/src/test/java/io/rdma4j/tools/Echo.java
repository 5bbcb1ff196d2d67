// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import io.rdma4j.cm.CmId;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.WorkCompletion;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;

/**
 * A server that sends each message back, or a client that sends numbered messages one after the other until its input
 * ends, and then tells how long the longest took, and at once which takes long.
 */
final class Echo {
    /** Seconds to wait for the other side; few where it will not answer. */
    static final String PATIENCE_PROPERTY = "echo.patience";
    private static final Duration PATIENCE = Duration
            .ofSeconds(Integer.getInteger(PATIENCE_PROPERTY, 20));
    private static final Duration LONG = Duration.ofMillis(300);
    private static final int MESSAGE = 64;
    /** Between two messages, so that both sides sleep there. */
    private static final long PAUSE_MS = 1;

    private final CmId id;
    private final MemorySegment memory;
    private final MemoryRegion region;

    private Echo(CmId id, Arena arena) throws RdmaException {
        this.id = id;
        id.createQueuePair();
        memory = arena.allocate(2 * MESSAGE);
        region = id.protectionDomain().register(memory, AccessFlag.LOCAL_WRITE);
        id.postReceive(0, region, MESSAGE, MESSAGE);
    }

    /** Arguments: the address; and the server's port, of a client. */
    public static void main(String[] arguments) throws Exception {
        InetAddress address = InetAddress.getByName(arguments[0]);
        try (Arena arena = Arena.ofShared(); CmId id = CmId.create(PortSpace.TCP)) {
            if (arguments.length == 1) {
                id.bindAddress(new InetSocketAddress(address, 0));
                id.listen(1);
                System.out.println("listening on port " + id.localPort());
                CmId accepted = id.awaitRequest();
                Echo echo = new Echo(accepted, arena);
                accepted.accept(new ConnectionParameters().rnrRetryCount(7).retryCount(7));
                echo.answer();
            } else {
                id.resolveAddress(new InetSocketAddress(address, Integer.parseInt(arguments[1])),
                        PATIENCE);
                id.resolveRoute(PATIENCE);
                Echo echo = new Echo(id, arena);
                id.connect(new ConnectionParameters().rnrRetryCount(7).retryCount(7));
                echo.ask();
            }
        }
        System.exit(0);
    }

    private void answer() throws IOException {
        while (true) {
            WorkCompletion received = id.pollReceiveCompletion(PATIENCE);
            if (received == null || !received.isSuccess()) {
                return;
            }
            MemorySegment.copy(memory, MESSAGE, memory, 0, MESSAGE);
            id.postReceive(0, region, MESSAGE, MESSAGE);
            send();
        }
    }

    private void ask() throws IOException, InterruptedException {
        System.out.println("begins");
        long longestNs = 0;
        long number = 0;
        while (System.in.available() == 0) {
            long startNs = System.nanoTime();
            memory.set(ValueLayout.JAVA_LONG, 0, ++number);
            send();
            WorkCompletion received = await(id::pollReceiveCompletion);
            if (received == null || !received.isSuccess()) {
                throw new IOException("no answer to message " + number + ": " + received);
            }
            if (memory.get(ValueLayout.JAVA_LONG, MESSAGE) != number) {
                throw new IOException("another answer than " + number);
            }
            id.postReceive(0, region, MESSAGE, MESSAGE);
            longestNs = Math.max(longestNs, System.nanoTime() - startNs);
            Thread.sleep(PAUSE_MS);
        }
        System.out.printf("answered %d, longest %d ms, sent again %d, misdirected %d%n", number,
                longestNs / 1_000_000, id.queuePair().counters().get("retransmitted_pkts"),
                id.context().counters().get("dropped_misdirected"));
    }

    /** A poll with a time-out. */
    private interface Poll {
        @Nullable
        WorkCompletion poll(Duration timeout) throws IOException;
    }

    /** Says so while a completion takes long. */
    private static @Nullable WorkCompletion await(Poll poll) throws IOException {
        WorkCompletion completion = poll.poll(LONG);
        if (completion == null) {
            System.out.println("waits");
            completion = poll.poll(PATIENCE);
            System.out.println("goes on");
        }
        return completion;
    }

    private void send() throws IOException {
        id.postSend(0, region, 0, MESSAGE, SendFlag.SIGNALED);
        WorkCompletion sent = await(id::pollSendCompletion);
        if (sent == null || !sent.isSuccess()) {
            throw new IOException("not sent: " + sent);
        }
    }
}
