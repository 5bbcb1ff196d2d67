// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.cm;

import io.rdma4j.connection.PortSpace;
import io.rdma4j.spi.QueuePairBringUp;
import io.rdma4j.verbs.QueuePairAttribute;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaException;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;

/**
 * Brings a queue pair for datagrams up in the partition of its address. On InfiniBand an interface belongs to one
 * partition, such as {@code ib0.8001} to 0x8001, and the kernel provides its index in the P_Key table. C: {@code
 * rdma_init_qp_attr}.
 */
final class PartitionBringUp implements QueuePairBringUp {
    private final CmServices device;
    private final InetAddress local;
    private final QueuePairBringUp common;

    /** @param common the steps that are the same in any partition */
    PartitionBringUp(CmServices device, InetAddress local, QueuePairBringUp common) {
        this.device = device;
        this.local = local;
        this.common = common;
    }

    @Override
    public List<QueuePairState> states() {
        return common.states();
    }

    @Override
    public QueuePairAttributes attributes(QueuePairState target) throws RdmaException {
        QueuePairAttributes attributes = common.attributes(target);
        if (target == QueuePairState.INIT && device.isInfiniband(local)) {
            attributes.pkeyIndex(pkeyIndex());
        }
        return attributes;
    }

    private int pkeyIndex() throws RdmaException {
        NativeId id = KernelPorts.take(device.channel(), PortSpace.UDP, null,
                new InetSocketAddress(local, 0)).one();
        try {
            device.requireHere(id, "find partition");
            QueuePairAttributes ofKernel = id.attributes(QueuePairState.INIT);
            return ofKernel.isSet(QueuePairAttribute.PKEY_INDEX) ? ofKernel.pkeyIndex() : 0;
        } finally {
            id.destroy();
        }
    }
}
