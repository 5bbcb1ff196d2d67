// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.cm;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.spi.CmOptions;
import io.rdma4j.spi.QueuePairBringUp;
import io.rdma4j.verbs.DeviceAttributes;
import io.rdma4j.verbs.DeviceLimit;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePairAttribute;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaException;

import java.util.List;

/**
 * Brings a queue pair up for a connection, with the attributes from the kernel and as both sides
 * have agreed. C: {@code rdma_init_qp_attr}.
 */
final class NativeBringUp implements QueuePairBringUp {
    private final NativeConnection connection;
    private final ConnectionParameters own;
    private final CmOptions options;

    NativeBringUp(NativeConnection connection, ConnectionParameters own, CmOptions options) {
        this.connection = connection;
        this.own = own;
        this.options = options;
    }

    static RdmaException notBroughtTo(QueuePairState target) {
        return new RdmaException(Errno.EINVAL, "initialize queue pair attributes",
                "a connection brings a queue pair to INIT, RTR and RTS, not to " + target);
    }

    @Override
    public List<QueuePairState> states() {
        return connection.device().isIwarp() ? List.of()
                : List.of(QueuePairState.INIT, QueuePairState.RTR, QueuePairState.RTS);
    }

    @Override
    public QueuePairAttributes attributes(QueuePairState target) throws RdmaException {
        return switch (target) {
            case INIT -> connection.id().attributes(target);
            case RTR, RTS -> {
                connection.requirePeer();
                yield agreed(connection.id().attributes(target));
            }
            case RESET, SQD, SQE, ERR -> throw notBroughtTo(target);
        };
    }

    /** The kernel knows the peer's parameters, but not the limits of this side and its device. */
    private QueuePairAttributes agreed(QueuePairAttributes attributes) throws RdmaException {
        if (attributes.isSet(QueuePairAttribute.MAX_DESTINATION_READ_ATOMIC)) {
            attributes.maxDestinationReadAtomic(least(attributes.maxDestinationReadAtomic(),
                    own.responderResources(), DeviceLimit.MAX_QP_RD_ATOM));
        }
        if (attributes.isSet(QueuePairAttribute.MAX_READ_ATOMIC)) {
            attributes.maxReadAtomic(least(attributes.maxReadAtomic(), own.initiatorDepth(),
                    DeviceLimit.MAX_QP_INIT_RD_ATOM));
        }
        Integer timeout = options.ackTimeoutExponent();
        if (timeout != null && attributes.isSet(QueuePairAttribute.TIMEOUT)) {
            attributes.ackTimeoutExponent(timeout);
        }
        return attributes;
    }

    private int least(int peers, int chosen, DeviceLimit limit) throws RdmaException {
        DeviceAttributes device = connection.device().via().queryDevice();
        return (int) Math.min(Math.min(peers, chosen), device.limit(limit));
    }
}
