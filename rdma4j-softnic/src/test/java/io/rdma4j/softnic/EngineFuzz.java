package io.rdma4j.softnic;

import io.rdma4j.protocol.wire.Icrc;
import io.rdma4j.protocol.wire.Layouts;
import io.rdma4j.protocol.wire.Opcode;
import io.rdma4j.protocol.wire.OutgoingPacket;
import io.rdma4j.protocol.wire.Path;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.AsyncEvent;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.FlushPlacement;
import io.rdma4j.verbs.FlushSelectivity;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.MemoryWindow;
import io.rdma4j.verbs.MemoryWindowBind;
import io.rdma4j.verbs.MemoryWindowType;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttribute;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.SharedReceiveQueueAttributes;
import io.rdma4j.verbs.WorkCompletion;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * A device with live queue pairs of every type, and an input that says what packets reach it, what its
 * application does and how time passes.
 *
 * <p>Most packets are such that they get far: right ICRC, numbers of live queue pairs, PSNs near those that
 * are due, real keys. Whatever comes, no exception escapes and none is contained; no byte changes that the
 * peer was not given; each request completes once; afterwards a fresh connection works and everything can be
 * closed.
 */
public final class EngineFuzz {
    private static final int MTU = 256;
    private static final int DEPTH = 8;
    private static final int BUFFER = 400;
    private static final int QKEY = 0x1234_5678;
    private static final int STRANGER = 0x654321;
    private static final int SHARED_DEPTH = 16;
    private static final int MAX_STEPS = 400;
    private static final int MAX_PACKETS = 100_000;
    private static final Gid GROUP = Gid.of(InetAddress.ofLiteral("239.1.2.3"));
    private static final List<Opcode> OPCODES = List.of(Opcode.values());
    private static final List<Opcode> RC_OPCODES = of(Opcode.Service.RC);
    private static final List<Opcode> UC_OPCODES = of(Opcode.Service.UC);
    private static final List<Opcode> UD_OPCODES = of(Opcode.Service.UD);
    private static final List<Long> DELAYS_NS = List.of(20_000L, 100_000L, 1_000_000L, 30_000_000L,
            300_000_000L);
    private static final List<Integer> SYNDROMES = List.of(0, 1, 5, 0x1f, 0x20, 0x21, 0x3f, 0x60,
            0x61, 0x62, 0x63, 0x64, 0x7f, 0x40);
    private static final Set<AccessFlag> ALL_RIGHTS = EnumSet.of(AccessFlag.LOCAL_WRITE,
            AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_ATOMIC,
            AccessFlag.FLUSH_GLOBAL);

    private final FuzzChoices choices;
    private final FuzzMemory memory = new FuzzMemory();
    private final FuzzLedger ledger = new FuzzLedger();
    private final Simulation simulation = new Simulation(1);
    private final Icrc icrc = new Icrc();
    private final Simulation.Node victim = simulation.b;
    private final Simulation.Node peer = simulation.a;
    private final List<MemoryRegion> regions = new ArrayList<>();
    private final List<MemoryWindow> windows = new ArrayList<>();
    private final List<Target> targets = new ArrayList<>();
    private final ProtectionDomain otherDomain;
    private final MemoryRegion open;
    private final MemoryRegion results;
    private final MemoryRegion inbox;
    private final MemoryRegion underWindows;
    private final MemoryWindow freeWindow;
    private @Nullable MemoryRegion temporary;
    private final SharedReceiveQueue sharedReceives;
    private final CompletionQueue victimCompletions;
    private final CompletionQueue peerCompletions;
    private final AddressHandle toPeer;
    private final WorkCompletion completion = new WorkCompletion();
    private int nextBuffer;
    private int sharedResets;

    /** A live queue pair that packets are aimed at. */
    private record Target(Simulation.Node node, QueuePair queuePair, int peerNumber, Gid peerGid) {}

    private static List<Opcode> of(Opcode.Service service) {
        return OPCODES.stream().filter(opcode -> opcode.service() == service).toList();
    }

    /** What the fuzzer calls. */
    public static void fuzzerTestOneInput(byte[] input) throws Exception {
        ContainedDefects defects = ContainedDefects.listen();
        try {
            new EngineFuzz(input).run(defects);
        } finally {
            defects.close();
        }
    }

    private EngineFuzz(byte[] input) throws Exception {
        choices = new FuzzChoices(input);
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
                new SharedReceiveQueueAttributes(SHARED_DEPTH, 2, 0), null);
        toPeer = victim.domain.createAddressHandle(AddressHandleAttributes.to(gid(peer), 1));
        makeTargets();
        MemoryWindow ofDomain = window(MemoryWindowType.TYPE_1);
        freeWindow = window(MemoryWindowType.TYPE_2);
        QueuePair first = targets.get(0).queuePair;
        first.bindMemoryWindow(ofDomain, unsignaled(0), bind(512), false);
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

    private MemoryWindowBind bind(long offset) {
        return new MemoryWindowBind(underWindows, underWindows.address() + offset, 512,
                Set.of(AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_ATOMIC));
    }

    private void bindFree(QueuePair queuePair, long id) throws RdmaException {
        queuePair.postSend(new SendWorkRequest().id(id).bind(freeWindow,
                MemoryWindow.nextRkey(freeWindow.rkey()), bind(1536)));
        ledger.postedSend(queuePair.number(), id, false);
    }

    private static Gid gid(Simulation.Node node) {
        return node.nic.gids().get(1);
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

    private static QueuePair create(Simulation.Node node, QueuePairType type,
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

    private static void connect(QueuePair queuePair, int peerNumber, Gid peerGid, int readAtomic)
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
                    .destinationQueuePair(peerNumber).receivePsn(0xfffff0);
        }
        if (queuePair.type() == QueuePairType.RC) {
            receive.maxDestinationReadAtomic(readAtomic).minRnrTimer(1);
            send.timeout(10).retryCount(2).rnrRetry(2).maxReadAtomic(readAtomic);
        }
        queuePair.modify(init);
        queuePair.modify(receive);
        queuePair.modify(send);
    }

    // ---------------------------------------------------------------- what the input says

    private void run(ContainedDefects defects) throws Exception {
        for (int step = 0; step < MAX_STEPS && !choices.isOver(); step++) {
            step();
        }
        elapse(1_000_000);
        end();
        memory.check();
        freshPairWorks();
        defects.assertNone();
        closeAll();
        if (simulation.network.packets() > MAX_PACKETS) {
            throw new AssertionError(simulation.network.packets() + " packets were answered");
        }
    }

    private void step() throws RdmaException {
        switch (choices.below(16)) {
            case 0, 1, 2, 3, 4, 5 -> inject(choices.of(targets));
            case 6 -> injectManagement();
            case 7 -> injectBytes();
            case 8, 9, 10 -> attempt(this::postSend);
            case 11 -> attempt(this::postReceive);
            case 12 -> elapse(choices.of(DELAYS_NS));
            case 13 -> attempt(this::changeState);
            case 14 -> attempt(this::changeMemory);
            default -> {
                int lost = choices.below(4);
                simulation.network.loss = lost / 4.0;
            }
        }
    }

    private interface Action {
        void run() throws RdmaException;
    }

    /** A refusal is as good as success; any other exception is a finding. */
    private static void attempt(Action action) {
        try {
            action.run();
        } catch (RdmaException refused) {
            // It says so to the application, which is the input here.
        }
    }

    /** Lets both devices work for a time. */
    private void elapse(long durationNs) throws RdmaException {
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

    private void takeCompletions() throws RdmaException {
        while (victimCompletions.poll(completion)) {
            ledger.completed(completion);
        }
        while (peerCompletions.poll(completion)) {
            ledger.completed(completion);
        }
    }

    // ---------------------------------------------------------------- packets

    private void inject(Target target) throws RdmaException {
        Opcode opcode = opcode(target);
        OutgoingPacket packet = new OutgoingPacket(
                MemorySegment.ofArray(new byte[Opcode.MAX_HEADER_LENGTH])).begin(opcode,
                        Path.between(target.peerGid, gid(target.node)), number(target),
                        psn(target, opcode), choices.flag(), choices.flag());
        int payload = payloadLength();
        if (opcode.hasDatagram()) {
            packet.datagram(choices.below(8) == 7 ? choices.i32() : QKEY, STRANGER);
        }
        if (opcode.hasFlush()) {
            packet.flush(choices.u8());
        }
        if (opcode.hasRdma()) {
            MemoryRegion region = choices.of(regions);
            packet.rdma(address(region), key(region), dmaLength(payload, region));
        }
        if (opcode.hasAtomic()) {
            MemoryRegion region = choices.of(regions);
            packet.atomic(address(region), key(region), choices.u8(), choices.u8());
        }
        if (opcode.hasAcknowledgement()) {
            int syndrome = choices.below(16) == 15 ? choices.u8() : choices.of(SYNDROMES);
            packet.acknowledgement(syndrome, choices.s8());
        }
        if (opcode.hasAtomicAcknowledgement()) {
            packet.atomicAcknowledgement(choices.u8());
        }
        if (opcode.hasImmediate()) {
            packet.immediate(choices.u8());
        }
        if (opcode.hasInvalidate()) {
            packet.invalidate(key(open));
        }
        if (opcode.hasPayload() && payload > 0) {
            packet.addPayload(MemorySegment.ofArray(new byte[payload]), 0, payload);
        }
        byte[] bytes = new byte[packet.totalLength()];
        packet.copyTo(MemorySegment.ofArray(bytes), 0);
        if (choices.below(32) == 31) {
            // Flags, version and padding of any value.
            bytes[1] = (byte) choices.u8();
        }
        send(target.peerGid, choices.below(32) == 31 ? GROUP : gid(target.node), bytes);
    }

    private Opcode opcode(Target target) {
        Opcode opcode = choices.of(OPCODES);
        boolean isRelevant = switch (target.queuePair.type()) {
            case RC -> opcode.service() == Opcode.Service.RC;
            case UC -> opcode.service() == Opcode.Service.UC;
            case UD -> opcode.service() == Opcode.Service.UD;
            case RAW_PACKET, XRC_SEND, XRC_RECEIVE, DRIVER -> false;
        };
        if (isRelevant || choices.below(16) == 15) {
            return opcode;
        }
        return switch (target.queuePair.type()) {
            case UC -> choices.of(UC_OPCODES);
            case UD -> choices.of(UD_OPCODES);
            case RC, RAW_PACKET, XRC_SEND, XRC_RECEIVE, DRIVER -> choices.of(RC_OPCODES);
        };
    }

    private int number(Target target) {
        return switch (choices.below(32)) {
            case 31 -> choices.i32();
            case 30 -> 0xffffff;
            default -> target.queuePair.number();
        };
    }

    /** Mostly the PSN that is due, or one near it. */
    private long psn(Target target, Opcode opcode) throws RdmaException {
        QueuePairAttributes now = target.queuePair.query();
        QueuePairAttribute due = opcode.isResponse()
                ? QueuePairAttribute.SEND_PSN
                : QueuePairAttribute.RECEIVE_PSN;
        long base = 0;
        if (now.isSet(due)) {
            base = opcode.isResponse() ? now.sendPsn() - 1 : now.receivePsn();
        }
        return switch (choices.below(8)) {
            case 7 -> choices.i32();
            case 5, 6 -> base + choices.s8();
            case 4 -> base - 1;
            case 3 -> base - choices.below(8);
            default -> base;
        };
    }

    private int payloadLength() {
        return switch (choices.below(8)) {
            case 0, 1 -> MTU;
            case 2 -> 8;
            case 3 -> 0;
            case 4 -> MTU - 1;
            case 5 -> MTU + 1;
            case 6 -> choices.u8();
            default -> choices.u16() % 5000;
        };
    }

    private long dmaLength(int payload, MemoryRegion region) {
        return switch (choices.below(8)) {
            case 0, 1, 2 -> payload;
            case 3 -> 8;
            case 4 -> 0;
            case 5 -> region.length();
            case 6 -> 2 * MTU + choices.s8();
            default -> choices.i32() & 0xffff_ffffL;
        };
    }

    private long address(MemoryRegion region) {
        long start = region.equals(underWindows) ? region.address() + 512 : region.address();
        return switch (choices.below(8)) {
            case 0, 1, 2 -> start;
            case 3 -> start + 8L * choices.u8();
            case 4 -> start + region.length() - choices.u8();
            case 5 -> start - choices.u8();
            case 6 -> start + choices.u16();
            default -> choices.i64();
        };
    }

    private int key(MemoryRegion region) {
        return switch (choices.below(8)) {
            case 0, 1, 2 -> region.rkey();
            case 3, 4, 5 -> choices.of(windows).rkey();
            case 6 -> region.rkey() + choices.s8();
            default -> choices.i32();
        };
    }

    /** A message for the connection manager: the right header, then what the input says. */
    private void injectManagement() {
        OutgoingPacket packet = new OutgoingPacket(
                MemorySegment.ofArray(new byte[Opcode.MAX_HEADER_LENGTH])).begin(
                        Opcode.UD_SEND_ONLY, Path.between(gid(peer), gid(victim)), 1, 0, false,
                        false)
                .datagram(0x8001_0000, 1);
        ByteBuffer message = ByteBuffer.allocate(256);
        message.putInt(0x01070203).putInt(0).putLong(choices.u8());
        message.putShort((short) (0x10 + choices.below(10))).putShort((short) 0).putInt(0);
        for (int i = choices.below(232); i > 0; i--) {
            message.put((byte) choices.u8());
        }
        packet.addPayload(MemorySegment.ofArray(message.array()), 0, message.capacity());
        byte[] bytes = new byte[packet.totalLength()];
        packet.copyTo(MemorySegment.ofArray(bytes), 0);
        send(gid(peer), gid(victim), bytes);
    }

    /** Bytes that are a packet by chance only. */
    private void injectBytes() {
        byte[] bytes = new byte[choices.u8() + 4];
        for (int i = 0; i < bytes.length - 4; i++) {
            bytes[i] = (byte) choices.u8();
        }
        send(gid(peer), gid(victim), bytes);
    }

    /** Seals and sends; the last four bytes are for the ICRC. */
    private void send(Gid from, Gid to, byte[] bytes) {
        int length = bytes.length - 4;
        if (length >= 12) {
            int crc = icrc.compute(from, to, Path.UDP_PORT, Path.UDP_PORT, 0,
                    ByteBuffer.wrap(bytes), 0, length);
            MemorySegment.ofArray(bytes).set(Layouts.U32_LITTLE, length, crc);
        }
        simulation.network.inject(from, to, bytes);
    }

    // ---------------------------------------------------------------- the application

    private void postSend() throws RdmaException {
        Target target = choices.of(targets);
        SendOpcode opcode = choices.of(List.of(SendOpcode.values()));
        SendWorkRequest request = new SendWorkRequest().id(ledger.newId()).opcode(opcode)
                .set(SendFlag.SIGNALED, choices.flag()).set(SendFlag.FENCE, choices.flag())
                .remote(address(open), key(open)).immediate(choices.u8());
        if (target.node.equals(peer)) {
            // The peer has no memory here: inline data and empty messages are all it sends.
            request.inline(MemorySegment.ofArray(new byte[choices.below(65)]));
        } else {
            addPayload(request, opcode);
        }
        switch (opcode) {
            case FLUSH -> request.flush(request.remoteAddress(), request.rkey(), choices.u16(),
                    EnumSet.of(FlushPlacement.GLOBAL), FlushSelectivity.RANGE);
            case LOCAL_INVALIDATE, SEND_WITH_INVALIDATE ->
                request.invalidateRkey(choices.of(windows).rkey());
            case BIND_MEMORY_WINDOW -> request.bind(freeWindow,
                    MemoryWindow.nextRkey(freeWindow.rkey()), bind(1536));
            case SEND, SEND_WITH_IMMEDIATE, RDMA_WRITE, RDMA_WRITE_WITH_IMMEDIATE, RDMA_READ,
                    ATOMIC_COMPARE_AND_SWAP, ATOMIC_FETCH_AND_ADD, ATOMIC_WRITE, TSO, DRIVER1 -> {
                // Complete.
            }
        }
        if (target.queuePair.type() == QueuePairType.UD) {
            request.to(toPeer, STRANGER, QKEY);
        }
        target.queuePair.postSend(request);
        ledger.postedSend(target.queuePair.number(), request.id(),
                request.has(SendFlag.SIGNALED));
    }

    private void addPayload(SendWorkRequest request, SendOpcode opcode) {
        switch (opcode) {
            case FLUSH, LOCAL_INVALIDATE, BIND_MEMORY_WINDOW -> {
                // They have none.
            }
            case ATOMIC_COMPARE_AND_SWAP, ATOMIC_FETCH_AND_ADD, ATOMIC_WRITE -> {
                request.add(results, nextBuffer(DEPTH), 8);
                request.remote(request.remoteAddress() & ~7, request.rkey());
            }
            case SEND, SEND_WITH_IMMEDIATE, SEND_WITH_INVALIDATE, RDMA_WRITE,
                    RDMA_WRITE_WITH_IMMEDIATE, RDMA_READ, TSO, DRIVER1 -> {
                MemoryRegion region = choices.below(16) == 15 ? choices.of(regions) : results;
                if (region.equals(underWindows)) {
                    // Its owner may write all of it, and here nobody shall.
                    region = open;
                }
                long from = region.equals(results) ? nextBuffer(DEPTH) : 0;
                request.add(region, from, choices.u16() % (2 * BUFFER));
                if (choices.flag()) {
                    request.add(results, nextBuffer(DEPTH), choices.u8());
                }
            }
        }
    }

    private long nextBuffer(int count) {
        nextBuffer++;
        return (long) (nextBuffer % count) * BUFFER;
    }

    private void postReceive() throws RdmaException {
        Target target = choices.of(targets);
        ReceiveWorkRequest request = new ReceiveWorkRequest().id(ledger.newId());
        if (target.node.equals(victim)) {
            int first = choices.u8();
            request.add(choices.below(16) == 15 ? open : inbox, nextBuffer(4 * DEPTH), first)
                    .add(inbox, nextBuffer(4 * DEPTH), BUFFER - first);
        }
        if (target.queuePair.sharedReceiveQueue() != null) {
            sharedReceives.post(request);
            ledger.postedShared(request.id());
        } else {
            target.queuePair.postReceive(request);
            ledger.postedReceive(target.queuePair.number(), request.id());
        }
    }

    private void changeState() throws RdmaException {
        Target target = choices.of(targets);
        QueuePair queuePair = target.queuePair;
        switch (choices.below(8)) {
            case 0 -> {
                queuePair.modify(new QueuePairAttributes().state(QueuePairState.ERR));
                takeCompletions();
                ledger.assertFlushed(queuePair.number());
            }
            case 1 -> queuePair.modify(new QueuePairAttributes().state(QueuePairState.SQD)
                    .enableSqdAsyncNotify(choices.flag()));
            case 2 -> queuePair.modify(new QueuePairAttributes().maxReadAtomic(choices.below(8))
                    .maxDestinationReadAtomic(choices.below(8)));
            case 3, 4 -> queuePair
                    .modify(new QueuePairAttributes().state(QueuePairState.RTS));
            default -> {
                queuePair.modify(new QueuePairAttributes().state(QueuePairState.RESET));
                takeCompletions();
                ledger.reset(queuePair.number());
                sharedResets += queuePair.sharedReceiveQueue() == null ? 0 : 1;
                connect(queuePair, target.peerNumber, target.peerGid, choices.below(4));
            }
        }
    }

    private void changeMemory() throws RdmaException {
        MemoryRegion closing = temporary;
        switch (choices.below(4)) {
            case 0 -> {
                if (closing != null) {
                    MemorySegment segment = closing.segment();
                    closing.close();
                    memory.keep("closed region", segment);
                    temporary = null;
                }
            }
            case 1 -> bindFree(targets.get(0).queuePair, ledger.newId());
            case 2 -> targets.get(0).queuePair.bindMemoryWindow(windows.get(0), unsignaled(0),
                    bind(512), false);
            default -> {
                int limit = choices.below(SHARED_DEPTH);
                sharedReceives.arm(limit);
            }
        }
    }

    private long unsignaled(int target) {
        long id = ledger.newId();
        ledger.postedSend(targets.get(target).queuePair.number(), id, false);
        return id;
    }

    // ---------------------------------------------------------------- the end

    /** Everything posted completes exactly once when the queue pairs end. */
    private void end() throws RdmaException {
        for (Target target : targets) {
            if (target.queuePair.state() != QueuePairState.RESET) {
                target.queuePair.modify(new QueuePairAttributes().state(QueuePairState.ERR));
                takeCompletions();
                ledger.assertFlushed(target.queuePair.number());
            }
        }
        simulation.network.loss = 0;
        elapse(1_000_000_000);
        int room = 0;
        try {
            while (true) {
                sharedReceives.post(new ReceiveWorkRequest());
                room++;
            }
        } catch (RdmaException full) {
            // What a queue pair had taken when it was reset vanishes with it.
            int vanished = room + ledger.sharedLeft() - SHARED_DEPTH;
            if (vanished < 0 || vanished > sharedResets) {
                throw new AssertionError("of the shared receives " + ledger.sharedLeft()
                        + " have not completed, and there is room for " + room, full);
            }
        }
    }

    private void freshPairWorks() throws RdmaException {
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

    private void closeAll() throws RdmaException {
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
    }

    private static void acknowledgeEvents(Simulation.Node node) throws RdmaException {
        AsyncEvent event = node.context.pollAsyncEvent(Duration.ZERO);
        while (event != null) {
            event.acknowledge();
            event = node.context.pollAsyncEvent(Duration.ZERO);
        }
    }
}
