// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.rc;

import io.rdma4j.protocol.roce.RoceHost;
import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.QueuePairAttribute;
import io.rdma4j.verbs.QueuePairAttributes;

/** The attributes set by modify, in the form that the state machines need. */
final class RcAttributes {
    Path path = Path.NONE;
    int destinationQueuePair;
    int mtu = 256;
    int timeout;
    int retryCount;
    int rnrRetry;
    int minRnrTimer;
    /** What a request asks for that finds no receive for the first time; later {@link #minRnrTimer}. */
    int firstRnrTimer;
    int maxReadAtomic;
    int maxDestinationReadAtomic;
    long sendPsn;
    long receivePsn;
    boolean notifyDrained;
    private int access;

    void apply(QueuePairAttributes from) {
        if (from.isSet(QueuePairAttribute.ACCESS_FLAGS)) {
            access = AccessFlag.bits(from.accessFlags());
        }
        if (from.isSet(QueuePairAttribute.DESTINATION_QUEUE_PAIR)) {
            destinationQueuePair = from.destinationQueuePairNumber();
        }
        if (from.isSet(QueuePairAttribute.PATH_MTU)) {
            mtu = from.pathMtu().bytes();
        }
        if (from.isSet(QueuePairAttribute.TIMEOUT)) {
            timeout = from.ackTimeoutExponent();
        }
        if (from.isSet(QueuePairAttribute.RETRY_COUNT)) {
            retryCount = from.retryCount();
        }
        if (from.isSet(QueuePairAttribute.RNR_RETRY)) {
            rnrRetry = from.rnrRetry();
        }
        if (from.isSet(QueuePairAttribute.MIN_RNR_TIMER)) {
            minRnrTimer = from.minRnrTimerCode();
            firstRnrTimer = minRnrTimer;
        }
        if (from.isSet(QueuePairAttribute.MAX_READ_ATOMIC)) {
            maxReadAtomic = from.maxReadAtomic();
        }
        if (from.isSet(QueuePairAttribute.MAX_DESTINATION_READ_ATOMIC)) {
            maxDestinationReadAtomic = from.maxDestinationReadAtomic();
        }
        if (from.isSet(QueuePairAttribute.SEND_PSN)) {
            sendPsn = from.sendPsn();
        }
        if (from.isSet(QueuePairAttribute.RECEIVE_PSN)) {
            receivePsn = from.receivePsn();
        }
        if (from.isSet(QueuePairAttribute.STATE)) {
            notifyDrained = from.isSet(QueuePairAttribute.ENABLE_SQD_ASYNC_NOTIFY)
                    && from.enableSqdAsyncNotify();
        }
    }

    boolean allows(AccessFlag flag) {
        return (access & flag.bit()) != 0;
    }

    /** {@return how long to wait for an acknowledgement, {@link Long#MAX_VALUE} to wait without limit} */
    long timeoutNs() {
        return timeout == 0 ? Long.MAX_VALUE : 4096L << timeout;
    }

    /**
     * {@return how many outstanding READs, atomics and similar requests of the peer are served} The next power of two
     * of the agreed number: Linux rxe and NICs round their own number up to one, also as requesters, and send that
     * many.
     */
    int readsServed() {
        return maxDestinationReadAtomic <= 1
                ? maxDestinationReadAtomic
                : Integer.highestOneBit(maxDestinationReadAtomic - 1) << 1;
    }

    /** {@return packets of a message} IBTA 9.7.1: one without payload takes one as well. */
    long packets(long length) {
        return Math.max(1, (length + mtu - 1) / mtu);
    }

    /**
     * {@return how many packets of a message may go as one}
     *
     * @param isFirst whether the first of them is the first of the message
     * @param left packets of the message from that one on
     * @param mostOnNetwork how many may leave together on a path to another device
     */
    int maxSegments(RoceHost host, boolean isFirst, long left, int mostOnNetwork) {
        if (left == 1) {
            return 1;
        }
        int whole = host.maxSegments(path, mtu);
        if (whole > 1) {
            return (int) Math.min(whole, left);
        }
        if (isFirst || mostOnNetwork <= 1) {
            return 1;
        }
        int middle = Math.min(host.maxMiddleSegments(path), mostOnNetwork);
        return (int) Math.min(middle, left - 1);
    }
}
