// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.roce;

import io.rdma4j.protocol.count.Counter;
import io.rdma4j.verbs.QueuePairType;

import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;

import static io.rdma4j.protocol.count.Counter.ACK_DEFERRED;
import static io.rdma4j.protocol.count.Counter.BORROWED_BYTES;
import static io.rdma4j.protocol.count.Counter.BORROWED_PKTS;
import static io.rdma4j.protocol.count.Counter.COMPLETER_RETRY_ERR;
import static io.rdma4j.protocol.count.Counter.DROPPED_BAD_QKEY;
import static io.rdma4j.protocol.count.Counter.DROPPED_GHOST_ACK;
import static io.rdma4j.protocol.count.Counter.DROPPED_MESSAGE;
import static io.rdma4j.protocol.count.Counter.DROPPED_NOT_READY;
import static io.rdma4j.protocol.count.Counter.DROPPED_WRONG_SOURCE;
import static io.rdma4j.protocol.count.Counter.DUPLICATE_REQUEST;
import static io.rdma4j.protocol.count.Counter.LENT_BYTES;
import static io.rdma4j.protocol.count.Counter.LENT_PKTS;
import static io.rdma4j.protocol.count.Counter.OUT_OF_SEQ_REQUEST;
import static io.rdma4j.protocol.count.Counter.RCVD_BYTES;
import static io.rdma4j.protocol.count.Counter.RCVD_PKTS;
import static io.rdma4j.protocol.count.Counter.RCVD_RNR_ERR;
import static io.rdma4j.protocol.count.Counter.RCVD_SEQ_ERR;
import static io.rdma4j.protocol.count.Counter.RDMA_RECVS;
import static io.rdma4j.protocol.count.Counter.RDMA_SENDS;
import static io.rdma4j.protocol.count.Counter.RETRANSMITTED_PKTS;
import static io.rdma4j.protocol.count.Counter.RETRY_EXCEEDED_ERR;
import static io.rdma4j.protocol.count.Counter.RETRY_RNR_EXCEEDED_ERR;
import static io.rdma4j.protocol.count.Counter.RP_CNP_IGNORED;
import static io.rdma4j.protocol.count.Counter.SEND_ERR;
import static io.rdma4j.protocol.count.Counter.SEND_RNR_ERR;
import static io.rdma4j.protocol.count.Counter.SENT_BYTES;
import static io.rdma4j.protocol.count.Counter.SENT_PKTS;

/** What a RoCE device counts: everything; and what its queue pairs count, by their type. */
final class RoceCounters {
    static final Set<Counter> OF_DEVICE = Collections
            .unmodifiableSet(EnumSet.allOf(Counter.class));

    private static final Set<Counter> OF_RC = with(DUPLICATE_REQUEST, OUT_OF_SEQ_REQUEST,
            RCVD_RNR_ERR, SEND_RNR_ERR, RCVD_SEQ_ERR, ACK_DEFERRED, RETRY_EXCEEDED_ERR,
            RETRY_RNR_EXCEEDED_ERR, COMPLETER_RETRY_ERR, RETRANSMITTED_PKTS, LENT_PKTS, LENT_BYTES,
            BORROWED_PKTS, BORROWED_BYTES, DROPPED_GHOST_ACK);
    private static final Set<Counter> OF_UC = with(DUPLICATE_REQUEST, OUT_OF_SEQ_REQUEST,
            DROPPED_MESSAGE);
    private static final Set<Counter> OF_UD = with(DROPPED_BAD_QKEY, DROPPED_MESSAGE);

    private RoceCounters() {}

    /** {@return these, and those of each queue pair} */
    private static Set<Counter> with(Counter... more) {
        EnumSet<Counter> counted = EnumSet.of(SENT_PKTS, RCVD_PKTS, SENT_BYTES, RCVD_BYTES,
                SEND_ERR,
                RDMA_SENDS, RDMA_RECVS, RP_CNP_IGNORED, DROPPED_NOT_READY, DROPPED_WRONG_SOURCE);
        Collections.addAll(counted, more);
        return Collections.unmodifiableSet(counted);
    }

    static Set<Counter> of(QueuePairType type) {
        return switch (type) {
            case RC -> OF_RC;
            case UC -> OF_UC;
            case UD -> OF_UD;
            default -> Set.of();
        };
    }
}
