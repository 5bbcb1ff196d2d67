// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.examples.course;

import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaDevices;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;

import java.lang.foreign.Arena;
import java.security.SecureRandom;

/** A connection without the connection manager: INIT, RTR, RTS. */
public final class Lesson06 {
    private Lesson06() {}

    /** What each side has to know of the other. */
    private record Endpoint(int number, int psn, Gid gid) {}

    /** Takes the name of a device; {@code roce_lo} without one. */
    public static void main(String... words) throws RdmaException {
        String device = words.length > 0 ? words[0] : "roce_lo";
        try (Arena arena = Arena.ofShared();
                DeviceContext context = RdmaDevices.find(device).open();
                ProtectionDomain domain = context.allocateProtectionDomain();
                CompletionQueue queue = context.createCompletionQueue(16); // 1
                QueuePair left = create(domain, queue);
                QueuePair right = create(domain, queue);
                MemoryRegion region = domain.register(arena.allocate(64),
                        AccessFlag.LOCAL_WRITE)) {
            connect(left, right);
            right.postReceive(new ReceiveWorkRequest().id(2).add(region, 32, 32)); // 8
            region.segment().setString(0, "by hand");
            left.postSend(new SendWorkRequest().id(1).send().add(region, 0, 8)
                    .set(SendFlag.SIGNALED)); // 9
            for (int done = 0; done < 2;) {
                WorkCompletion completion = new WorkCompletion();
                if (queue.poll(completion)) { // 10
                    String side = completion.queuePairNumber() == left.number() ? "left" : "right";
                    System.out.println(side + ": " + completion.opcode() + " "
                            + completion.status());
                    done++;
                }
            }
            System.out.println("received: " + region.segment().getString(32));
        }
    }

    static QueuePair create(ProtectionDomain domain, CompletionQueue queue) throws RdmaException {
        return domain.createQueuePair(new QueuePairInitAttributes().completionQueue(queue)
                .capabilities(QueuePairCapabilities.ofDepth(16, 16))); // 2
    }

    static void connect(QueuePair left, QueuePair right) throws RdmaException {
        DeviceContext context = left.protectionDomain().context();
        int gidIndex = context.queryGidTable().getFirst().index(); // 3
        Gid gid = context.queryGid(1, gidIndex);
        SecureRandom random = new SecureRandom();
        Endpoint leftEnd = new Endpoint(left.number(), random.nextInt(1 << 24), gid);
        Endpoint rightEnd = new Endpoint(right.number(), random.nextInt(1 << 24), gid);
        bringUp(left, leftEnd, rightEnd, gidIndex); // 4
        bringUp(right, rightEnd, leftEnd, gidIndex);
    }

    private static void bringUp(QueuePair pair, Endpoint own, Endpoint peer, int gidIndex)
            throws RdmaException {
        pair.modify(new QueuePairAttributes().state(QueuePairState.INIT).port(1).pkeyIndex(0)
                .accessFlags(AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ)); // 5
        pair.modify(new QueuePairAttributes().state(QueuePairState.RTR)
                .addressVector(AddressHandleAttributes.to(peer.gid(), gidIndex))
                .destinationQueuePairNumber(peer.number()).receivePsn(peer.psn())
                .pathMtu(pair.protectionDomain().context().queryPort(1).activeMtu())
                .maxDestinationReadAtomic(1).minRnrTimerCode(12)); // 6
        pair.modify(new QueuePairAttributes().state(QueuePairState.RTS).sendPsn(own.psn())
                .ackTimeoutExponent(14).retryCount(7).rnrRetry(7).maxReadAtomic(1)); // 7
        System.out.println("queue pair " + pair.state());
    }
}
