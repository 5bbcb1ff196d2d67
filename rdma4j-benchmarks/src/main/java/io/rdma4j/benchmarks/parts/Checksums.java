// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.parts;

import io.rdma4j.protocol.roce.wire.Icrc;
import io.rdma4j.protocol.roce.wire.PacketView;
import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.verbs.Gid;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;

/** The ICRC of a packet over IPv4: computed, and checked when the Identification is not the expected one. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class Checksums {
    private static final int HEADER = 28;

    private final Gid here = Gid.of(InetAddress.ofLiteral("127.0.0.1"));
    private final Gid there = Gid.of(InetAddress.ofLiteral("127.0.0.2"));
    private final Icrc icrc = new Icrc();
    private final ByteBuffer bytes = ByteBuffer.allocateDirect(8192);

    @Param({"64", "1024", "4096"})
    private int payload;

    /** What a sender does. */
    @Benchmark
    public int compute() {
        return compute(0);
    }

    private int compute(int identification) {
        return icrc.compute(here, there, Path.UDP_PORT, Path.UDP_PORT, identification, bytes, 0,
                HEADER + payload);
    }

    /** What a receiver does. */
    @Benchmark
    public int identify() {
        return icrc.identify(here, there, Path.UDP_PORT, 0, bytes, 0,
                HEADER + payload + PacketView.ICRC_LENGTH);
    }
}
