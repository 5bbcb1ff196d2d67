// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.iwarp;

import io.rdma4j.spi.QueuePairBringUp;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaException;

import java.util.List;

/** A program brings a queue pair of iWARP to INIT; its connection does the rest. */
enum IwarpBringUp implements QueuePairBringUp {
    /** Before it is connected. */
    UNCONNECTED {
        @Override
        public List<QueuePairState> states() {
            return List.of(QueuePairState.INIT);
        }
    },
    /** While it is connected. */
    BY_CONNECTION {
        @Override
        public List<QueuePairState> states() {
            return List.of();
        }
    };

    @Override
    public QueuePairAttributes attributes(QueuePairState target) throws RdmaException {
        return switch (target) {
            case INIT -> new QueuePairAttributes().state(QueuePairState.INIT)
                    .accessFlags(AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ);
            case RTR, RTS -> new QueuePairAttributes();
            case RESET, SQD, SQE, ERR -> throw new RdmaException(Errno.EINVAL,
                    "initialize queue pair attributes",
                    "a connection brings a queue pair to INIT, RTR and RTS, not to " + target);
        };
    }
}
