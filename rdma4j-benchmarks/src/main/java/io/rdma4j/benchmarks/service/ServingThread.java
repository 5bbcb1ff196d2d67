// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.service;

import io.rdma4j.cm.CmId;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;
import io.rdma4j.verbs.WaitChannel;
import io.rdma4j.verbs.WaitSet;
import io.rdma4j.verbs.WorkCompletion;
import org.jspecify.annotations.Nullable;

import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What one thread of the server answers with: a completion queue and a shared receive queue for each device that a client
 * came over, all in one channel. {@link #accept} is for the thread that has the events, the rest for the serving one.
 */
final class ServingThread {
    private static final Duration TICK = Duration.ofMillis(500);
    private static final int RECEIVES = 256;
    private static final int COMPLETIONS = 1024;
    private static final int BATCH = 32;
    private static final long REPLY = -1;

    private final Work work;
    private final CompletionChannel channel;
    private final MemorySegment reply;
    private final WorkCompletion[] batch = WorkCompletion.array(BATCH);
    private final Map<DeviceContext, Served> devices = new ConcurrentHashMap<>();
    private final Map<Integer, CmId> clients = new ConcurrentHashMap<>();

    ServingThread(Work work, CompletionChannel channel) {
        this.work = work;
        this.channel = channel;
        reply = MemorySegment.ofArray(new byte[work.replyBytes()]);
    }

    /** What is there once for each device. */
    private final class Served {
        private final ProtectionDomain domain;
        private final MemoryRegion table;
        private final MemoryRegion messages;
        private final CompletionQueue completions;
        private final SharedReceiveQueue receives;

        Served(DeviceContext context) throws RdmaException {
            domain = context.allocateProtectionDomain();
            table = domain.allocateRegion(work.requestBytes(), AccessFlag.REMOTE_READ);
            messages = domain.allocateRegion((long) RECEIVES * work.requestBytes(),
                    AccessFlag.LOCAL_WRITE);
            completions = context.createCompletionQueue(COMPLETIONS, channel);
            receives = domain.createSharedReceiveQueue(
                    new SharedReceiveQueueInitAttributes().maxRequests(RECEIVES));
            for (int i = 0; i < RECEIVES; i++) {
                post(i);
            }
            completions.requestNotification();
        }

        void post(long i) throws RdmaException {
            receives.post(new ReceiveWorkRequest().id(i).add(messages, i * work.requestBytes(),
                    work.requestBytes()));
        }
    }

    /** {@return what a client is told when it is accepted: where it may read} */
    static byte[] greeting(MemoryRegion table) {
        return ByteBuffer.allocate(Long.BYTES + Integer.BYTES).putLong(table.address())
                .putInt(table.rkey()).array();
    }

    void accept(CmId id) throws RdmaException {
        Served served = devices.get(id.context());
        if (served == null) {
            served = new Served(id.context());
            devices.put(id.context(), served);
        }
        id.createQueuePair(served.domain,
                new QueuePairInitAttributes().completionQueue(served.completions)
                        .sharedReceiveQueue(served.receives)
                        .capabilities(QueuePairCapabilities.ofDepth(64, 0)));
        clients.put(id.queuePair().number(), id);
        id.accept(new ConnectionParameters().privateData(greeting(served.table)));
    }

    /** Answers for ever. */
    void serve(WaitSet set) {
        try {
            while (true) {
                WaitChannel<?> ready = set.poll(TICK);
                if (ready != null) {
                    onReady();
                }
            }
        } catch (RdmaException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The channel has an event, or had one. */
    void onReady() throws RdmaException {
        CompletionQueue queue = channel.pollEvent(Duration.ZERO);
        if (queue == null) {
            return;
        }
        queue.acknowledgeEvents(1);
        queue.requestNotification();
        Served served = served(queue);
        for (int count = queue.poll(batch); count > 0 && served != null; count = queue
                .poll(batch)) {
            for (int i = 0; i < count; i++) {
                onCompletion(served, batch[i]);
            }
        }
    }

    private @Nullable Served served(CompletionQueue queue) {
        for (Served each : devices.values()) {
            if (each.completions.equals(queue)) {
                return each;
            }
        }
        return null;
    }

    private void onCompletion(Served served, WorkCompletion completion) throws RdmaException {
        if (completion.id() == REPLY) {
            return;
        }
        CmId client = clients.get(completion.queuePairNumber());
        if (!completion.isSuccess() || client == null) {
            clients.remove(completion.queuePairNumber());
            return;
        }
        served.post(completion.id());
        client.postSend(REPLY, reply, SendFlag.SIGNALED);
    }
}
