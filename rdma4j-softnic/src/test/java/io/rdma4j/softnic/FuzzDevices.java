// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.AsyncEvent;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.MemoryWindow;
import io.rdma4j.verbs.MemoryWindowBind;
import io.rdma4j.verbs.MemoryWindowType;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;
import io.rdma4j.verbs.WorkCompletion;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/** Two devices, of which one has live queue pairs of every type, memory of every kind and windows. */
final class FuzzDevices {
    static final int MTU = 256;
    static final int DEPTH = 8;
    static final int BUFFER = 400;
    static final int QKEY = 0x1234_5678;
    static final int STRANGER = 0x654321;
    static final int SHARED_DEPTH = 16;
    static final Gid GROUP = Gid.of(InetAddress.ofLiteral("239.1.2.3"));
    private static final Set<AccessFlag> ALL_RIGHTS = EnumSet.of(AccessFlag.LOCAL_WRITE,
            AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_ATOMIC,
            AccessFlag.FLUSH_GLOBAL);

    final FuzzMemory memory = new FuzzMemory();
    final FuzzLedger ledger = new FuzzLedger();
    final Simulation simulation = new Simulation(1);
    final Simulation.Node victim = simulation.b;
    final Simulation.Node peer = simulation.a;
    final List<MemoryRegion> regions = new ArrayList<>();
    final List<MemoryWindow> windows = new ArrayList<>();
    final List<Target> targets = new ArrayList<>();
    private final ProtectionDomain otherDomain;
    final MemoryRegion open;
    final MemoryRegion results;
    final MemoryRegion inbox;
    final MemoryRegion underWindows;
    final MemoryWindow freeWindow;
    @Nullable
    MemoryRegion temporary;
    final SharedReceiveQueue sharedReceives;
    private final CompletionQueue victimCompletions;
    private final CompletionQueue peerCompletions;
    final AddressHandle toPeer;
    private final WorkCompletion completion = new WorkCompletion();

    /** A live queue pair that packets are aimed at. */
    record Target(Simulation.Node node, QueuePair queuePair, int peerNumber, Gid peerGid) {}

    FuzzDevices() throws Exception {
        victimCompletions = victim.context.createCompletionQueue(4096);
        peerCompletions = peer.context.createCompletionQueue(4096);
        otherDomain = victim.context.allocateProtectionDomain();
        open = register(victim.domain, memory.cut(2048), ALL_RIGHTS);
        results = register(victim.domain, memory.cut(DEPTH * BUFFER),
                Set.of(AccessFlag.LOCAL_WRITE));
        inbox = register(victim.domain, memory.cut(4 * DEPTH * BUFFER),
                Set.of(AccessFlag.LOCAL_WRITE));
        register(victim.domain, memory.cutFixed("readable region", 1024),
                Set.of(AccessFlag.REMOTE_READ));
        register(otherDomain, memory.cutFixed("region of another domain", 1024), ALL_RIGHTS);
        Set<AccessFlag> zeroBased = EnumSet.copyOf(ALL_RIGHTS);
        zeroBased.add(AccessFlag.ZERO_BASED);
        register(victim.domain, memory.cut(1000), zeroBased);
        regions.add(victim.domain.register(memory.cut(1024), -1024, ALL_RIGHTS));
        regions.add(victim.domain.registerNull());
        temporary = victim.domain.register(memory.cut(1024), ALL_RIGHTS);
        regions.add(temporary);
        MemorySegment windowed = memory.cut(3072);
        memory.keep("before the windows", windowed.asSlice(0, 512));
        memory.keep("between the windows", windowed.asSlice(1024, 512));
        memory.keep("behind the windows", windowed.asSlice(2048, 1024));
        underWindows = register(victim.domain, windowed,
                Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.MW_BIND));
        sharedReceives = victim.domain.createSharedReceiveQueue(
                new SharedReceiveQueueInitAttributes().maxRequests(SHARED_DEPTH).maxElements(2));
        toPeer = victim.domain.createAddressHandle(AddressHandleAttributes.to(gid(peer), 1));
        makeTargets();
        MemoryWindow ofDomain = window(MemoryWindowType.TYPE_1);
        freeWindow = window(MemoryWindowType.TYPE_2);
        QueuePair first = targets.get(0).queuePair;
        first.bindMemoryWindow(unsignaled(0), ofDomain, bind(512));
        bindFree(first, ledger.newId());
        elapse(20_000);
    }

    private MemoryRegion register(ProtectionDomain domain, MemorySegment segment,
            Set<AccessFlag> access) throws RdmaException {
        MemoryRegion region = domain.register(segment, access);
        regions.add(region);
        return region;
    }

    private MemoryWindow window(MemoryWindowType type) throws RdmaException {
        MemoryWindow window = victim.domain.allocateMemoryWindow(type);
        windows.add(window);
        return window;
    }

    MemoryWindowBind bind(long offset) {
        return new MemoryWindowBind(underWindows, underWindows.address() + offset, 512,
                Set.of(AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_ATOMIC));
    }

    void bindFree(QueuePair queuePair, long id) throws RdmaException {
        queuePair.postSend(new SendWorkRequest().id(id).bind(freeWindow,
                MemoryWindow.nextRkey(freeWindow.rkey()), bind(1536)));
        ledger.postedSend(queuePair.number(), id, false);
    }

    static Gid gid(Simulation.Node node) {
        return node.nic.gids().get(1);
    }

    /** {@return the identifier of an unsignaled request that is about to be posted} */
    long unsignaled(int target) {
        long id = ledger.newId();
        ledger.postedSend(targets.get(target).queuePair.number(), id, false);
        return id;
    }

    // ---------------------------------------------------------------- queue pairs

    private void makeTargets() throws RdmaException {
        for (QueuePairType type : List.of(QueuePairType.RC, QueuePairType.UC, QueuePairType.UD)) {
            for (SharedReceiveQueue shared : Arrays.asList(null, sharedReceives)) {
                QueuePair queuePair = create(victim, type, victimCompletions, shared);
                connect(queuePair, STRANGER, gid(peer));
                targets.add(new Target(victim, queuePair, STRANGER, gid(peer)));
            }
        }
        targets.get(4).queuePair.attachMulticast(GROUP);
        targets.get(5).queuePair.attachMulticast(GROUP);
        QueuePair near = create(victim, QueuePairType.RC, victimCompletions, null);
        QueuePair far = create(peer, QueuePairType.RC, peerCompletions, null);
        connect(near, far.number(), gid(peer));
        connect(far, near.number(), gid(victim));
        targets.add(new Target(victim, near, far.number(), gid(peer)));
        targets.add(new Target(peer, far, near.number(), gid(victim)));
    }

    static QueuePair create(Simulation.Node node, QueuePairType type,
            CompletionQueue completions, @Nullable SharedReceiveQueue shared)
            throws RdmaException {
        return node.domain.createQueuePair(new QueuePairInitAttributes().type(type)
                .completionQueue(completions).sharedReceiveQueue(shared)
                .capabilities(QueuePairCapabilities.ofDepth(DEPTH, DEPTH).withElements(2, 2)
                        .withInlineData(64)));
    }

    private static void connect(QueuePair queuePair, int peerNumber, Gid peerGid)
            throws RdmaException {
        connect(queuePair, peerNumber, peerGid, 3);
    }

    static void connect(QueuePair queuePair, int peerNumber, Gid peerGid, int readAtomic)
            throws RdmaException {
        QueuePairAttributes init = new QueuePairAttributes().state(QueuePairState.INIT).port(1)
                .pkeyIndex(0);
        QueuePairAttributes receive = new QueuePairAttributes().state(QueuePairState.RTR);
        QueuePairAttributes send = new QueuePairAttributes().state(QueuePairState.RTS)
                .sendPsn(0xfffff0);
        if (queuePair.type() == QueuePairType.UD) {
            init.qkey(QKEY);
        } else {
            init.accessFlags(AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ,
                    AccessFlag.REMOTE_ATOMIC, AccessFlag.FLUSH_GLOBAL);
            receive.addressVector(AddressHandleAttributes.to(peerGid, 1)).pathMtu(Mtu.MTU_256)
                    .destinationQueuePairNumber(peerNumber).receivePsn(0xfffff0);
        }
        if (queuePair.type() == QueuePairType.RC) {
            receive.maxDestinationReadAtomic(readAtomic).minRnrTimerCode(1);
            send.ackTimeoutExponent(10).retryCount(2).rnrRetry(2).maxReadAtomic(readAtomic);
        }
        queuePair.modify(init);
        queuePair.modify(receive);
        queuePair.modify(send);
    }

    // ---------------------------------------------------------------- time

    /** Lets both devices work for a time. */
    void elapse(long durationNs) throws RdmaException {
        long untilNs = simulation.network.nowNs() + durationNs;
        while (true) {
            peer.poll();
            victim.poll();
            takeCompletions();
            long next = Math.min(simulation.network.nextArrivalNs(), Math.min(
                    peer.nic.engine().deadlineNs(), victim.nic.engine().deadlineNs()));
            if (next > untilNs) {
                simulation.network.advanceTo(untilNs);
                return;
            }
            simulation.network.advanceTo(Math.max(next, simulation.network.nowNs() + 1));
        }
    }

    void takeCompletions() throws RdmaException {
        while (victimCompletions.poll(completion)) {
            ledger.completed(completion);
        }
        while (peerCompletions.poll(completion)) {
            ledger.completed(completion);
        }
    }

    // ---------------------------------------------------------------- the end

    void freshPairWorks() throws RdmaException {
        QueuePair near = create(victim, QueuePairType.RC, victimCompletions, null);
        QueuePair far = create(peer, QueuePairType.RC, peerCompletions, null);
        connect(near, far.number(), gid(peer));
        connect(far, near.number(), gid(victim));
        far.postReceive(new ReceiveWorkRequest().id(1));
        near.postReceive(new ReceiveWorkRequest().id(2).add(inbox, 0, BUFFER));
        near.postSend(new SendWorkRequest().id(3).send().set(SendFlag.SIGNALED));
        far.postSend(new SendWorkRequest().id(4).send().set(SendFlag.SIGNALED)
                .inline(MemorySegment.ofArray(new byte[64])));
        ledger.postedReceive(far.number(), 1);
        ledger.postedReceive(near.number(), 2);
        ledger.postedSend(near.number(), 3, true);
        ledger.postedSend(far.number(), 4, true);
        elapse(1_000_000);
        ledger.assertFlushed(near.number());
        ledger.assertFlushed(far.number());
        if (near.state() != QueuePairState.RTS || far.state() != QueuePairState.RTS) {
            throw new AssertionError("a fresh connection failed");
        }
        near.close();
        far.close();
    }

    void closeAll() throws RdmaException {
        acknowledgeEvents(victim);
        acknowledgeEvents(peer);
        targets.get(4).queuePair.detachMulticast(GROUP);
        targets.get(5).queuePair.detachMulticast(GROUP);
        for (Target target : targets) {
            target.queuePair.close();
        }
        for (MemoryWindow window : windows) {
            window.close();
        }
        for (MemoryRegion region : regions) {
            region.close();
        }
        toPeer.close();
        sharedReceives.close();
        otherDomain.close();
        victimCompletions.close();
        peerCompletions.close();
        victim.domain.close();
        peer.domain.close();
        if (!victim.nic.engine().queuePairs().isEmpty()
                || !peer.nic.engine().queuePairs().isEmpty()) {
            throw new AssertionError("queue pairs are left");
        }
        victim.context.close();
        peer.context.close();
        simulation.shutDown();
    }

    private static void acknowledgeEvents(Simulation.Node node) throws RdmaException {
        AsyncEvent event = node.context.asyncEventChannel().pollEvent(Duration.ZERO);
        while (event != null) {
            event.acknowledge();
            event = node.context.asyncEventChannel().pollEvent(Duration.ZERO);
        }
    }
}
