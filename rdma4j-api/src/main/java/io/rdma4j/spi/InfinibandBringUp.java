// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.spi;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaException;

import java.util.List;
import java.util.Set;

import static io.rdma4j.verbs.QueuePairState.INIT;
import static io.rdma4j.verbs.QueuePairState.RTR;
import static io.rdma4j.verbs.QueuePairState.RTS;

/**
 * How a queue pair of InfiniBand or RoCE is brought up as far as that goes without a peer.
 *
 * <p>Source: IBTA 10.3.1.
 */
public final class InfinibandBringUp {
    private static final String OPERATION = "initialize queue pair attributes";

    private InfinibandBringUp() {}

    /** {@return how one becomes ready to receive, before it is connected} */
    public static QueuePairBringUp unconnected(int port) {
        return new QueuePairBringUp() {
            @Override
            public List<QueuePairState> states() {
                return List.of(INIT);
            }

            @Override
            public QueuePairAttributes attributes(QueuePairState target) throws RdmaException {
                if (target != INIT) {
                    throw new RdmaException(Errno.EINVAL, OPERATION, "without the peer's parameters"
                            + " a queue pair is brought to INIT alone, not to " + target);
                }
                return new QueuePairAttributes().state(INIT).pkeyIndex(0).port(port)
                        .accessFlags(Set.of());
            }
        };
    }

    /** {@return how one becomes ready to send and to receive datagrams} */
    public static QueuePairBringUp datagrams(int port, int qkey) {
        return new QueuePairBringUp() {
            @Override
            public List<QueuePairState> states() {
                return List.of(INIT, RTR, RTS);
            }

            @Override
            public QueuePairAttributes attributes(QueuePairState target) throws RdmaException {
                QueuePairAttributes attributes = new QueuePairAttributes().state(target);
                return switch (target) {
                    case INIT -> attributes.pkeyIndex(0).port(port).qkey(qkey);
                    case RTR -> attributes;
                    case RTS -> attributes.sendPsn(0);
                    case RESET, SQD, SQE, ERR -> throw new RdmaException(Errno.EINVAL, OPERATION,
                            "an id brings a queue pair to INIT, RTR or RTS, not to " + target);
                };
            }
        };
    }
}
