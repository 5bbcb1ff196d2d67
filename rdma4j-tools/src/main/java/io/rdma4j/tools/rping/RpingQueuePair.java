// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.rping;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmEventType;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.QueuePairOperations;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.tools.endpoint.OpenObjects;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.WorkCompletion;
import org.jspecify.annotations.Nullable;

import java.time.Duration;

/**
 * The queue pair of an rping: the id's, or one that the program brings from state to state by itself.
 *
 * <p>It waits for completions with patience, and ends every wait when the peer disconnects. One thread at a
 * time.
 */
final class RpingQueuePair implements QueuePairOperations, AutoCloseable {
    /** How long to sleep before looking for the end of the connection. */
    private static final Duration LOOK = Duration.ofMillis(100);

    private final CmId id;
    private final boolean isOwn;
    private final OpenObjects open = new OpenObjects();
    private final QueuePair queuePair;
    private final CompletionChannel channel;
    private final CompletionQueue sends;
    private final CompletionQueue receives;
    private final Duration patience;
    private final WorkCompletion completion = new WorkCompletion();
    private boolean ended;

    RpingQueuePair(CmId id, boolean isOwn, int sendDepth, int receiveDepth, Duration patience)
            throws RdmaException {
        this.id = id;
        this.isOwn = isOwn;
        this.patience = patience;
        channel = CompletionChannel.create();
        open.add(channel::close);
        try {
            sends = created(sendDepth);
            receives = created(receiveDepth);
            // Closed before them, but after the queue pair, which makes events.
            open.add(this::acknowledgeAll);
            queuePair = created(new QueuePairInitAttributes().type(QueuePairType.RC)
                    .sendCompletionQueue(sends).receiveCompletionQueue(receives)
                    .capabilities(QueuePairCapabilities.ofDepth(sendDepth, receiveDepth)));
        } catch (RdmaException | RuntimeException e) {
            // The peer may have gone since it asked: nothing stays of what was made for it.
            open.closeAfter(e);
            throw e;
        }
    }

    private CompletionQueue created(int depth) throws RdmaException {
        CompletionQueue queue = id.context().createCompletionQueue(depth, channel);
        open.add(queue::close);
        return queue;
    }

    private QueuePair created(QueuePairInitAttributes attributes) throws RdmaException {
        if (!isOwn) {
            QueuePair created = id.createQueuePair(attributes);
            open.add(id::closeQueuePair);
            return created;
        }
        QueuePair created = id.protectionDomain().createQueuePair(attributes);
        open.add(created::close);
        // Receives are posted before there is a connection.
        created.modify(id.initQueuePairAttributes(QueuePairState.INIT));
        return created;
    }

    @Override
    public QueuePair queuePair() {
        return queuePair;
    }

    @Override
    public @Nullable SharedReceiveQueue sharedReceiveQueue() {
        return null;
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return queuePair.protectionDomain();
    }

    // ---------------------------------------------------------------- connecting

    void connect(ConnectionParameters parameters) throws RdmaException {
        if (!isOwn) {
            id.connect(parameters);
            return;
        }
        id.connect(parameters.queuePairNumber(queuePair.number()));
        CmEvent answer = id.event();
        // Over iWARP the connection stands already, and has brought the queue pair up.
        if (answer != null && answer.type() == CmEventType.CONNECT_RESPONSE) {
            makeReady();
            id.establish();
        }
    }

    void accept(ConnectionParameters parameters) throws RdmaException {
        if (isOwn) {
            makeReady();
            parameters.queuePairNumber(queuePair.number());
        }
        id.accept(parameters);
    }

    /**
     * The connection has ended: finds out whether that was because of this side.
     *
     * @throws RdmaException ENODEV if the device has gone, for example because its interface was deleted
     */
    void requireDevice() throws RdmaException {
        try {
            id.disconnect();
        } catch (RdmaException e) {
            if (e.errno() == Errno.ENODEV) {
                throw new RdmaException(Errno.ENODEV, "exchange data",
                        "the device is gone; its network interface was removed", e);
            }
            // It has ended already.
        }
    }

    private void makeReady() throws RdmaException {
        // INIT once more: what the peer may do is known by now.
        queuePair.modify(id.initQueuePairAttributes(QueuePairState.INIT));
        queuePair.modify(id.initQueuePairAttributes(QueuePairState.RTR));
        queuePair.modify(id.initQueuePairAttributes(QueuePairState.RTS));
    }

    /** Ends the connection from this side. */
    void leave() throws RdmaException {
        fail();
        id.disconnect();
    }

    private void fail() throws RdmaException {
        if (isOwn) {
            queuePair.modify(new QueuePairAttributes().state(QueuePairState.ERR));
        }
    }

    // ---------------------------------------------------------------- waiting

    @Override
    public WorkCompletion awaitSendCompletion() throws RdmaException {
        return await(sends);
    }

    @Override
    public WorkCompletion awaitReceiveCompletion() throws RdmaException {
        return await(receives);
    }

    private WorkCompletion await(CompletionQueue queue) throws RdmaException {
        long startNs = System.nanoTime();
        while (!queue.poll(completion)) {
            queue.requestNotification();
            if (queue.poll(completion)) {
                break;
            }
            CompletionQueue announced = channel.pollEvent(LOOK);
            if (announced != null) {
                announced.acknowledgeEvents(1);
                continue;
            }
            lookForEnd();
            if (System.nanoTime() - startNs > patience.toNanos()) {
                throw new RdmaException(Errno.ETIMEDOUT, "await completion",
                        "nothing came from the peer for " + patience.toSeconds() + " s");
            }
        }
        return completion;
    }

    /** The connection manager lets only the id's own queue pair fail when the peer disconnects. */
    private void lookForEnd() throws RdmaException {
        if (!isOwn || ended) {
            return;
        }
        try (CmEvent event = id.channel().pollEvent(Duration.ZERO)) {
            if (event != null && event.type() == CmEventType.DISCONNECTED) {
                ended = true;
                fail();
            }
        }
    }

    private void acknowledgeAll() throws RdmaException {
        while (true) {
            CompletionQueue announced = channel.pollEvent(Duration.ZERO);
            if (announced == null) {
                return;
            }
            announced.acknowledgeEvents(1);
        }
    }

    @Override
    public void close() throws RdmaException {
        open.close();
    }
}
