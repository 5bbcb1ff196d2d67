// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs;

import io.rdma4j.cm.CmId;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.WorkCompletionStatus;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * One side of a connection whose messages never end by themselves: a thread sends, or receives, one after the other until
 * something fails, and keeps why.
 */
final class OutageTraffic implements AutoCloseable {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final int LENGTH = 4096;
    private static final int DEPTH = 64;
    private static final int FIRST_MESSAGES = 50;
    private static final int RNR_RETRY_FOREVER = 7;

    private final CmId id;
    private final Arena arena = Arena.ofShared();
    private final MemoryRegion region;
    private final CountDownLatch underWay = new CountDownLatch(FIRST_MESSAGES);
    private final Thread thread;
    private volatile String end = "it goes on";

    private OutageTraffic(CmId id, boolean isSender) throws RdmaException {
        this.id = id;
        id.createQueuePair(new QueuePairInitAttributes()
                .capabilities(QueuePairCapabilities.ofDepth(DEPTH, DEPTH)));
        region = id.registerMessages(arena.allocate(LENGTH, LENGTH));
        if (isSender) {
            id.connect(parameters());
        } else {
            for (int i = 0; i < DEPTH; i++) {
                id.postReceive(i, region, 0, LENGTH);
            }
            id.accept(parameters());
        }
        thread = Thread.ofPlatform().name(isSender ? "sender" : "receiver").daemon()
                .start(() -> transfer(isSender));
    }

    private static ConnectionParameters parameters() {
        return new ConnectionParameters().rnrRetryCount(RNR_RETRY_FOREVER);
    }

    /** {@return a listener at a port of the system's choice} */
    static CmId listen(InetAddress address) throws RdmaException {
        CmId listener = CmId.create(PortSpace.TCP);
        listener.bindAddress(new InetSocketAddress(address, 0));
        listener.listen(1);
        return listener;
    }

    /** {@return the receiving side of the next connection} */
    static OutageTraffic receive(CmId listener) throws RdmaException {
        return new OutageTraffic(listener.awaitRequest(), false);
    }

    /** {@return the sending side of a connection to a listener} */
    static OutageTraffic send(InetSocketAddress to) throws RdmaException {
        CmId id = CmId.create(PortSpace.TCP);
        id.resolveAddress(to, LONG);
        id.resolveRoute(LONG);
        return new OutageTraffic(id, true);
    }

    private void transfer(boolean isSender) {
        try {
            while (true) {
                WorkCompletion completion = isSender ? sent() : id.awaitReceiveCompletion();
                if (completion.status() != WorkCompletionStatus.SUCCESS) {
                    end = completion.status().name();
                    return;
                }
                if (!isSender) {
                    id.postReceive(completion.id(), region, 0, LENGTH);
                }
                underWay.countDown();
            }
        } catch (IOException | IllegalStateException e) {
            end = e.toString();
        }
    }

    private WorkCompletion sent() throws RdmaException {
        id.postSend(0, region, 0, LENGTH, SendFlag.SIGNALED);
        return id.awaitSendCompletion();
    }

    CmId id() {
        return id;
    }

    /** Returns once the first messages have been transferred. */
    void awaitUnderWay() throws InterruptedException {
        if (!underWay.await(LONG.toSeconds(), TimeUnit.SECONDS)) {
            throw new IllegalStateException("no messages: " + end);
        }
    }

    /** {@return what ended it: a status, or an exception} */
    String awaitEnd(String after) throws InterruptedException {
        thread.join(LONG);
        if (thread.isAlive()) {
            throw new IllegalStateException(thread.getName() + " still waits " + LONG.toSeconds()
                    + " s after " + after);
        }
        return end;
    }

    @Override
    public void close() throws RdmaException {
        region.close();
        id.close();
        arena.close();
    }
}
