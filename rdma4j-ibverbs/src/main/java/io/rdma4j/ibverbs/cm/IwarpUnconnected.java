// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.cm;

import io.rdma4j.spi.QueuePairBringUp;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaException;

import java.util.List;

/** A program brings a queue pair of iWARP to INIT; connecting does the rest. */
enum IwarpUnconnected implements QueuePairBringUp {
    /** The only one. */
    BRING_UP;

    @Override
    public List<QueuePairState> states() {
        return List.of(QueuePairState.INIT);
    }

    @Override
    public QueuePairAttributes attributes(QueuePairState target) throws RdmaException {
        return switch (target) {
            case INIT -> new QueuePairAttributes().state(QueuePairState.INIT)
                    .accessFlags(AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ);
            case RTR, RTS -> new QueuePairAttributes();
            case RESET, SQD, SQE, ERR -> throw NativeBringUp.notBroughtTo(target);
        };
    }
}
