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

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

/**
 * One of many processes in a circle: it is sent numbered messages by the one before it, and sends as many to the one behind it,
 * whose port its input tells. It says so each time, and stays until it is ended.
 */
final class Neighbour {
    static final int MESSAGES = 100;
    private static final int MESSAGE = 64;
    private static final Duration PATIENCE = Duration.ofMinutes(3);
    private static final long LONGEST_STAY_MIN = 10;

    private final CmId id;
    private final MemorySegment memory;
    private final MemoryRegion region;

    private Neighbour(CmId id, Arena arena) throws RdmaException {
        this.id = id;
        id.createQueuePair();
        memory = arena.allocate(MESSAGE);
        region = id.protectionDomain().register(memory, AccessFlag.LOCAL_WRITE);
    }

    /** Arguments: the address. */
    public static void main(String[] arguments) throws Exception {
        InetAddress address = InetAddress.getByName(arguments[0]);
        Arena arena = Arena.ofShared();
        CmId listener = CmId.create(PortSpace.TCP);
        listener.bindAddress(new InetSocketAddress(address, 0));
        listener.listen(1);
        System.out.println("listening on port " + listener.localPort());
        FutureTask<CmId> receiving = new FutureTask<>(() -> receiveFromOneBefore(listener, arena));
        Thread.ofPlatform().daemon().start(receiving);
        BufferedReader input = new BufferedReader(
                new InputStreamReader(System.in, StandardCharsets.UTF_8));
        int port = Integer.parseInt(input.readLine());
        CmId behind = sendToOneBehind(new InetSocketAddress(address, port), arena);
        System.out.println("has sent messages by " + behind.queuePair().number());
        CmId before = receiving.get();
        System.out.println("has received messages by " + before.queuePair().number());
        boolean _ = new CountDownLatch(1).await(LONGEST_STAY_MIN, TimeUnit.MINUTES);
    }

    private static CmId receiveFromOneBefore(CmId listener, Arena arena) throws Exception {
        CmId accepted = listener.awaitRequest();
        Neighbour neighbour = new Neighbour(accepted, arena);
        neighbour.postReceive();
        accepted.accept(new ConnectionParameters().rnrRetryCount(7).retryCount(7));
        for (long number = 1; number <= MESSAGES; number++) {
            require(accepted.pollReceiveCompletion(PATIENCE));
            if (neighbour.memory.get(ValueLayout.JAVA_LONG, 0) != number) {
                throw new IOException("another message than " + number);
            }
            neighbour.postReceive();
        }
        return accepted;
    }

    private void postReceive() throws RdmaException {
        id.postReceive(0, region, 0, MESSAGE);
    }

    private static CmId sendToOneBehind(InetSocketAddress address, Arena arena) throws Exception {
        CmId id = CmId.create(PortSpace.TCP);
        id.resolveAddress(address, PATIENCE);
        id.resolveRoute(PATIENCE);
        Neighbour neighbour = new Neighbour(id, arena);
        id.connect(new ConnectionParameters().rnrRetryCount(7).retryCount(7));
        for (long number = 1; number <= MESSAGES; number++) {
            neighbour.memory.set(ValueLayout.JAVA_LONG, 0, number);
            id.postSend(0, neighbour.region, 0, MESSAGE, SendFlag.SIGNALED);
            require(id.pollSendCompletion(PATIENCE));
        }
        return id;
    }

    private static void require(@Nullable WorkCompletion completion) throws IOException {
        if (completion == null || !completion.isSuccess()) {
            throw new IOException("not sent or received: " + completion);
        }
    }
}
