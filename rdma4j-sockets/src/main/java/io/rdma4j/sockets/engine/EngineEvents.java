// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.engine;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmEventChannel;
import io.rdma4j.cm.CmId;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.RdmaInterruptedException;
import io.rdma4j.verbs.WaitChannel;
import io.rdma4j.verbs.WaitSet;
import org.jspecify.annotations.Nullable;

import java.nio.channels.Selector;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * What happens to all connections and listeners: completions, and events of the connection manager. The leader waits for it and
 * hands it to whom it belongs. An event is acknowledged when it was handled, and an id is not freed before.
 */
final class EngineEvents {
    private static final System.Logger LOG = System.getLogger(SocketEngine.class.getName());
    /** How many are handled until the leader looks at something else. */
    private static final int BATCH = 64;

    private final WaitSet set = WaitSet.create();
    private final CompletionChannel completions = CompletionChannel.create(set);
    private final CmEventChannel events = CmEventChannel.create(set);
    /** Stands for no connection: its events wake the leader. */
    private final CmId waker;
    private final AtomicBoolean isWoken = new AtomicBoolean();

    /** What handles completions; the user context of its queue. */
    interface CompletionUser {
        /** Its queue has an event. */
        void onCompletions();
    }

    /** What handles events; the user context of its id. */
    interface EventUser {
        /**
         * Something has happened to its id.
         *
         * @param event acknowledged by the caller
         */
        void onEvent(CmEvent event) throws RdmaException;
    }

    EngineEvents() {
        try {
            waker = CmId.create(events, PortSpace.TCP);
        } catch (RdmaException e) {
            throw new IllegalStateException("a new channel takes ids", e);
        }
    }

    /** {@return where completion queues report, whose user context is a {@link CompletionUser}} */
    CompletionChannel completions() {
        return completions;
    }

    /** {@return a new id whose events go to a user} */
    CmId newId(PortSpace space, EventUser user) throws RdmaException {
        CmId id = CmId.create(events, space);
        id.userContext(user);
        return id;
    }

    /** Ends the wait of the leader, or its next one. For any thread. */
    void wake() {
        if (isWoken.compareAndSet(false, true)) {
            waker.writeEvent(0, 0);
        }
    }

    /** The leader is about to look at all that others may wake it for. */
    void beginLook() {
        // Who wakes the leader after it has looked must find it not woken.
        isWoken.set(false);
    }

    /** The calling thread waits for something else, though it has perhaps polled a device, which expects it to do so again. */
    void waitElsewhere() {
        set.waitElsewhere();
    }

    /** {@return whether there is any} */
    boolean isAny() {
        try {
            return set.poll(Duration.ZERO) != null;
        } catch (RdmaException e) {
            throw new IllegalStateException("the set of the engine stays open", e);
        }
    }

    /**
     * Waits for something and handles it, and what came with it. For the leader, whose interruption ends the wait and stays.
     *
     * @param selector what else it waits for, null for nothing
     */
    void await(Duration timeout, @Nullable Selector selector) {
        try {
            WaitChannel<?> next = selector == null
                    ? set.poll(timeout)
                    : set.poll(timeout, selector);
            for (int i = 0; i < BATCH && next != null; i++) {
                if (next.equals(completions)) {
                    handleCompletions();
                } else {
                    handleEvent();
                }
                next = set.poll(Duration.ZERO);
            }
        } catch (RdmaInterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RdmaException e) {
            throw new IllegalStateException("the channels of the engine stay open", e);
        }
    }

    private void handleCompletions() throws RdmaException {
        CompletionQueue queue = completions.pollEvent(Duration.ZERO);
        if (queue == null) {
            return;
        }
        queue.acknowledgeEvents(1);
        if (queue.userContext() instanceof CompletionUser user) {
            boolean _ = Defects.contain(user::onCompletions);
        }
    }

    private void handleEvent() throws RdmaException {
        CmEvent event = events.pollEvent(Duration.ZERO);
        if (event == null) {
            return;
        }
        try (event) {
            if (event.id().userContext() instanceof EventUser user) {
                boolean _ = Defects.contain(() -> handle(user, event));
            }
        }
    }

    private static void handle(EventUser user, CmEvent event) {
        try {
            user.onEvent(event);
        } catch (RdmaException e) {
            LOG.log(System.Logger.Level.WARNING, "an event was not handled: " + event, e);
        }
    }
}
