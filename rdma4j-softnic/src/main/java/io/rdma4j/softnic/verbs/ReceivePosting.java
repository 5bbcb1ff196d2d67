// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.verbs;

import io.rdma4j.device.PostRules;
import io.rdma4j.softnic.engine.EngineDriver;
import io.rdma4j.softnic.engine.EngineQueuePair;
import io.rdma4j.softnic.queue.ReceiveRing;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.PostException;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;

import java.util.List;

/** The way of receive requests into a queue pair's own receive queue: checked and copied. */
final class ReceivePosting {
    private final SoftQueuePairServices queuePair;
    private final ReceiveRing ring;
    private final QueuePairSpec spec;
    private final boolean isShared;
    private final int maxElements;
    private final EngineDriver driver;
    private final EngineQueuePair engineSide;

    ReceivePosting(SoftQueuePairServices queuePair, ReceiveRing ring, QueuePairSpec spec) {
        this.queuePair = queuePair;
        this.ring = ring;
        this.spec = spec;
        isShared = spec.sharedReceives() != null;
        maxElements = spec.capabilities().maxReceiveElements();
        driver = queuePair.domain().nic().driver();
        engineSide = queuePair.engineSide();
    }

    void post(ReceiveWorkRequest request) throws RdmaException {
        synchronized (ring) {
            enqueue(request);
        }
        ringDoorbell();
    }

    void post(List<ReceiveWorkRequest> requests) throws RdmaException {
        queuePair.checkOpen();
        int posted = 0;
        try {
            synchronized (ring) {
                for (; posted < requests.size(); posted++) {
                    enqueue(PostRules.given(requests, posted));
                }
            }
        } catch (RdmaException refused) {
            throw new PostException(PostChecks.RECEIVE, refused, posted);
        } catch (IllegalStateException mistake) {
            throw new PostException(PostChecks.RECEIVE, mistake, posted);
        } finally {
            if (posted > 0) {
                ringDoorbell();
            }
        }
    }

    private void enqueue(ReceiveWorkRequest request) throws RdmaException {
        queuePair.checkOpen();
        if (isShared) {
            throw new RdmaException(Errno.EINVAL, PostChecks.RECEIVE,
                    "the queue pair draws from a shared receive queue: post there");
        }
        PostChecks.check(request, queuePair.state(), maxElements);
        if (!ring.post(request)) {
            throw PostChecks.full(false, spec.capabilities().maxReceiveRequests());
        }
    }

    /**
     * The engine needs to know of receives only if the peer waits for one, or if they are flushed.
     */
    private void ringDoorbell() {
        if (engineSide.wantsReceiveDoorbell()) {
            driver.ring(engineSide, EngineQueuePair.RECEIVE_DOORBELL);
        }
    }
}
