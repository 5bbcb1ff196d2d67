// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.cm.CmId;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.testkit.Wait;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.WorkCompletion;

import java.lang.foreign.Arena;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/** Connections of synchronous ids whose completion queues share one channel. */
final class SharedChannelStage implements AutoCloseable {
    static final int DEPTH = 8;
    private static final int BYTES = 64;

    final CompletionChannel channel = CompletionChannel.create();
    private final CmId listener = CmId.create(PortSpace.TCP);
    private final Deque<Link> links = new ArrayDeque<>();

    SharedChannelStage() throws RdmaException {
        listener.bindAddress(CmStage.anyPort(CmStage.OWN));
        listener.listen(64);
    }

    /** A connection: the completion queues of the near end are on the channel that all share. */
    static final class Link implements AutoCloseable {
        final CmId near;
        final CmId far;
        private final CompletionQueue sends;
        private final CompletionQueue receives;
        private final MemoryRegion nearMemory;
        private final MemoryRegion farMemory;

        private Link(CmId near, CmId far, CompletionQueue sends, CompletionQueue receives)
                throws RdmaException {
            this.near = near;
            this.far = far;
            this.sends = sends;
            this.receives = receives;
            nearMemory = near.registerMessages(Arena.ofAuto().allocate(BYTES));
            farMemory = far.registerMessages(Arena.ofAuto().allocate(BYTES));
        }

        CompletionQueue sends() {
            return sends;
        }

        CompletionQueue receives() {
            return receives;
        }

        void expect(long id) throws RdmaException {
            near.postReceive(id, nearMemory, 0, BYTES);
        }

        void expectAtFarEnd(long id) throws RdmaException {
            far.postReceive(id, farMemory, 0, BYTES);
        }

        void send(long id) throws RdmaException {
            near.postSend(id, nearMemory, 0, 8, SendFlag.SIGNALED);
        }

        void sendFromFarEnd(long id) throws RdmaException {
            far.postSend(id, farMemory, 0, 8, SendFlag.SIGNALED);
        }

        @Override
        public void close() throws RdmaException {
            near.close();
            far.close();
            nearMemory.close();
            farMemory.close();
            sends.close();
            if (!receives.equals(sends)) {
                receives.close();
            }
        }
    }

    /** {@return a connection with a completion queue for each direction} */
    Link connect() throws Exception {
        return connect(false);
    }

    Link connect(boolean isOneQueue) throws Exception {
        CompletableFuture<CmId> accepted = new CompletableFuture<>();
        Thread.ofPlatform().daemon().start(() -> {
            try {
                CmId far = listener.awaitRequest();
                far.createQueuePair(attributes());
                far.accept();
                accepted.complete(far);
            } catch (RdmaException | RuntimeException e) {
                accepted.completeExceptionally(e);
            }
        });
        CmId near = CmId.create(PortSpace.TCP);
        near.resolveAddress(listener.localAddress(), CmStage.TIMEOUT);
        near.resolveRoute(CmStage.TIMEOUT);
        CompletionQueue sends = near.context().createCompletionQueue(2 * DEPTH, channel);
        CompletionQueue receives = isOneQueue
                ? sends
                : near.context().createCompletionQueue(2 * DEPTH, channel);
        near.createQueuePair(
                attributes().sendCompletionQueue(sends).receiveCompletionQueue(receives));
        near.connect(new ConnectionParameters());
        Link link = new Link(near, accepted.get(60, TimeUnit.SECONDS), sends, receives);
        synchronized (links) {
            links.push(link);
        }
        return link;
    }

    private static QueuePairInitAttributes attributes() {
        return new QueuePairInitAttributes()
                .capabilities(QueuePairCapabilities.ofDepth(DEPTH, DEPTH));
    }

    // ---------------------------------------------------------------- threads that wait

    /** Something that takes until something else happens. */
    interface Blocking<T> {
        T await() throws RdmaException;
    }

    /** A thread that waits, and what comes of it. */
    static final class Waiter<T> {
        private final CompletableFuture<T> result = new CompletableFuture<>();
        private final Thread thread;

        Waiter(Blocking<T> wait) {
            this(Thread.ofPlatform().daemon(), wait);
        }

        Waiter(Thread.Builder threads, Blocking<T> wait) {
            thread = threads.start(() -> {
                try {
                    result.complete(wait.await());
                } catch (RdmaException | RuntimeException e) {
                    result.completeExceptionally(e);
                }
            });
        }

        Waiter<T> untilItSleeps() throws Exception {
            Wait.until("the thread sleeps", this::isAsleep);
            return this;
        }

        /** In a system call its state does not say so. */
        private boolean isAsleep() {
            return thread.getState() == Thread.State.WAITING
                    || thread.getState() == Thread.State.TIMED_WAITING
                    || Arrays.stream(thread.getStackTrace())
                            .anyMatch(frame -> frame.getClassName().endsWith(".EngineWaiters"));
        }

        T result() throws Exception {
            return result.get(60, TimeUnit.SECONDS);
        }
    }

    static void assertDone(WorkCompletion completion, long id) {
        assertThat(completion.isSuccess()).as(completion.toString()).isTrue();
        assertThat(completion.id()).isEqualTo(id);
    }

    @Override
    public void close() throws RdmaException {
        for (Link link : links) {
            link.close();
        }
        channel.close();
        listener.close();
    }
}
