// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.examples;

import io.rdma4j.cm.CmId;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.WorkCompletionOpcode;
import io.rdma4j.verbs.WorkCompletionStatus;

import java.io.PrintWriter;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;

/**
 * What the basic client and server have in common: the objects one connection needs, and a thread that
 * waits for completions.
 *
 * <p>The order is the one every RDMA program follows:
 *
 * <ol>
 * <li>a <em>protection domain</em>, within which everything else is made;
 * <li>a <em>completion queue</em> with a <em>completion channel</em>, to sleep until work is done;
 * <li>a <em>queue pair</em>, which the connection manager will connect;
 * <li>registered <em>memory</em>, for the device touches no other;
 * <li>a <em>receive</em>, posted before the peer can send.
 * </ol>
 */
final class BasicConnection implements AutoCloseable {
    private static final int MESSAGE = 1024;

    private final PrintWriter out;
    private final String ownSide;
    /** What it has made and must close, the last first: children, then what they were made from. */
    private final Deque<Part> parts = new ArrayDeque<>();
    private final MemorySegment sent;
    private final MemorySegment received;
    private final CompletionChannel channel;
    private final CompletionQueue completions;
    private final QueuePair queuePair;
    private final MemoryRegion sentRegion;
    private final CompletableFuture<Void> exchange = new CompletableFuture<>();
    private final CompletableFuture<Void> end = new CompletableFuture<>();
    private final Thread poller;
    private int succeeded;

    private interface Part {
        void close() throws RdmaException;
    }

    /** @param id has its device: an address is resolved, or a request has come */
    BasicConnection(CmId id, String ownSide, PrintWriter out) throws RdmaException {
        this.ownSide = ownSide;
        this.out = out;
        try {
            Arena arena = Arena.ofShared();
            parts.push(arena::close);
            sent = arena.allocate(MESSAGE);
            received = arena.allocate(MESSAGE);
            ProtectionDomain domain = id.context().allocateProtectionDomain();
            parts.push(domain::close);
            channel = CompletionChannel.create();
            parts.push(channel::close);
            completions = id.context().createCompletionQueue(10, channel);
            parts.push(completions::close);
            completions.requestNotification();
            sentRegion = domain.register(sent);
            parts.push(sentRegion::close);
            MemoryRegion receivedRegion = domain.register(received, AccessFlag.LOCAL_WRITE);
            parts.push(receivedRegion::close);
            queuePair = id.createQueuePair(domain,
                    new QueuePairInitAttributes().completionQueue(completions)
                            .capabilities(QueuePairCapabilities.ofDepth(10, 10)));
            parts.push(queuePair::close);
            queuePair.postReceive(new ReceiveWorkRequest().add(receivedRegion, 0, MESSAGE));
            poller = Thread.ofVirtual().start(this::awaitCompletions);
        } catch (RdmaException | RuntimeException | Error e) {
            // Nobody has this object yet who could close it.
            closeParts(e);
            throw e;
        }
    }

    private void closeParts(Throwable because) {
        try {
            closeParts();
        } catch (RdmaException e) {
            because.addSuppressed(e);
        }
    }

    private void closeParts() throws RdmaException {
        while (!parts.isEmpty()) {
            parts.pop().close();
        }
    }

    /** The connection is established: sends the one message. */
    void send() throws RdmaException {
        out.println("connected. posting send...");
        sent.setString(0, "message from " + ownSide + " side with pid "
                + ProcessHandle.current().pid());
        queuePair.postSend(new SendWorkRequest().send().add(sentRegion, 0, MESSAGE)
                .set(SendFlag.SIGNALED));
    }

    /**
     * {@return what completes when a message went each way, or exceptionally, with an RdmaException, when
     * that cannot happen any more}
     */
    CompletableFuture<Void> exchange() {
        return exchange;
    }

    /** {@return what completes when the connection is closed} */
    CompletableFuture<Void> end() {
        return end;
    }

    private void awaitCompletions() {
        WorkCompletion completion = new WorkCompletion();
        try {
            while (true) {
                // Sleep, acknowledge, ask for the next event, and only then look: what comes
                // between asking and looking is seen, what comes later wakes us again.
                CompletionQueue queue = channel.awaitEvent();
                queue.acknowledgeEvents(1);
                queue.requestNotification();
                while (queue.poll(completion)) {
                    onCompletion(completion);
                    if (exchange.isDone()) {
                        return;
                    }
                }
            }
        } catch (RdmaException e) {
            // Interrupted by close, which looks after what this thread has not seen.
            if (e.errno() != Errno.EINTR) {
                exchange.completeExceptionally(e);
            }
        }
    }

    /** One failure fails the queue pair, and flushes whatever else is posted. */
    private void onCompletion(WorkCompletion completion) {
        if (!completion.isSuccess()) {
            exchange.completeExceptionally(failure(completion));
            return;
        }
        if (completion.opcode() == WorkCompletionOpcode.RECEIVE) {
            out.println("received message: " + received.getString(0));
        } else {
            out.println("send completed successfully.");
        }
        succeeded++;
        if (succeeded == 2) {
            exchange.complete(null);
        }
    }

    private static RdmaException failure(WorkCompletion completion) {
        return completion.status() == WorkCompletionStatus.WORK_REQUEST_FLUSHED
                ? new RdmaException(Errno.ECONNRESET, "exchange messages",
                        "the connection ended before a message had gone each way")
                : new RdmaException(Errno.EIO, "exchange messages",
                        completion.status() + ": " + completion.explanation());
    }

    /**
     * Looks at what has completed and was not seen: the peer's last message, or a failure, and the end of the connection can
     * come together, and another thread hears of the end.
     */
    private void drain() throws RdmaException {
        WorkCompletion completion = new WorkCompletion();
        while (!exchange.isDone() && completions.poll(completion)) {
            onCompletion(completion);
        }
    }

    @Override
    public void close() throws RdmaException {
        end.complete(null);
        poller.interrupt();
        try {
            poller.join();
            drain();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        closeParts();
    }
}
