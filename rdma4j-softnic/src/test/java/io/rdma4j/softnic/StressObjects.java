// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueueInitAttributes;
import io.rdma4j.verbs.ExtendedCompletionQueue;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;
import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;

/** What all threads of a stress test share: queues, memory, and pairs of every type that send one way. */
final class StressObjects implements AutoCloseable {
    static final int LENGTH = 3000;
    static final int SHARED_DEPTH = 256;

    private final StressStage stage;
    final CompletionChannel channel = CompletionChannel.create();
    final ExtendedCompletionQueue sends;
    final ExtendedCompletionQueue receives;
    final SharedReceiveQueue shared;
    final MemoryRegion source;
    final MemoryRegion target;
    final MemoryRegion counter;
    final MemoryRegion inbox;
    final AddressHandle toSelf;
    final List<QueuePair> posting = new ArrayList<>();
    final List<QueuePair> receiving = new ArrayList<>();

    StressObjects(StressStage stage) throws RdmaException {
        this.stage = stage;
        ProtectionDomain domain = stage.domain;
        sends = stage.context.createExtendedCompletionQueue(
                new CompletionQueueInitAttributes().capacity(1024).channel(channel));
        receives = stage.context.createExtendedCompletionQueue(
                new CompletionQueueInitAttributes().capacity(2048).channel(channel));
        shared = domain.createSharedReceiveQueue(
                new SharedReceiveQueueInitAttributes().maxRequests(SHARED_DEPTH));
        source = domain.register(stage.arena.allocate(LENGTH, 64), AccessFlag.REMOTE_READ);
        target = domain.register(stage.arena.allocate(LENGTH, 64), AccessFlag.LOCAL_WRITE,
                AccessFlag.REMOTE_WRITE);
        counter = domain.register(stage.arena.allocate(8, 8), AccessFlag.LOCAL_WRITE,
                AccessFlag.REMOTE_ATOMIC);
        inbox = domain.register(stage.arena.allocate(LENGTH + 40, 64), AccessFlag.LOCAL_WRITE);
        toSelf = domain.createAddressHandle(stage.path());
        for (QueuePairType type : List.of(QueuePairType.RC, QueuePairType.UC, QueuePairType.UD)) {
            add(type, null);
            add(type, shared);
        }
    }

    /** Makes a pair that sends one way. */
    private void add(QueuePairType type, @Nullable SharedReceiveQueue from) throws RdmaException {
        QueuePair a = stage.create(type, sends, receives, null);
        QueuePair b = stage.create(type, sends, receives, from);
        stage.connect(a, b);
        stage.connect(b, a);
        posting.add(a);
        receiving.add(b);
    }

    @Override
    public void close() throws RdmaException {
        for (QueuePair queuePair : posting) {
            queuePair.close();
        }
        for (QueuePair queuePair : receiving) {
            stage.acknowledgeEvents();
            queuePair.close();
        }
        stage.acknowledgeEvents();
        shared.close();
        toSelf.close();
        sends.close();
        receives.close();
        channel.close();
        for (MemoryRegion region : List.of(source, target, counter, inbox)) {
            region.close();
        }
    }
}
