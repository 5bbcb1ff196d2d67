// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.rdma;

import io.rdma4j.benchmarks.workload.Control;
import io.rdma4j.cm.CmId;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaException;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Connections of queue pairs of this process with those of another, by the connection manager: iWARP has no other way. */
final class ManagedPairs implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    private final List<CmId> ids = new ArrayList<>();

    /** Connects each queue pair with that of the other side in its place. */
    void connect(List<QueuePair> queuePairs, Control control, int reads) throws IOException {
        for (QueuePair queuePair : queuePairs) {
            queuePair.modify(new QueuePairAttributes().state(QueuePairState.INIT)
                    .accessFlags(AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ));
        }
        if (control.isPassive()) {
            accept(queuePairs, control, reads);
        } else {
            ask(queuePairs, control, reads);
        }
    }

    private void accept(List<QueuePair> queuePairs, Control control, int reads)
            throws IOException {
        try (CmId listener = CmId.create(PortSpace.TCP)) {
            listener.bindAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            listener.listen(queuePairs.size());
            control.out().writeInt(listener.localAddress().getPort());
            for (QueuePair queuePair : queuePairs) {
                CmId id = listener.awaitRequest();
                ids.add(id);
                id.accept(parameters(queuePair, reads));
            }
        }
    }

    private void ask(List<QueuePair> queuePairs, Control control, int reads) throws IOException {
        InetSocketAddress server = new InetSocketAddress(InetAddress.getLoopbackAddress(),
                control.in().readInt());
        for (QueuePair queuePair : queuePairs) {
            CmId id = CmId.create(PortSpace.TCP);
            ids.add(id);
            id.resolveAddress(server, PATIENCE);
            id.resolveRoute(PATIENCE);
            id.connect(parameters(queuePair, reads));
        }
    }

    private static ConnectionParameters parameters(QueuePair queuePair, int reads) {
        return new ConnectionParameters().queuePairNumber(queuePair.number())
                .initiatorDepth(reads).responderResources(reads);
    }

    @Override
    public void close() throws RdmaException {
        for (CmId id : ids) {
            id.close();
        }
    }
}
