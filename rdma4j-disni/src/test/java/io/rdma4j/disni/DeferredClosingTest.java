// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.disni;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmEventChannel;
import io.rdma4j.cm.CmEventType;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaClosedException;
import io.rdma4j.verbs.RdmaDevices;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** What is destroyed while a thread has taken an event of it. */
class DeferredClosingTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    private static final int TIMEOUT_MS = (int) TIMEOUT.toMillis();

    private final Handles handles = new Handles();
    private final Devices devices = new Devices(handles);
    private final DeferredClosing closing = new DeferredClosing();

    /** An object that is closed when nothing uses it. */
    private static final class Used implements DeferredClosing.Closing {
        int uses;
        int tries;
        boolean isClosed;

        Used(int uses) {
            this.uses = uses;
        }

        @Override
        public void close() throws RdmaException {
            tries++;
            if (uses > 0) {
                throw new RdmaException(Errno.EBUSY, "close", "it is used");
            }
            isClosed = true;
        }
    }

    @Test
    void objectIsClosedWhenItsLastEventIsAcknowledged() throws Exception {
        Used object = new Used(2);
        closing.close(object, object);
        object.uses--;
        closing.onAcknowledged(object);
        assertThat(object.isClosed).isFalse();
        object.uses--;
        closing.onAcknowledged(object);
        assertThat(object.isClosed).isTrue();
    }

    @Test
    void whatWaitsForTheObjectIsClosedAfterIt() throws Exception {
        Used object = new Used(1);
        List<String> closed = new ArrayList<>();
        Used channel = new Used(1);
        closing.close(channel, channel);
        closing.close(object, () -> {
            object.close();
            channel.uses--;
            closed.add("object");
        });
        object.uses--;
        closing.onAcknowledged(object);
        assertThat(closed).containsExactly("object");
        assertThat(channel.isClosed).isTrue();
    }

    /** They come with each message. */
    @Test
    void eventsOfOtherObjectsTryNothing() throws Exception {
        Used object = new Used(1);
        closing.close(object, object);
        closing.onAcknowledged(new Used(0));
        assertThat(object.tries).isOne();
    }

    @Test
    void idIsDestroyedWhenItsEventIsAcknowledged() throws Exception {
        CmCalls calls = new CmCalls(handles, devices, closing);
        long channel = calls.createEventChannel();
        CmEventChannel events = handles.find(channel, CmCalls.Channel.class, "channel").events();
        long id = calls.createId(channel);
        try (Arena arena = Arena.ofConfined()) {
            long address = arena.allocate(CallMemory.ADDRESS_BYTES).address();
            CallMemory.writeAddress(address, Connection.ADDRESS);
            calls.resolveAddress(id, 0, address, TIMEOUT_MS);
            CmEvent taken = events.pollEvent(TIMEOUT);
            assertThat(taken).isNotNull();
            calls.resolveRoute(id, TIMEOUT_MS);
            assertThat(calls.destroyId(id)).isZero();
            taken.acknowledge();
            long numbers = arena.allocate(2 * Long.BYTES).address();
            assertThat(calls.nextEvent(channel, numbers, numbers + Long.BYTES, TIMEOUT_MS))
                    .isEqualTo(CmEventType.ROUTE_RESOLVED.code());
            // EBUSY as long as an id uses it.
            events.close();
        }
    }

    @Test
    void completionQueueIsDestroyedWhenItsEventIsAcknowledged() throws Exception {
        VerbsCalls calls = new VerbsCalls(handles, devices, closing);
        try (DeviceContext context = RdmaDevices.find("roce_lo").open();
                ProtectionDomain domain = context.allocateProtectionDomain()) {
            long device = devices.handleOf(context);
            long channel = calls.createCompletionChannel(device);
            long handle = calls.createCompletionQueue(device, channel, 8, 0);
            CompletionQueue queue = calls.queue(handle);
            CompletionChannel events = handles.find(channel, VerbsCalls.Channel.class, "channel")
                    .events();
            try (QueuePair queuePair = domain
                    .createQueuePair(new QueuePairInitAttributes().completionQueue(queue))) {
                queuePair.modify(new QueuePairAttributes().state(QueuePairState.INIT).port(1)
                        .pkeyIndex(0).accessFlags(AccessFlag.LOCAL_WRITE));
                queuePair.modify(new QueuePairAttributes().state(QueuePairState.ERR));
                complete(queuePair, queue);
                assertThat(events.pollEvent(TIMEOUT)).isSameAs(queue);
                complete(queuePair, queue);
            }
            assertThat(calls.destroyCompletionQueue(handle)).isZero();
            queue.acknowledgeEvents(1);
            assertThat(calls.nextEvent(channel, TIMEOUT_MS)).isZero();
            assertThatExceptionOfType(RdmaClosedException.class)
                    .isThrownBy(queue::requestNotification);
            assertThat(calls.destroyCompletionChannel(channel)).isZero();
        }
    }

    /** A receive of a queue pair that has failed completes at once, with an event. */
    private static void complete(QueuePair queuePair, CompletionQueue queue) throws RdmaException {
        queue.requestNotification();
        queuePair.postReceive(new ReceiveWorkRequest());
    }
}
