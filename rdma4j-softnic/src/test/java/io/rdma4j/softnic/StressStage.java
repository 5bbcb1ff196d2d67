// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.softnic.options.DeviceOptions;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaDevices;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.SharedReceiveQueue;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** The real loopback device and the threads that are let loose on it. */
final class StressStage implements AutoCloseable {
    static final int DEPTH = 32;
    static final int QKEY = 0x1111;
    /** A completion queue has room for more, however slowly it is polled. */
    static final int MOST_OPEN = 900;

    final DeviceContext context;
    final ProtectionDomain domain;
    final Arena arena = Arena.ofShared();
    final Race race = new Race();
    private final AtomicLong lastId = new AtomicLong();

    StressStage() throws RdmaException {
        this(DeviceOptions.DEFAULT);
    }

    StressStage(DeviceOptions options) throws RdmaException {
        context = options.open(RdmaDevices.find("roce_lo"));
        domain = context.allocateProtectionDomain();
    }

    /** {@return an identifier that no other request has} */
    long newId() {
        return lastId.incrementAndGet();
    }

    QueuePair create(QueuePairType type, CompletionQueue sends, CompletionQueue receives,
            @Nullable SharedReceiveQueue shared) throws RdmaException {
        SendOpcode[] operations = type == QueuePairType.UD
                ? new SendOpcode[]{SendOpcode.SEND}
                : new SendOpcode[]{SendOpcode.SEND, SendOpcode.RDMA_WRITE};
        return domain.createQueuePair(new QueuePairInitAttributes().type(type)
                .sendCompletionQueue(sends).receiveCompletionQueue(receives)
                .sharedReceiveQueue(shared).sendOperations(operations)
                .capabilities(QueuePairCapabilities.ofDepth(DEPTH, DEPTH).withElements(1, 1)
                        .withInlineData(64)));
    }

    void connect(QueuePair own, QueuePair peer) throws RdmaException {
        QueuePairAttributes init = new QueuePairAttributes().state(QueuePairState.INIT).port(1)
                .pkeyIndex(0);
        QueuePairAttributes receive = new QueuePairAttributes().state(QueuePairState.RTR);
        QueuePairAttributes send = new QueuePairAttributes().state(QueuePairState.RTS).sendPsn(9);
        if (own.type() == QueuePairType.UD) {
            init.qkey(QKEY);
        } else {
            init.accessFlags(AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ,
                    AccessFlag.REMOTE_ATOMIC);
            receive.addressVector(path()).pathMtu(Mtu.MTU_1024)
                    .destinationQueuePairNumber(peer.number()).receivePsn(9);
        }
        if (own.type() == QueuePairType.RC) {
            receive.maxDestinationReadAtomic(4).minRnrTimerCode(1);
            send.ackTimeoutExponent(14).retryCount(7).rnrRetry(7).maxReadAtomic(4);
        }
        own.modify(init);
        own.modify(receive);
        own.modify(send);
    }

    AddressHandleAttributes path() throws RdmaException {
        return AddressHandleAttributes.to(context.queryGid(1, 1), 1);
    }

    static boolean isFull(RdmaException refused) {
        return refused.errno() == Errno.ENOMEM;
    }

    static void fail(QueuePair queuePair) throws RdmaException {
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.ERR));
    }

    void acknowledgeEvents() throws RdmaException {
        var event = context.asyncEventChannel().pollEvent(Duration.ZERO);
        while (event != null) {
            event.acknowledge();
            event = context.asyncEventChannel().pollEvent(Duration.ZERO);
        }
    }

    static void pause() {
        LockSupport.parkNanos(50_000);
    }

    /** Everything on it has been closed. */
    @Override
    public void close() throws RdmaException {
        domain.close();
        context.close();
        arena.close();
    }
}
