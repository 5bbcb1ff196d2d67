// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.compare;

import io.rdma4j.benchmarks.compare.Goal.Bound;
import io.rdma4j.benchmarks.compare.Goal.Kind;
import io.rdma4j.benchmarks.workload.Quantity;
import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.stream.Stream;

/** The figures that rdma4j seeks on a machine with two cores. */
final class Goals {
    private static final String WRITE = "WRITE bandwidth, 1 MiB, one queue pair, ";
    private static final String LATENCY = "SEND latency, 64 B, polling, ";
    /** 0.25 us where UCX takes 0.16. */
    private static final double IN_PROCESS_LIMIT = 0.25 / 0.16;

    private Goals() {}

    static List<Goal> all() {
        return Stream.concat(ofMessages().stream(), ServiceGoals.all().stream()).toList();
    }

    private static List<Goal> ofMessages() {
        return List.of(
                most(WRITE + "against the UDP ceiling with checksums", Catalogue.WRITE_1M,
                        Catalogue.UDP_CEILING, 0.95),
                most("… against `iperf3`, default congestion control", Catalogue.WRITE_1M,
                        Catalogue.IPERF, 0.85),
                new Goal("… against `iperf3 -C cubic`", Kind.AIM, Catalogue.WRITE_1M,
                        Quantity.BYTES_PER_SECOND, Catalogue.IPERF_CUBIC, Bound.AT_LEAST, 0.7),
                most("… against UCX puts over TCP from Java", Catalogue.WRITE_1M,
                        Catalogue.JUCX_PUT, 4),
                most("READ bandwidth against WRITE", Catalogue.READ_1M, Catalogue.WRITE_1M, 0.9),
                least(LATENCY + "against the busy-polled UDP floor", Kind.TARGET,
                        Catalogue.SEND_LATENCY, Catalogue.UDP_FLOOR, 1.5),
                least("… against it, aim", Kind.AIM, Catalogue.SEND_LATENCY, Catalogue.UDP_FLOOR,
                        1.3),
                least("… against Aeron UDP", Kind.TARGET, Catalogue.SEND_LATENCY,
                        Catalogue.AERON_LATENCY, 1.2),
                least("… against it, aim", Kind.AIM, Catalogue.SEND_LATENCY,
                        Catalogue.AERON_LATENCY, 1.0),
                least("… against UCX over TCP", Kind.TARGET, Catalogue.SEND_LATENCY,
                        Catalogue.UCX_LATENCY, 1.0),
                least("… against Netty epoll", Kind.TARGET, Catalogue.SEND_LATENCY,
                        Catalogue.NETTY_LATENCY, 1.0),
                least("… against libfabric over TCP", Kind.TARGET, Catalogue.SEND_LATENCY,
                        Catalogue.FABRIC_LATENCY, 1.0),
                least("SEND latency, 64 B, by events, against blocking TCP in Java", Kind.TARGET,
                        Catalogue.SEND_LATENCY_EVENTS, Catalogue.TCP_LATENCY, 1.1),
                new Goal("rate of 64 B WRITEs, one queue pair, depth 128, posted in lists",
                        Kind.TARGET, Catalogue.WRITE_RATE, Quantity.MESSAGES_PER_SECOND, null,
                        Bound.AT_LEAST, 3),
                new Goal("… against Aeron UDP at its default MTU", Kind.AIM, Catalogue.WRITE_RATE,
                        Quantity.MESSAGES_PER_SECOND, Catalogue.AERON_RATE, Bound.AT_LEAST, 1.0),
                most("in-process WRITE, 1 MiB, against `MemorySegment.copy`",
                        Catalogue.IN_PROCESS, Catalogue.MEMORY_COPY, 0.8),
                new Goal("connections set up and torn down, one client thread", Kind.TARGET,
                        Catalogue.CONNECTIONS, Quantity.CONNECTIONS_PER_SECOND, null,
                        Bound.AT_LEAST, 1000),
                new Goal("heap per connected idle queue pair, depth 16", Kind.TARGET,
                        Catalogue.IDLE, Quantity.HEAP_BYTES, null, Bound.AT_MOST, 8),
                most("goodput at 1 % random loss, 1 MiB WRITEs, against the clean run",
                        Catalogue.WRITE_LOSS, Catalogue.WRITE_1M, 0.3),
                new Goal("CPU of an open, idle device with 1,000 connected queue pairs",
                        Kind.TARGET, Catalogue.IDLE_THOUSAND, Quantity.CPU_SHARE, null,
                        Bound.AT_MOST, 1),
                least("shared memory: SEND latency, 64 B, polling, against UCX posix", Kind.TARGET,
                        Catalogue.SHARED_LATENCY, Catalogue.UCX_MEMORY_LATENCY, 2.0),
                least("… against it, aim", Kind.AIM, Catalogue.SHARED_LATENCY,
                        Catalogue.UCX_MEMORY_LATENCY, 1.2),
                least("… against Aeron IPC", Kind.TARGET, Catalogue.SHARED_LATENCY,
                        Catalogue.AERON_IPC_LATENCY, 1.8),
                least("… against it, aim", Kind.AIM, Catalogue.SHARED_LATENCY,
                        Catalogue.AERON_IPC_LATENCY, 1.0),
                least("… by events, against blocking TCP in Java", Kind.TARGET,
                        Catalogue.SHARED_LATENCY_EVENTS, Catalogue.TCP_LATENCY, 0.1),
                most("… WRITE bandwidth, 1 MiB, from and to any memory, against messages of UCX posix",
                        Catalogue.SHARED_WRITE, Catalogue.UCX_MEMORY_STREAM, 1.1),
                most("… from and to memory of the device, against messages of UCX posix",
                        Catalogue.SHARED_DEVICE_WRITE, Catalogue.UCX_MEMORY_STREAM, 2.0),
                most("… against puts of UCX posix", Catalogue.SHARED_DEVICE_WRITE,
                        Catalogue.UCX_MEMORY_PUT, 0.5),
                new Goal("… against them, aim", Kind.AIM, Catalogue.SHARED_DEVICE_WRITE,
                        Quantity.BYTES_PER_SECOND, Catalogue.UCX_MEMORY_PUT, Bound.AT_LEAST, 1.0),
                most("… against `iperf3 -C cubic`", Catalogue.SHARED_WRITE,
                        Catalogue.IPERF_CUBIC, 1.0),
                rate("… 64 B WRITEs, depth 128, lists of 64, million/s", Kind.TARGET,
                        Catalogue.SHARED_RATE, null, 12),
                rate("… aim", Kind.AIM, Catalogue.SHARED_RATE, null, 20),
                rate("… 64 B SENDs, one at a time, depth 128, against Aeron IPC's rate",
                        Kind.TARGET, Catalogue.SHARED_SEND_RATE, Catalogue.AERON_IPC_RATE, 0.3),
                rate("… against it, aim", Kind.AIM, Catalogue.SHARED_SEND_RATE,
                        Catalogue.AERON_IPC_RATE, 0.5),
                least("within a process, SEND 64 B to another queue pair, against UCX posix",
                        Kind.TARGET, Catalogue.IN_PROCESS_SEND, Catalogue.UCX_MEMORY_LATENCY,
                        IN_PROCESS_LIMIT),
                most("five pairs of processes at one address, sum of WRITE bandwidth, against one pair",
                        Catalogue.FIVE_PAIRS, Catalogue.WRITE_1M, 0.9),
                most("… through shared memory", Catalogue.SHARED_FIVE_PAIRS,
                        Catalogue.SHARED_WRITE, 0.9),
                most("fresh processes: average of `ib_write_bw -D 4` against `-D 20`",
                        Catalogue.TOOL_SHORT, Catalogue.TOOL_LONG, 0.75),
                least("… typical latency of `ib_send_lat` against `-n 100000`", Kind.TARGET,
                        Catalogue.TOOL_FEW, Catalogue.TOOL_MANY, 1.5),
                most("iWARP: WRITE bandwidth, 1 MiB, against `iperf3`, default congestion control",
                        Catalogue.IWARP_WRITE, Catalogue.IPERF, 0.85),
                most("… with CRC", Catalogue.IWARP_WRITE_CRC, Catalogue.IPERF, 0.6),
                most("… READ bandwidth against WRITE", Catalogue.IWARP_READ,
                        Catalogue.IWARP_WRITE, 0.9),
                least("… SEND latency, 64 B, polling, against polled TCP in Java", Kind.TARGET,
                        Catalogue.IWARP_LATENCY, Catalogue.TCP_LATENCY_POLLING, 1.5),
                least("… by events, against blocking TCP in Java", Kind.TARGET,
                        Catalogue.IWARP_LATENCY_EVENTS, Catalogue.TCP_LATENCY, 1.1),
                new Goal("… connections set up and torn down, one client thread", Kind.TARGET,
                        Catalogue.IWARP_CONNECTIONS, Quantity.CONNECTIONS_PER_SECOND, null,
                        Bound.AT_LEAST, 1000),
                nothing("allocation per WRITE of 1 MiB over iWARP", Catalogue.IWARP_WRITE),
                nothing("allocation per SEND of 64 B over iWARP", Catalogue.IWARP_LATENCY),
                nothing("allocation per WRITE of 1 MiB", Catalogue.WRITE_1M),
                nothing("allocation per READ of 1 MiB", Catalogue.READ_1M),
                nothing("allocation per SEND of 64 B, ping-pong", Catalogue.SEND_LATENCY),
                nothing("… through shared memory", Catalogue.SHARED_LATENCY));
    }

    private static Goal most(String what, String trial, String against, double limit) {
        return new Goal(what, Kind.TARGET, trial, Quantity.BYTES_PER_SECOND, against,
                Bound.AT_LEAST, limit);
    }

    private static Goal least(String what, Kind kind, String trial, String against,
            double limit) {
        return new Goal(what, kind, trial, Quantity.LATENCY_NS, against, Bound.AT_MOST, limit);
    }

    private static Goal rate(String what, Kind kind, String trial, @Nullable String against,
            double limit) {
        return new Goal(what, kind, trial, Quantity.MESSAGES_PER_SECOND, against, Bound.AT_LEAST,
                limit);
    }

    /** The smallest object has 16 bytes; what is less than one in a hundred comes from the JVM itself. */
    private static Goal nothing(String what, String trial) {
        return new Goal(what, Kind.TARGET, trial, Quantity.ALLOCATED_BYTES, null, Bound.AT_MOST,
                0.1);
    }
}
