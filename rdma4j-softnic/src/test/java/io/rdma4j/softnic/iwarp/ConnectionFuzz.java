// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.iwarp;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.protocol.iwarp.MpaSettings;
import io.rdma4j.protocol.iwarp.wire.Crc32c;
import io.rdma4j.protocol.iwarp.wire.MpaFrame;
import io.rdma4j.protocol.iwarp.wire.OutgoingFpdu;
import io.rdma4j.protocol.iwarp.wire.RdmapOpcode;
import io.rdma4j.softnic.ContainedDefects;
import io.rdma4j.softnic.FuzzChoices;
import io.rdma4j.softnic.device.SoftDevice;
import io.rdma4j.softnic.device.SoftNic;
import io.rdma4j.softnic.verbs.SoftDeviceContext;
import io.rdma4j.spi.CmListener;
import io.rdma4j.spi.CmOptions;
import io.rdma4j.spi.ConnectRequest;
import io.rdma4j.spi.ListenRequest;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;

/**
 * A whole iWARP device with a listener and a few queue pairs, and an input that says who connects, what arrives on which stream
 * and in which pieces, when streams break, what the application does and how time passes.
 *
 * <p>Whatever comes, no exception escapes and none is contained; connections report what happens to them in order and once; each
 * request completes once; memory that the peer was not given stays as it is. Peers that say and read nothing any more keep
 * nothing open that the application does not hold, and afterwards a request still reaches the listener.
 */
public final class ConnectionFuzz {
    private static final int PORT = 4711;
    private static final int BACKLOG = 3;
    private static final int SLOTS = 4;
    private static final int MAX_STEPS = 300;
    private static final int MAX_STREAMS = 40;
    private static final int MAX_ROUNDS = 10_000;
    private static final int MAX_CHOICE = 256;
    private static final int MEMORY = 1 << 15;
    private static final int GUARD = 4096;
    private static final long LONG_NS = 120_000_000_000L;
    private static final InetAddress ADDRESS = InetAddress.getLoopbackAddress();
    private static final byte[] MUCH = new byte[100];
    private static final List<Long> DELAYS_NS = List.of(1000L, 1_000_000L, 100_000_000L,
            4_000_000_000L, 11_000_000_000L, 31_000_000_000L);
    private static final List<Errno> REASONS = List.of(Errno.ECONNREFUSED, Errno.ETIMEDOUT,
            Errno.EHOSTUNREACH);
    private static final List<RdmapOpcode> OPCODES = List.of(RdmapOpcode.values());

    private final FuzzChoices choices;
    private final SimulatedStreams network = new SimulatedStreams();
    private final Random random = new Random(1);
    private final SoftNic nic;
    private final SoftDeviceContext context;
    private final ProtectionDomain domain;
    private final MemorySegment memory = Arena.ofAuto().allocate(MEMORY);
    private final MemorySegment guarded = Arena.ofAuto().allocate(GUARD);
    private final MemoryRegion region;
    private final MemoryRegion guard;
    private final List<ReportedConnection> connections = new ArrayList<>();
    private final List<LedgeredQueuePair> slots = new ArrayList<>();
    private final OutgoingFpdu unit = new OutgoingFpdu();
    private final Crc32c crc = new Crc32c();
    private @Nullable CmListener listener;

    /** What the fuzzer calls. */
    public static void fuzzerTestOneInput(byte[] input) throws Exception {
        ContainedDefects defects = ContainedDefects.listen();
        try {
            ConnectionFuzz fuzz = new ConnectionFuzz(new FuzzChoices(input));
            fuzz.run();
            defects.assertNone();
        } finally {
            defects.close();
        }
    }

    private ConnectionFuzz(FuzzChoices choices) throws Exception {
        this.choices = choices;
        IwarpSettings settings = new IwarpSettings(MpaSettings.USUAL, 100_000_000,
                IwarpPatience.USUAL);
        SoftDevice device = new SoftDevice(IwarpFamily.IWARP,
                NetworkInterface.getByInetAddress(ADDRESS));
        nic = new SoftNic(device, host -> new IwarpTransport(network, settings, host),
                random::nextInt, network::nowNs, null);
        nic.start(ADDRESS);
        context = new SoftDeviceContext(nic);
        domain = context.allocateProtectionDomain();
        region = domain.register(memory, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE,
                AccessFlag.REMOTE_READ);
        guard = domain.register(guarded, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ);
        for (int i = 0; i < SLOTS; i++) {
            slots.add(new LedgeredQueuePair(context, domain, ADDRESS));
        }
        listen();
    }

    // ---------------------------------------------------------------- what the input says

    private void run() throws Exception {
        for (int step = 0; step < MAX_STEPS && !choices.isOver(); step++) {
            try {
                step();
            } catch (RdmaException refused) {
                // It says so to the application, which is the input here.
            }
            poll();
        }
        peersFallSilent();
        applicationEndsAll();
        aRequestStillArrives();
        for (int i = 0; i < GUARD; i++) {
            require(guarded.get(ValueLayout.JAVA_BYTE, i) == 0, "written at " + i);
        }
        close();
    }

    private static void require(boolean isTrue, String otherwise) {
        if (!isTrue) {
            throw new AssertionError(otherwise);
        }
    }

    private void poll() throws RdmaException {
        nic.driver().poll();
        for (LedgeredQueuePair each : slots) {
            each.takeCompletions();
        }
        connections.forEach(ReportedConnection::check);
    }

    private void step() throws RdmaException {
        switch (choices.below(18)) {
            case 0, 1 -> arrive();
            case 2 -> connect();
            case 3, 4, 5 -> frame();
            case 6, 7, 8 -> unit();
            case 9 -> bytes();
            case 10 -> peer();
            case 11, 12 -> post();
            case 13, 14 -> answer();
            case 15 -> end();
            case 16 -> network.advanceTo(network.nowNs() + choices.of(DELAYS_NS));
            default -> change();
        }
    }

    private void listen() throws RdmaException {
        listener = context.listen(new ListenRequest(PortSpace.TCP, QueuePairType.RC, PORT, null,
                ADDRESS, null, BACKLOG, null), (via, request, local, peer, parameters) -> {
                    ReportedConnection asked = new ReportedConnection(request, false);
                    connections.add(asked);
                    return asked;
                });
    }

    private void arrive() {
        if (network.open().size() < MAX_STREAMS) {
            network.arrive(PORT);
        }
    }

    private void connect() throws RdmaException {
        if (network.open().size() >= MAX_STREAMS) {
            return;
        }
        ReportedConnection asking = new ReportedConnection(null, true);
        asking.connection = context.connect(new ConnectRequest(PortSpace.TCP, QueuePairType.RC,
                new InetSocketAddress(ADDRESS, 0), null, new InetSocketAddress(ADDRESS, PORT),
                new ConnectionParameters().initiatorDepth(choices.below(9))
                        .responderResources(choices.below(9)).privateData(privateData()),
                choices.of(slots).queuePair().number(), CmOptions.DEFAULT), asking);
        connections.add(asking);
        if (choices.below(8) > 0) {
            network.open().getLast().establish();
        }
    }

    private byte[] privateData() {
        return new byte[choices.below(30)];
    }

    /** {@return a stream, most often one of the last; null if there is none} */
    private SimulatedStreams.@Nullable Simulated stream() {
        List<SimulatedStreams.Simulated> open = network.open();
        if (open.isEmpty()) {
            return null;
        }
        int back = choices.below(8) == 0 ? choices.below(open.size()) : 0;
        return open.get(open.size() - 1 - back);
    }

    /** A frame of the set-up, near what is right. */
    private void frame() throws RdmaException {
        int flags = choices.below(4) == 0 ? choices.u8() : choices.flag() ? MpaFrame.CRC : 0;
        int revision = choices.below(8) == 0 ? choices.u8() : choices.below(3);
        boolean isEnhanced = revision == MpaFrame.ENHANCED_REVISION && choices.below(4) > 0;
        byte[] bytes = new MpaFrame(choices.below(3) == 0,
                flags | (isEnhanced ? MpaFrame.ENHANCED : 0), revision, choices.u16(),
                choices.u16(), privateData()).bytes();
        if (choices.below(8) == 0) {
            bytes[choices.below(bytes.length)] = (byte) choices.u8();
        }
        give(bytes);
    }

    private void bytes() throws RdmaException {
        byte[] bytes = new byte[choices.below(64)];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) choices.u8();
        }
        give(bytes);
    }

    /** A unit of DDP, near what is right. */
    private void unit() throws RdmaException {
        RdmapOpcode opcode = choices.of(OPCODES);
        boolean isRead = opcode == RdmapOpcode.READ_REQUEST;
        unit.begin(opcode, isRead || choices.below(4) > 0);
        if (isRead) {
            unit.untagged(1 + choices.below(3), 0, 0).read(key(), address(),
                    choices.below(8) == 0 ? choices.i32() : choices.u16() % MEMORY, key(),
                    address());
        } else if (opcode.isTagged()) {
            unit.tagged(key(), address());
        } else {
            unit.untagged(1 + choices.below(4), choices.below(8) == 0 ? choices.u8() : 0, key());
        }
        if (!isRead) {
            unit.addPayload(MemorySegment.ofArray(MUCH), 0, choices.below(MUCH.length));
        }
        byte[] bytes = new byte[unit.length()];
        unit.copyTo(MemorySegment.ofArray(bytes), 0, choices.below(8) == 0 ? null : crc);
        unit.release();
        if (choices.below(8) == 0) {
            bytes[choices.below(bytes.length)] = (byte) choices.u8();
        }
        give(bytes);
    }

    private int key() {
        return switch (choices.below(8)) {
            case 0 -> guard.rkey();
            case 1 -> choices.i32();
            default -> region.rkey();
        };
    }

    private long address() {
        return switch (choices.below(8)) {
            case 0 -> guard.address() + choices.u8();
            case 1 -> choices.i64();
            case 2 -> region.address() + MEMORY - choices.u8();
            default -> region.address() + choices.u8();
        };
    }

    private void give(byte[] bytes) throws RdmaException {
        SimulatedStreams.Simulated to = stream();
        if (to == null) {
            return;
        }
        int cut = choices.below(4) == 0 ? choices.below(bytes.length + 1) : bytes.length;
        to.give(bytes, 0, cut);
        if (cut < bytes.length) {
            poll();
            to.give(bytes, cut, bytes.length);
        }
    }

    private void peer() {
        SimulatedStreams.Simulated of = stream();
        if (of == null) {
            return;
        }
        switch (choices.below(8)) {
            case 0 -> of.breakAsPeer();
            case 1 -> of.finishAsPeer();
            case 2 -> of.establish();
            case 3 -> of.refuse(choices.of(REASONS));
            default -> of.take();
        }
    }

    private void post() throws RdmaException {
        LedgeredQueuePair to = choices.of(slots);
        int length = choices.u16() % MEMORY;
        SendWorkRequest request = new SendWorkRequest().add(region, 0, length);
        if (choices.below(3) > 0) {
            request.set(SendFlag.SIGNALED);
        }
        switch (choices.below(6)) {
            case 0 -> to.post(request.send());
            case 1 -> to.post(request.write(choices.i64(), choices.i32()));
            case 2 -> to.post(request.read(choices.i64(), choices.i32()));
            default -> to.receive(region, length);
        }
    }

    private @Nullable ReportedConnection connection() {
        return connections.isEmpty() ? null
                : connections.get(connections.size() - 1 - (choices.below(4) == 0
                        ? choices.below(Math.min(connections.size(), MAX_CHOICE))
                        : 0));
    }

    private void answer() throws RdmaException {
        ReportedConnection asked = connection();
        if (asked == null) {
            return;
        }
        if (choices.below(4) > 0) {
            asked.accept(new ConnectionParameters().initiatorDepth(choices.below(9))
                    .responderResources(choices.below(9)).privateData(privateData()),
                    choices.of(slots).queuePair().number());
        } else {
            asked.reject(privateData());
        }
    }

    private void end() throws RdmaException {
        ReportedConnection one = connection();
        if (one != null && choices.flag()) {
            one.connection().disconnect();
        } else if (one != null) {
            one.close();
        }
    }

    private void change() throws RdmaException {
        switch (choices.below(4)) {
            case 0 -> {
                closeListener();
                listen();
            }
            case 1 -> choices.of(slots).fail();
            case 2 -> choices.of(slots).reset();
            default -> {
                int at = choices.below(SLOTS);
                slots.get(at).fail();
                poll();
                slots.get(at).close();
                slots.set(at, new LedgeredQueuePair(context, domain, ADDRESS));
            }
        }
    }

    // ---------------------------------------------------------------- the end

    private void elapse() throws RdmaException {
        long endNs = network.nowNs() + LONG_NS;
        for (int i = 0; i < MAX_ROUNDS; i++) {
            poll();
            long next = nic.engine().deadlineNs();
            if (next > endNs) {
                network.advanceTo(endNs);
                poll();
                return;
            }
            network.advanceTo(Math.max(next, network.nowNs() + 1));
        }
        throw new AssertionError("the device does not come to rest");
    }

    /** Neither side of a stream says anything: what the application does not hold is given up. */
    private void peersFallSilent() throws RdmaException {
        elapse();
        require(connections.stream().noneMatch(ReportedConnection::waitsForPeer),
                "the application was not told that a peer says nothing");
        long held = connections.stream().filter(ReportedConnection::isHeld).count();
        require(network.open().size() <= held,
                network.open().size() + " streams are open, and " + held + " connections");
    }

    private void applicationEndsAll() throws RdmaException {
        for (ReportedConnection each : connections) {
            each.close();
        }
        for (LedgeredQueuePair each : slots) {
            each.fail();
        }
        elapse();
        for (LedgeredQueuePair each : slots) {
            each.assertNothingOutstanding();
        }
        require(network.open().isEmpty(), "open is still " + network.open());
    }

    private void aRequestStillArrives() throws RdmaException {
        connections.clear();
        for (int i = 0; i < BACKLOG; i++) {
            SimulatedStreams.Simulated stranger = Objects.requireNonNull(network.arrive(PORT),
                    "nobody listens");
            byte[] request = new MpaFrame(false, 0, 1, MpaFrame.UNLIMITED, MpaFrame.UNLIMITED,
                    new byte[0]).bytes();
            stranger.give(request, 0, request.length);
            poll();
            require(connections.size() == i + 1, "request " + i + " has not arrived");
        }
        slots.getFirst().close();
        slots.set(0, new LedgeredQueuePair(context, domain, ADDRESS));
        connections.getFirst().accept(new ConnectionParameters(),
                slots.getFirst().queuePair().number());
        poll();
        require(network.open().getFirst().take() > 0, "it was not answered");
        for (ReportedConnection each : connections) {
            each.close();
        }
    }

    private void closeListener() {
        CmListener present = listener;
        if (present != null) {
            present.close();
        }
    }

    private void close() throws RdmaException {
        closeListener();
        elapse();
        for (LedgeredQueuePair each : slots) {
            each.close();
        }
        region.close();
        guard.close();
        domain.close();
        context.close();
        require(network.open().isEmpty() && network.listening() == 0,
                "left open: " + network.open() + ", " + network.listening() + " listeners");
        // Frees its memory.
        nic.shutDown();
    }
}
