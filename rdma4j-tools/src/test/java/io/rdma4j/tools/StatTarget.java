// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import io.rdma4j.cm.CmId;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;

import java.net.InetSocketAddress;

/**
 * A program with two queue pairs, of which one sends the other a message for each byte of input. At an address of its own:
 * what other processes of an address are sent may come to this one, which would count it.
 */
final class StatTarget {
    private StatTarget() {}

    public static void main(String[] arguments) throws Exception {
        try (CmId id = bound(arguments[0]);
                ProtectionDomain domain = id.context().allocateProtectionDomain();
                CompletionQueue queue = id.context().createCompletionQueue(8);
                QueuePair a = domain
                        .createQueuePair(new QueuePairInitAttributes().completionQueue(queue));
                QueuePair b = domain
                        .createQueuePair(new QueuePairInitAttributes().completionQueue(queue))) {
            connect(id.context(), a, b);
            connect(id.context(), b, a);
            do {
                b.postReceive(new ReceiveWorkRequest());
                a.postSend(new SendWorkRequest().send().set(SendFlag.SIGNALED));
                for (int completions = 0; completions < 2;) {
                    completions += queue.poll(new WorkCompletion()) ? 1 : 0;
                }
                System.out.printf("sent by 0x%06x%n", a.number());
            } while (System.in.read() >= 0);
        }
    }

    private static CmId bound(String address) throws RdmaException {
        CmId id = CmId.create(PortSpace.TCP);
        id.bindAddress(new InetSocketAddress(address, 0));
        return id;
    }

    private static void connect(DeviceContext context, QueuePair own, QueuePair peer)
            throws RdmaException {
        own.modify(new QueuePairAttributes().state(QueuePairState.INIT).port(1).pkeyIndex(0)
                .accessFlags(AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE));
        own.modify(new QueuePairAttributes().state(QueuePairState.RTR)
                .addressVector(AddressHandleAttributes.to(context.queryGid(1, 1), 1))
                .pathMtu(Mtu.MTU_1024).destinationQueuePairNumber(peer.number()).receivePsn(5)
                .maxDestinationReadAtomic(1).minRnrTimerCode(12));
        own.modify(new QueuePairAttributes().state(QueuePairState.RTS).ackTimeoutExponent(18)
                .retryCount(7)
                .rnrRetry(7).sendPsn(5).maxReadAtomic(1));
    }
}
