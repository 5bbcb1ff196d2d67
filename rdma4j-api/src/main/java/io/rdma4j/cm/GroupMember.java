// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.connection.DatagramParameters;
import io.rdma4j.spi.CmDatagrams;
import io.rdma4j.spi.CmMembership;
import io.rdma4j.spi.JoinRequest;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.RdmaClosedException;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.util.function.Consumer;

/**
 * An id's membership of one multicast group. As soon as the device reports that the group was joined, the reporting thread
 * attaches the queue pair; only then the application gets the event.
 */
final class GroupMember implements CmMembership.Handler {
    private final IdEvents events;
    private final IdQueuePair queuePair;
    private final JoinRequest request;
    private final int ownQkey;
    private final @Nullable Object context;
    private final Consumer<GroupMember> onNone;
    /** Null until the device has taken the request. Guarded by this, as the rest. */
    private @Nullable CmMembership ofDevice;
    /** What the queue pair is attached to, null if it is not. */
    private @Nullable Attachment attachment;
    private boolean isOver;
    private boolean isAnswered;

    /** Where a queue pair receives. */
    private record Attachment(QueuePair receiver, Gid group) {}

    /**
     * @param ownQkey the Q_Key of the id, for fabrics on which the members choose it
     * @param context an object of the application, for the event
     * @param onNone called if joining failed
     */
    GroupMember(IdEvents events, IdQueuePair queuePair, JoinRequest request, int ownQkey,
            @Nullable Object context, Consumer<GroupMember> onNone) {
        this.events = events;
        this.queuePair = queuePair;
        this.request = request;
        this.ownQkey = ownQkey;
        this.context = context;
        this.onNone = onNone;
    }

    /**
     * Asks the device, without holding a lock: the device may answer at once, in another thread.
     *
     * @return false if the group was left before the device answered
     */
    boolean join(CmDatagrams services) throws RdmaException {
        CmMembership asked = services.join(request, this);
        boolean wasAnswered;
        synchronized (this) {
            if (!isOver) {
                ofDevice = asked;
                return true;
            }
            wasAnswered = isAnswered;
        }
        // It was left, or nothing came of it, meanwhile.
        asked.close();
        return wasAnswered;
    }

    @Override
    public void onJoined(AddressHandleAttributes path, @Nullable Integer qkey) {
        try {
            if (!attach(path.destination())) {
                return;
            }
        } catch (RdmaClosedException closing) {
            onNotJoined(new RdmaClosedException("join multicast group",
                    "the queue pair was closed meanwhile"));
            return;
        } catch (RdmaException e) {
            onNotJoined(e);
            return;
        }
        events.publish(CmEventType.MULTICAST_JOIN, EventDetails.joined(
                new DatagramParameters(path, DatagramParameters.MULTICAST_QUEUE_PAIR,
                        qkey == null ? ownQkey : qkey, new byte[0]),
                context));
    }

    /** {@return false if the group was left meanwhile} */
    private synchronized boolean attach(Gid group) throws RdmaException {
        if (isOver) {
            return false;
        }
        isAnswered = true;
        QueuePair receiver = request.isSendOnly() ? null : queuePair.queuePair();
        if (receiver != null) {
            receiver.attachMulticast(group);
            attachment = new Attachment(receiver, group);
        }
        return true;
    }

    @Override
    public void onNotJoined(RdmaException cause) {
        CmMembership left;
        synchronized (this) {
            if (isOver) {
                return;
            }
            isAnswered = true;
            left = end();
        }
        close(left);
        onNone.accept(this);
        events.publish(CmEventType.MULTICAST_ERROR, EventDetails.notJoined(cause, context));
    }

    @Override
    public void onUnknownEvent(int typeCode, int status) {
        events.publishUnknown(typeCode, status);
    }

    /** The queue pair no longer receives from the group. */
    synchronized void detach() throws RdmaException {
        Attachment present = attachment;
        if (present != null) {
            present.receiver.detachMulticast(present.group);
            attachment = null;
        }
    }

    /** Leaves the group. Idempotent. */
    void leave() throws RdmaException {
        CmMembership left = end();
        try {
            detach();
        } finally {
            close(left);
        }
    }

    private synchronized @Nullable CmMembership end() {
        isOver = true;
        CmMembership left = ofDevice;
        ofDevice = null;
        return left;
    }

    private static void close(@Nullable CmMembership left) {
        if (left != null) {
            left.close();
        }
    }
}
