// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.parts;

import io.rdma4j.protocol.roce.rc.RcQueuePair;
import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.PacketView;
import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.protocol.roce.wire.Syndrome;
import io.rdma4j.softnic.memory.DomainMemory;
import io.rdma4j.softnic.memory.MemoryTable;
import io.rdma4j.softnic.memory.RegisteredMemory;
import io.rdma4j.softnic.queue.ReceiveRing;
import io.rdma4j.softnic.queue.SendRing;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/** A reliable connection per packet, in virtual time and without a network: each WRITE is one packet. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class RcPackets {
    private static final int NUMBER = 17;
    private static final int KEY = 1 << 8;
    private static final long STEP_NS = 1_000;

    private final Arena arena = Arena.ofAuto();
    private final Object domain = new Object();
    private final MemoryTable table = new MemoryTable(new Random(1)::nextInt);
    private final MemorySegment memory = arena.allocate(2L * Mtu.MTU_4096.bytes(), 64);
    private final SendRing sends = new SendRing(16, 1, 0, null);
    private final QuietHost host = new QuietHost(sends);
    private final RcQueuePair requester = queuePair(sends, host);
    private final SendRing none = new SendRing(1, 1, 0, null);
    private final RcQueuePair responder = queuePair(none, new QuietHost(none));
    private final Path path = Path.between(Gid.ZERO, Gid.ZERO);
    private final OutgoingPacket outgoing = new OutgoingPacket();
    private final OutgoingPacket written = new OutgoingPacket();
    private final MemorySegment datagram = arena.allocate(8192, 64);
    private final PacketView view = new PacketView();
    private final SendWorkRequest write = new SendWorkRequest().set(SendFlag.SIGNALED);
    private long nowNs;
    private long psn;

    @Param({"64", "4096"})
    private int payload;

    /** Registers the memory and connects. */
    @Setup
    public void connect() {
        int access = AccessFlag.LOCAL_WRITE.bit() | AccessFlag.REMOTE_WRITE.bit();
        table.put(new RegisteredMemory(KEY, domain, memory, memory.address(), access));
        write.write(memory.address() + Mtu.MTU_4096.bytes(), KEY).add(memory.address(), payload,
                KEY);
        connect(requester);
        connect(responder);
    }

    private RcQueuePair queuePair(SendRing ring, QuietHost quiet) {
        return new RcQueuePair(ring, new ReceiveRing(1, 1),
                new DomainMemory(table, domain, NUMBER, () -> {}), quiet);
    }

    private static void connect(RcQueuePair queuePair) {
        queuePair.route(Path.between(Gid.ZERO, Gid.ZERO));
        queuePair.modify(new QueuePairAttributes().accessFlags(AccessFlag.REMOTE_WRITE),
                QueuePairState.INIT, 0);
        queuePair.modify(new QueuePairAttributes().destinationQueuePairNumber(NUMBER)
                .pathMtu(Mtu.MTU_4096).receivePsn(0).maxDestinationReadAtomic(1).minRnrTimerCode(1),
                QueuePairState.RTR, 0);
        queuePair.modify(new QueuePairAttributes().sendPsn(0).ackTimeoutExponent(14).retryCount(7)
                .rnrRetry(7).maxReadAtomic(1), QueuePairState.RTS, 0);
    }

    /** A WRITE is posted, its packet built, and its acknowledgement taken. */
    @Benchmark
    public long requester() {
        nowNs += STEP_NS;
        post();
        requester.onSendPosted(nowNs);
        if (!requester.pollTransmit(outgoing, nowNs)) {
            throw new IllegalStateException("nothing is sent");
        }
        // Both count from 0, one packet a message.
        long number = psn++;
        written.begin(Opcode.RC_ACKNOWLEDGE, path, NUMBER, number, false, false)
                .acknowledgement(Syndrome.ackUnlimited(), number + 1);
        requester.onPacket(arrived(written), nowNs);
        return check(host.completed());
    }

    private void post() {
        synchronized (sends) {
            sends.beginPost();
            Objects.requireNonNull(sends.free()).assign(write, false);
            sends.stage();
            sends.publish();
        }
        sends.endPost();
    }

    private PacketView arrived(OutgoingPacket packet) {
        int length = packet.copyTo(datagram, 0) + PacketView.ICRC_LENGTH;
        if (view.wrap(datagram, 0, length) != null) {
            throw new IllegalStateException("a packet is not one");
        }
        return view;
    }

    private long check(long completed) {
        if (completed != psn) {
            throw new IllegalStateException(completed + " of " + psn + " have completed");
        }
        return completed;
    }

    /** The packet of a WRITE is executed, and its acknowledgement built. */
    @Benchmark
    public OutgoingPacket responder() {
        nowNs += STEP_NS;
        written.begin(Opcode.RC_WRITE_ONLY, path, NUMBER, psn++, true, false)
                .rdma(memory.address() + Mtu.MTU_4096.bytes(), KEY, payload)
                .addPayload(memory, 0, payload);
        responder.onPacket(arrived(written), nowNs);
        if (!responder.pollTransmit(outgoing, nowNs)
                || outgoing.opcode() != Opcode.RC_ACKNOWLEDGE) {
            throw new IllegalStateException("no acknowledgement is sent");
        }
        return outgoing;
    }
}
