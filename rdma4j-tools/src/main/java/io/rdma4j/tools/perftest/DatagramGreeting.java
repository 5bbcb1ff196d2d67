// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.perftest;

import io.rdma4j.tools.timing.Backoff;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.WorkCompletionFlag;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;

/**
 * The first datagram from a client to a server that sends too: a service look-up does not give the server the client's
 * address. Its immediate data is the client's queue pair number.
 */
final class DatagramGreeting implements AutoCloseable {
    private static final int BYTES = Integer.BYTES;

    private final ProtectionDomain domain;
    private final QueuePair queuePair;
    private final CompletionQueue completions;
    private final Duration patience;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory = arena
            .allocate(AddressHandle.GLOBAL_ROUTE_LENGTH + BYTES);
    private final MemoryRegion region;
    private final WorkCompletion completion = new WorkCompletion();

    /** @param queuePair of the id that asks, or is asked; it has one completion queue, where nothing else completes yet */
    DatagramGreeting(ProtectionDomain domain, QueuePair queuePair, Duration patience)
            throws RdmaException {
        this.domain = domain;
        this.queuePair = queuePair;
        completions = queuePair.receiveCompletionQueue();
        this.patience = patience;
        try {
            region = domain.register(memory, AccessFlag.LOCAL_WRITE);
        } catch (RdmaException | RuntimeException e) {
            arena.close();
            throw e;
        }
    }

    /** The client's part, once it knows whom to greet. */
    void greet(DatagramDestination server) throws IOException {
        queuePair.postSend(new SendWorkRequest().add(region, 0, BYTES)
                .sendWithImmediate(queuePair.number())
                .to(server.handle(), server.queuePair(), server.qkey()).set(SendFlag.SIGNALED));
        await();
    }

    /** The server's part, before it accepts. */
    void expect() throws RdmaException {
        queuePair.postReceive(new ReceiveWorkRequest().add(region, 0, memory.byteSize()));
    }

    /** {@return who has greeted, after that; with its own Q_Key, which the connection manager gives to both} */
    DatagramDestination greeted(int port, int qkey) throws IOException {
        await();
        if (!completion.has(WorkCompletionFlag.WITH_IMMEDIATE)) {
            throw new IOException("the peer does not greet as perftest does: its first datagram"
                    + " names no queue pair");
        }
        AddressHandle handle = domain.createAddressHandle(port, completion,
                memory.asSlice(0, AddressHandle.GLOBAL_ROUTE_LENGTH));
        return new DatagramDestination(handle, completion.immediate(), qkey);
    }

    private void await() throws IOException {
        long endNs = System.nanoTime() + patience.toNanos();
        for (int polls = 1; !completions.poll(completion); polls++) {
            if (System.nanoTime() - endNs > 0) {
                throw Exchange.silence(patience.toSeconds());
            }
            Backoff.pause(polls);
        }
        if (!completion.isSuccess()) {
            throw new IOException("the greeting of a datagram queue pair failed: "
                    + completion.explanation());
        }
    }

    @Override
    public void close() throws RdmaException {
        try (arena) {
            region.close();
        }
    }
}
