// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.event.ProgressDriver;
import io.rdma4j.spi.UnknownEvents;
import io.rdma4j.verbs.RdmaException;

/** The events of an id, as the parts of the id see them: they publish, and wait for the outcome of a step if the id is synchronous. */
interface IdEvents {
    /** Publishes an event of the id; may be called by the thread that drives the device. */
    void publish(CmEventType type, EventDetails details);

    /** Publishes an event of the id that this version does not know, as {@link UnknownEvents#onUnknownEvent} has it. */
    void publishUnknown(int typeCode, int status);

    boolean isSynchronous();

    /** A step in progress; while there is one, a synchronous id cannot begin another. */
    interface Step extends AutoCloseable {
        /** As {@link IdEvents#complete}. */
        void complete(String operation, CmEventType... expected) throws RdmaException;

        @Override
        void close();
    }

    /**
     * Begins a step whose outcome comes later.
     *
     * @throws RdmaException EINVAL if another thread waits for the outcome of a step: there is one outcome
     *         for both
     */
    Step begin(String operation) throws RdmaException;

    /** Waits for the outcome of a step, one of those given, if the id is synchronous. */
    void complete(String operation, CmEventType... expected) throws RdmaException;

    /** A device publishes events of the id from now on; the thread that waits for them may drive it. */
    void addDriver(ProgressDriver driver);

    /** Undoes one {@link #addDriver}. */
    void removeDriver(ProgressDriver driver);
}
