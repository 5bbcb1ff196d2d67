// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.softnic.options.DeviceOptions;
import io.rdma4j.softnic.options.Loopback;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaDevices;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

import static org.assertj.core.api.Assertions.assertThat;

/** The longest message there is: 2 GiB, by every operation and with every path MTU. */
@Tag("long")
class HugeMessageTest {
    private static final long LENGTH = 1L << 31;

    @ParameterizedTest
    @CsvSource({"MTU_256, NETWORK", "MTU_512, NETWORK", "MTU_1024, NETWORK", "MTU_2048, NETWORK",
        "MTU_4096, NETWORK", "MTU_256, DIRECT", "MTU_4096, DIRECT"})
    @Timeout(600)
    void twoGibibytesArriveWhole(Mtu mtu, Loopback loopback) throws Exception {
        try (Arena arena = Arena.ofShared();
                DeviceContext context = DeviceOptions.DEFAULT.withLoopback(loopback)
                        .open(RdmaDevices.find("roce_lo"));
                ProtectionDomain domain = context.allocateProtectionDomain();
                CompletionQueue queue = context.createCompletionQueue(64);
                QueuePair a = domain
                        .createQueuePair(new QueuePairInitAttributes().completionQueue(queue));
                QueuePair b = domain
                        .createQueuePair(new QueuePairInitAttributes().completionQueue(queue))) {
            MemorySegment source = arena.allocate(LENGTH);
            MemorySegment target = arena.allocate(LENGTH);
            for (long i = 0; i < LENGTH; i += Long.BYTES) {
                source.set(ValueLayout.JAVA_LONG, i, i * 0x9e37_79b9_7f4a_7c15L);
            }
            try (MemoryRegion from = domain.register(source, AccessFlag.REMOTE_READ);
                    MemoryRegion to = domain.register(target, AccessFlag.LOCAL_WRITE,
                            AccessFlag.REMOTE_WRITE)) {
                connect(context, a, b, mtu);
                connect(context, b, a, mtu);
                a.postSend(new SendWorkRequest().write(to.address(), to.rkey()).add(from, 0, LENGTH)
                        .set(SendFlag.SIGNALED));
                await(queue, 1);
                assertArrived(source, target);
                a.postSend(new SendWorkRequest().read(from.address(), from.rkey())
                        .add(to, 0, LENGTH).set(SendFlag.SIGNALED));
                await(queue, 1);
                assertArrived(source, target);
                b.postReceive(new ReceiveWorkRequest().add(to, 0, LENGTH));
                a.postSend(new SendWorkRequest().send().add(from, 0, LENGTH)
                        .set(SendFlag.SIGNALED));
                await(queue, 2);
                assertArrived(source, target);
            }
        }
    }

    private static void assertArrived(MemorySegment source, MemorySegment target) {
        assertThat(target.mismatch(source)).isEqualTo(-1);
        target.fill((byte) 0);
    }

    private static void await(CompletionQueue queue, int count) throws RdmaException {
        WorkCompletion completion = new WorkCompletion();
        for (int left = count; left > 0;) {
            if (queue.poll(completion)) {
                assertThat(completion.isSuccess()).as(completion.toString()).isTrue();
                left--;
            }
        }
    }

    private static void connect(DeviceContext context, QueuePair own, QueuePair peer, Mtu mtu)
            throws RdmaException {
        own.modify(new QueuePairAttributes().state(QueuePairState.INIT).port(1).pkeyIndex(0)
                .accessFlags(AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE));
        own.modify(new QueuePairAttributes().state(QueuePairState.RTR)
                .addressVector(AddressHandleAttributes.to(context.queryGid(1, 1), 1)).pathMtu(mtu)
                .destinationQueuePairNumber(peer.number()).receivePsn(5).maxDestinationReadAtomic(2)
                .minRnrTimerCode(12));
        own.modify(new QueuePairAttributes().state(QueuePairState.RTS).ackTimeoutExponent(16)
                .retryCount(7)
                .rnrRetry(7).sendPsn(5).maxReadAtomic(2));
    }
}
