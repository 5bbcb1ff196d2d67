// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.verbs;

import io.rdma4j.softnic.engine.EngineDriver;
import io.rdma4j.softnic.engine.EngineQueuePair;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaClosedException;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendOpcode;

import java.util.Set;

/** What the parts of a queue pair need of it: those that post, check, and attach it. It knows none of them. For any thread. */
final class SoftQueuePairServices {
    private final QueuePair queuePair;
    private final SoftDomainServices domain;
    private final EngineDriver driver;
    private final EngineQueuePair engineSide;
    private final QueuePairType type;
    private final Set<SendOpcode> offered;
    private final int datagramLength;
    private volatile QueuePairState state;
    private volatile boolean isClosed;

    /**
     * @param queuePair for its parts to answer with; only passed on
     * @param offered the operations that its type supports
     */
    SoftQueuePairServices(QueuePair queuePair, SoftDomainServices domain,
            EngineQueuePair engineSide, QueuePairType type, Set<SendOpcode> offered) {
        this.queuePair = queuePair;
        this.domain = domain;
        this.engineSide = engineSide;
        this.type = type;
        this.offered = offered;
        driver = domain.nic().driver();
        datagramLength = domain.nic().activeMtu().bytes();
        state = engineSide.protocol().state();
    }

    /** {@return the queue pair, for its parts to answer with} */
    QueuePair queuePair() {
        return queuePair;
    }

    /** {@return what it needs of its domain} */
    SoftDomainServices domain() {
        return domain;
    }

    /** {@return its side of the engine} */
    EngineQueuePair engineSide() {
        return engineSide;
    }

    QueuePairType type() {
        return type;
    }

    /** {@return the operations that its type supports} */
    Set<SendOpcode> offered() {
        return offered;
    }

    /** {@return the longest datagram, in bytes} */
    int datagramLength() {
        return datagramLength;
    }

    /** {@return its state, or the last one if it was just closed} */
    QueuePairState state() {
        return state;
    }

    void onState(QueuePairState newState) {
        state = newState;
    }

    boolean isClosed() {
        return isClosed;
    }

    void onClosed() {
        isClosed = true;
    }

    void checkOpen() throws RdmaException {
        if (isClosed) {
            throw RdmaClosedException.of("queue pair");
        }
    }

    /** Notifies the engine that sends were posted. */
    void ringSend() {
        driver.ring(engineSide, EngineQueuePair.SEND_DOORBELL);
    }

    /** Tells the engine of several posted send requests. */
    void ringForList() {
        driver.ringForList(engineSide);
    }
}
