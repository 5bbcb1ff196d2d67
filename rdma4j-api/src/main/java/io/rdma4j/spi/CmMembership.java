// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.spi;

import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

/**
 * A multicast group that an id has joined or is joining. While it is open, the network brings the group's datagrams to the
 * device; which queue pairs get them is for {@link io.rdma4j.verbs.QueuePair#attachMulticast} to say.
 */
public interface CmMembership {
    /** Leaves the group, or ends the attempt to join. Its handler is not called any more. Idempotent. */
    void close();

    /**
     * Is notified once whether the group was joined, while it is being asked for if the device knows at once, and else by the
     * thread that drives the device.
     */
    interface Handler extends UnknownEvents {
        /**
         * It was joined.
         *
         * @param path to the group; its destination is what queue pairs attach to
         * @param qkey the Q_Key of the group, null where the fabric leaves it to the members
         */
        void onJoined(AddressHandleAttributes path, @Nullable Integer qkey);

        /** It was not joined; the membership is still to be closed. */
        void onNotJoined(RdmaException cause);
    }
}
