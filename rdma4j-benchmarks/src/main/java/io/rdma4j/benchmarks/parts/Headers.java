// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.parts;

import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.PacketView;
import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.verbs.Gid;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;

/** Building and parsing the headers of a packet. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class Headers {
    private static final int PAYLOAD = 64;

    private final Arena arena = Arena.ofAuto();
    private final Path path = Path.between(Gid.ZERO, Gid.ZERO);
    private final MemorySegment payload = arena.allocate(PAYLOAD);
    private final OutgoingPacket packet = new OutgoingPacket();
    private final MemorySegment datagram = arena.allocate(256);
    private final PacketView view = new PacketView();
    private final int length;
    private int psn;

    /** Builds the packet that is parsed. */
    public Headers() {
        length = build().copyTo(datagram, 0) + PacketView.ICRC_LENGTH;
    }

    /** A WRITE of one packet. */
    @Benchmark
    public final OutgoingPacket build() {
        packet.begin(Opcode.RC_WRITE_ONLY, path, 17, psn++, true, false)
                .rdma(0x1234_5678_9abcL, 0x1234, PAYLOAD).addPayload(payload, 0, PAYLOAD);
        return packet;
    }

    /** The same packet. */
    @Benchmark
    public long parse() {
        view.wrap(datagram, 0, length);
        return view.psn() + view.destinationQueuePairNumber() + view.remoteAddress() + view.rkey();
    }
}
