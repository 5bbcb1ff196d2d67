// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.verbs;

import io.rdma4j.device.AsyncEventSource;
import io.rdma4j.device.ObjectKind;
import io.rdma4j.device.PostRules;
import io.rdma4j.device.ResourceText;
import io.rdma4j.protocol.work.ReceiveQueue;
import io.rdma4j.softnic.engine.EngineDriver;
import io.rdma4j.softnic.engine.EngineQueuePair;
import io.rdma4j.softnic.queue.SharedReceiveRing;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.PostException;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.RdmaClosedException;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.SharedReceiveQueueAttributes;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;
import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** A shared receive queue. */
final class SoftSharedReceiveQueue implements SharedReceiveQueue {
    private final SoftDomainServices domain;
    private final EngineDriver driver;
    private final @Nullable Object userContext;
    private final int maxElements;
    private final SharedReceiveRing ring;
    private final List<EngineQueuePair> queuePairs = new CopyOnWriteArrayList<>();
    private final AsyncEventSource events;
    private volatile boolean isClosed;

    /** For the engine's owner. */
    SoftSharedReceiveQueue(SoftDomainServices domain,
            SharedReceiveQueueInitAttributes attributes) {
        this.domain = domain;
        userContext = attributes.userContext();
        driver = domain.nic().driver();
        maxElements = attributes.maxElements();
        events = domain.owner().newSource(this);
        ring = new SharedReceiveRing(attributes.maxRequests(), maxElements,
                this::onLimit);
    }

    private void onLimit() {
        events.publish(AsyncEventType.SRQ_LIMIT_REACHED, 0);
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return domain.domain();
    }

    SoftDomainServices owner() {
        return domain;
    }

    @Override
    public @Nullable Object userContext() {
        return userContext;
    }

    void checkOpen() throws RdmaException {
        if (isClosed) {
            throw RdmaClosedException.of("shared receive queue");
        }
    }

    // ---------------------------------------------------------------- posting

    @Override
    public void post(ReceiveWorkRequest request) throws RdmaException {
        enqueue(request);
        ringWaiting();
    }

    @Override
    public void post(List<ReceiveWorkRequest> requests) throws RdmaException {
        checkOpen();
        int posted = 0;
        try {
            for (; posted < requests.size(); posted++) {
                enqueue(PostRules.given(requests, posted));
            }
        } catch (RdmaException refused) {
            throw new PostException(PostChecks.RECEIVE, refused, posted);
        } catch (IllegalStateException mistake) {
            throw new PostException(PostChecks.RECEIVE, mistake, posted);
        } finally {
            ringWaiting();
        }
    }

    private void enqueue(ReceiveWorkRequest request) throws RdmaException {
        checkOpen();
        PostRules.requireElements(request.elements().count(), maxElements, "queue",
                PostChecks.RECEIVE);
        if (!ring.post(request)) {
            throw PostChecks.full(false, ring.capacity());
        }
    }

    /** Notifies the queue pairs that found no request. */
    private void ringWaiting() {
        if (ring.takeStarved()) {
            for (EngineQueuePair queuePair : queuePairs) {
                if (queuePair.wantsReceiveDoorbell()) {
                    driver.ring(queuePair, EngineQueuePair.RECEIVE_DOORBELL);
                }
            }
        }
    }

    // ---------------------------------------------------------------- size and limit

    @Override
    public void resize(int maxRequests) throws RdmaException {
        String operation = "resize shared receive queue";
        checkOpen();
        Limits.checkRange(operation, "maxRequests", maxRequests, 1, Limits.SHARED_REQUESTS);
        driver.call(nowNs -> {
            checkOpen();
            if (maxRequests < ring.limit()) {
                throw new RdmaException(Errno.EINVAL, operation, "the limit of " + ring.limit()
                        + " requests is armed; " + maxRequests + " are fewer");
            }
            if (!ring.resize(maxRequests)) {
                throw new RdmaException(Errno.EINVAL, operation, ring.available()
                        + " requests are outstanding; they do not fit into " + maxRequests);
            }
            return this;
        });
    }

    @Override
    public void arm(int limit) throws RdmaException {
        driver.call(nowNs -> {
            checkOpen();
            Limits.checkRange("arm shared receive queue", "limit", limit, 0, ring.capacity());
            ring.arm(limit);
            return this;
        });
    }

    @Override
    public SharedReceiveQueueAttributes query() throws RdmaException {
        checkOpen();
        return new SharedReceiveQueueAttributes(ring.capacity(), maxElements, ring.limit());
    }

    // ---------------------------------------------------------------- for the engine's owner

    /** {@return the queue as a new queue pair sees it} */
    ReceiveQueue view() {
        return ring.view();
    }

    void attach(EngineQueuePair queuePair) {
        queuePairs.add(queuePair);
    }

    void detach(EngineQueuePair queuePair) {
        queuePairs.remove(queuePair);
    }

    @Override
    public void close() throws RdmaException {
        driver.call(nowNs -> {
            if (isClosed) {
                return this;
            }
            if (!queuePairs.isEmpty()) {
                throw new RdmaException(Errno.EBUSY, "close shared receive queue",
                        queuePairs.size() + " queue pair(s) still draw from it; close them first");
            }
            events.end("close shared receive queue");
            isClosed = true;
            domain.remove(ObjectKind.SHARED_RECEIVE_QUEUE, ObjectKind.SHARED_RECEIVE_QUEUE,
                    this);
            return this;
        });
    }

    @Override
    public int number() throws RdmaException {
        checkOpen();
        return SharedReceiveQueue.super.number();
    }

    @Override
    public String toString() {
        return ResourceText.of(this);
    }
}
