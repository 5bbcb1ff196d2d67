// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.pingpong;

import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.OnDemandCapability;
import io.rdma4j.verbs.QueuePairType;

import java.io.IOException;
import java.util.EnumSet;
import java.util.Set;

/**
 * What goes to and fro.
 *
 * @param type the transport service
 * @param queuePairs how many queue pairs play
 * @param isShared whether they draw from one shared receive queue
 * @param size bytes of a message
 * @param mtu the path MTU of connections; datagrams have none
 * @param features what a side does beside
 */
record Traffic(QueuePairType type, int queuePairs, boolean isShared, long size, Mtu mtu,
        Set<Feature> features) {
    /** Addresses on the side channel of tools with many queue pairs, used or not. */
    static final int MANY = 256;

    /** The longest message, in bytes. */
    static final long LONGEST = 1L << 31;

    private static final byte UNTOUCHED = 0x7b;

    /**
     * {@return messages that warm up for this traffic} They lie in ordinary memory.
     */
    Traffic toWarmUp(long ofSize) {
        Set<Feature> kept = EnumSet.noneOf(Feature.class);
        kept.addAll(features);
        kept.retainAll(EnumSet.of(Feature.TIMESTAMPS, Feature.NEW_SEND));
        return new Traffic(type, queuePairs, isShared, ofSize, mtu, kept);
    }

    boolean has(Feature feature) {
        return features.contains(feature);
    }

    boolean isDatagrams() {
        return type == QueuePairType.UD;
    }

    /** Refuses messages that datagrams of a port cannot carry. */
    void checkSize(DeviceContext context, int port) throws IOException {
        if (isDatagrams()) {
            int longest = context.queryPort(port).activeMtu().bytes();
            if (size > longest) {
                throw new IOException("Requested size larger than port MTU (" + longest + ")");
            }
        }
    }

    /** {@return whether a message that is lost stays lost} */
    boolean mayLose() {
        return type == QueuePairType.UC || type == QueuePairType.UD;
    }

    /** {@return bytes before the message in receive buffers} */
    int headerLength() {
        return isDatagrams() ? AddressHandle.GLOBAL_ROUTE_LENGTH : 0;
    }

    /** {@return what messages consist of, apart from the first byte of each page} */
    byte filling() {
        return isShared ? 0 : UNTOUCHED;
    }

    /** {@return addresses on the side channel} */
    int addresses() {
        return isShared ? MANY : queuePairs;
    }

    /** {@return what on-demand paging must be good for} */
    Set<OnDemandCapability> onDemandNeeds() {
        return Set.of(OnDemandCapability.SEND,
                isShared ? OnDemandCapability.SHARED_RECEIVE : OnDemandCapability.RECEIVE);
    }
}
