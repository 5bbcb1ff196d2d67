// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.rdma;

import io.rdma4j.softnic.options.DeviceOptions;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaDevices;
import io.rdma4j.verbs.RdmaException;

import java.util.ArrayList;
import java.util.List;

/** A device of this process whose queue pairs are connected to each other, two by two. */
public final class LocalPairs implements AutoCloseable {
    private static final int COMPLETIONS = 256;

    private final DeviceContext context;
    private final ProtectionDomain domain;
    private final CompletionQueue completions;
    private final List<QueuePair> queuePairs = new ArrayList<>();
    private final int gidIndex;

    LocalPairs() throws RdmaException {
        this(DeviceOptions.DEFAULT);
    }

    /** @param options of the loopback device */
    public LocalPairs(DeviceOptions options) throws RdmaException {
        context = options.open(RdmaDevices.find("roce_lo"));
        domain = context.allocateProtectionDomain();
        completions = context.createCompletionQueue(COMPLETIONS);
        gidIndex = RdmaSide.firstIpv4(context);
    }

    /** {@return the domain of all} */
    public ProtectionDomain domain() {
        return domain;
    }

    /** {@return where all complete} */
    public CompletionQueue completions() {
        return completions;
    }

    /** {@return the queue pairs, each next to its peer} */
    public List<QueuePair> queuePairs() {
        return queuePairs;
    }

    /** Adds a connected pair. */
    public void add(int depth) throws RdmaException {
        QueuePair one = create(depth);
        QueuePair other = create(depth);
        Gid gid = context.queryGid(1, gidIndex);
        RdmaSide.bringUp(one, gid, gidIndex, other.number());
        RdmaSide.bringUp(other, gid, gidIndex, one.number());
    }

    private QueuePair create(int depth) throws RdmaException {
        QueuePair queuePair = domain
                .createQueuePair(new QueuePairInitAttributes().completionQueue(completions)
                        .capabilities(QueuePairCapabilities.ofDepth(depth, depth)));
        queuePairs.add(queuePair);
        return queuePair;
    }

    @Override
    public void close() throws RdmaException {
        for (QueuePair queuePair : queuePairs) {
            queuePair.close();
        }
        completions.close();
        domain.close();
        context.close();
    }
}
