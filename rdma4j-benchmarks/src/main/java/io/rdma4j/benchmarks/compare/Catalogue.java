// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.compare;

import io.rdma4j.benchmarks.side.Repertoire;
import io.rdma4j.benchmarks.workload.Quantity;
import io.rdma4j.benchmarks.workload.Settings;

import java.util.ArrayList;
import java.util.List;

/** All trials. */
final class Catalogue {
    static final String WRITE_1M = "rdma4j-write-1MiB";
    static final String READ_1M = "rdma4j-read-1MiB";
    static final String SEND_1M = "rdma4j-send-1MiB";
    static final String TCP_STREAM = "tcp-stream";
    static final String TCP_LATENCY_POLLING = "tcp-latency-polling";
    static final String NETTY_STREAM = "netty-stream";
    static final String AERON_STREAM = "aeron-stream";
    static final String UCX_PUT = "ucx-put";
    static final String WRITE_LOSS = "rdma4j-write-1MiB-loss";
    static final String WRITE_RATE = "rdma4j-write-rate";
    static final String SEND_LATENCY = "rdma4j-send-latency";
    static final String SEND_LATENCY_EVENTS = "rdma4j-send-latency-events";
    static final String IN_PROCESS = "rdma4j-in-process";
    static final String IN_PROCESS_SEND = "rdma4j-in-process-send-latency";
    static final String CONNECTIONS = "rdma4j-connections";
    static final String IDLE = "rdma4j-idle";
    static final String IDLE_THOUSAND = "rdma4j-idle-1000";
    static final String MEMORY_COPY = "memory-copy";
    static final String TCP_LATENCY = "tcp-latency";
    static final String UDP_CEILING = "udp-ceiling";
    static final String UDP_FLOOR = "udp-floor";
    static final String IPERF = "iperf3";
    static final String IPERF_CUBIC = "iperf3-cubic";
    static final String JUCX_PUT = "jucx-put";
    static final String UCX_LATENCY = "ucx-latency";
    static final String NETTY_LATENCY = "netty-latency";
    static final String FABRIC_LATENCY = "libfabric-latency";
    static final String AERON_LATENCY = "aeron-latency";
    static final String AERON_RATE = "aeron-rate";
    static final String SHARED_WRITE = "rdma4j-shared-write-1MiB";
    static final String SHARED_DEVICE_WRITE = "rdma4j-shared-write-1MiB-device";
    static final String SHARED_LATENCY = "rdma4j-shared-send-latency";
    static final String SHARED_LATENCY_EVENTS = "rdma4j-shared-send-latency-events";
    static final String SHARED_RATE = "rdma4j-shared-write-rate";
    static final String SHARED_SEND_RATE = "rdma4j-shared-send-rate";
    static final String AERON_IPC_LATENCY = "aeron-ipc-latency";
    static final String AERON_IPC_RATE = "aeron-ipc-rate";
    static final String UCX_MEMORY_PUT = "ucx-memory-put";
    static final String UCX_MEMORY_STREAM = "ucx-memory-stream";
    static final String UCX_MEMORY_LATENCY = "ucx-memory-latency";
    static final String MEMORY_FLOOR = "memory-floor";
    static final String FIVE_PAIRS = "rdma4j-write-five-pairs";
    static final String SHARED_FIVE_PAIRS = "rdma4j-shared-write-five-pairs";
    static final String TOOL_SHORT = "ib_write_bw-4s";
    static final String TOOL_LONG = "ib_write_bw-20s";
    static final String TOOL_FEW = "ib_send_lat";
    static final String TOOL_MANY = "ib_send_lat-100000";

    static final String IWARP_WRITE = "rdma4j-iwarp-write-1MiB";
    static final String IWARP_WRITE_CRC = "rdma4j-iwarp-write-1MiB-crc";
    static final String IWARP_READ = "rdma4j-iwarp-read-1MiB";
    static final String IWARP_LATENCY = "rdma4j-iwarp-send-latency";
    static final String IWARP_LATENCY_EVENTS = "rdma4j-iwarp-send-latency-events";
    static final String IWARP_CONNECTIONS = "rdma4j-iwarp-connections";

    private static final String OVER_IWARP = "-Drdma4j.device=iwarp";
    private static final String BY_NETWORK = "-Drdma4j.loopback=network";
    private static final String BY_MEMORY = "-Drdma4j.loopback=shared";
    private static final String OF_DEVICE = "-Drdma4j.benchmarks.memory=device";

    private static final int MEBIBYTE = 1 << 20;
    private static final int SMALL = 64;
    private static final int PAIRS = 5;
    static final String RDMA4J = "rdma4j";

    private final boolean isQuick;
    private final double warmUpSeconds;
    private final double seconds;
    private final List<Trial> trials = new ArrayList<>();

    /** @param isQuick whether times are short and variants are left out */
    Catalogue(boolean isQuick, double warmUpSeconds, double seconds) {
        this.isQuick = isQuick;
        this.warmUpSeconds = warmUpSeconds;
        this.seconds = seconds;
        bandwidth();
        latency();
        rate();
        memory();
        iwarp();
        capacity();
        tools();
        trials.addAll(ServiceTrials.all(isQuick, warmUpSeconds, seconds));
    }

    List<Trial> trials() {
        return trials;
    }

    private void bandwidth() {
        stream(WRITE_1M, Repertoire.RDMA_WRITE, "WRITE, 1 MiB", messages(MEBIBYTE));
        stream(READ_1M, Repertoire.RDMA_READ, "READ, 1 MiB", messages(MEBIBYTE));
        stream(SEND_1M, Repertoire.RDMA_SEND, "SEND, 1 MiB", messages(MEBIBYTE));
        for (int size : isQuick ? new int[]{4096, 65536}
                : new int[]{64, 256, 1024, 4096, 16384, 65536, 262144, 4 * MEBIBYTE}) {
            Settings settings = messages(size).withDepth(Math.min(128, 16 * MEBIBYTE / size), 1);
            stream("rdma4j-write-" + size, Repertoire.RDMA_WRITE, "WRITE, " + sized(size),
                    settings);
            if (!isQuick) {
                stream("rdma4j-read-" + size, Repertoire.RDMA_READ, "READ, " + sized(size),
                        settings.withDepth(16, 1));
                stream("rdma4j-send-" + size, Repertoire.RDMA_SEND, "SEND, " + sized(size),
                        settings.withDepth(32, 1));
            }
        }
        for (int count : isQuick ? new int[]{8} : new int[]{2, 8, 64}) {
            stream("rdma4j-write-1MiB-q" + count, Repertoire.RDMA_WRITE,
                    "WRITE, 1 MiB, " + count + " queue pairs",
                    messages(MEBIBYTE).withQueuePairs(count).withDepth(4, 1));
        }
        trials.add(new Trial(FIVE_PAIRS, RDMA4J, "WRITE, 1 MiB, five pairs at one address",
                Quantity.BYTES_PER_SECOND, new PairsRunner(
                        JavaRunner.pair(Repertoire.RDMA_WRITE, messages(MEBIBYTE)).with(BY_NETWORK),
                        PAIRS)));
        trials.add(new Trial(WRITE_LOSS, RDMA4J, "WRITE, 1 MiB, 1 % loss",
                Quantity.BYTES_PER_SECOND,
                JavaRunner.pair(Repertoire.RDMA_WRITE, messages(MEBIBYTE))
                        .with("-Drdma4j.impair=loss=1%,seed=7")));
        peer(UDP_CEILING, "UDP ceiling", "segments with checksums", Quantity.BYTES_PER_SECOND,
                Repertoire.UDP_CEILING, messages(MEBIBYTE));
        peer(TCP_STREAM, "TCP, Java NIO", "stream, 1 MiB writes", Quantity.BYTES_PER_SECOND,
                Repertoire.TCP_STREAM, messages(MEBIBYTE));
        peer(NETTY_STREAM, "Netty epoll", "stream, 1 MiB writes", Quantity.BYTES_PER_SECOND,
                Repertoire.NETTY_STREAM, messages(MEBIBYTE));
        peer(AERON_STREAM, "Aeron UDP", "MTU 65504", Quantity.BYTES_PER_SECOND,
                Repertoire.AERON_STREAM_LARGEST, messages(MEBIBYTE));
        peer("aeron-stream-default", "Aeron UDP", "default MTU", Quantity.BYTES_PER_SECOND,
                Repertoire.AERON_STREAM, messages(MEBIBYTE));
        trials.add(new Trial(IPERF, "iperf3", "1 MiB writes, default congestion control",
                Quantity.BYTES_PER_SECOND, Tools.iperf(warmUpSeconds, seconds)));
        trials.add(new Trial(IPERF_CUBIC, "iperf3", "1 MiB writes, cubic",
                Quantity.BYTES_PER_SECOND,
                Tools.iperf(warmUpSeconds, seconds, "-C", "cubic")));
        trials.add(new Trial(UCX_PUT, "UCX over TCP", "put, 1 MiB", Quantity.BYTES_PER_SECOND,
                Tools.ucxPut(MEBIBYTE, seconds)));
        trials.add(new Trial(JUCX_PUT, "UCX over TCP, Java", "put, 1 MiB",
                Quantity.BYTES_PER_SECOND,
                JavaRunner.pair(Repertoire.JUCX_PUT, messages(MEBIBYTE))
                        .with(Tools.ucxOverTcp())));
    }

    private void latency() {
        peer(SEND_LATENCY, RDMA4J, "SEND, 64 B, polling", Quantity.LATENCY_NS,
                Repertoire.RDMA_PING_PONG, messages(SMALL));
        peer(SEND_LATENCY_EVENTS, RDMA4J, "SEND, 64 B, events", Quantity.LATENCY_NS,
                Repertoire.RDMA_PING_PONG, messages(SMALL).withEvents());
        peer("rdma4j-write-latency", RDMA4J, "WRITE, 64 B, to its completion",
                Quantity.LATENCY_NS, Repertoire.RDMA_WRITE_ROUND_TRIP, messages(SMALL));
        peer("rdma4j-read-latency", RDMA4J, "READ, 64 B, to its completion",
                Quantity.LATENCY_NS, Repertoire.RDMA_READ_ROUND_TRIP, messages(SMALL));
        peer(UDP_FLOOR, "UDP floor", "ping-pong, 64 B, polling", Quantity.LATENCY_NS,
                Repertoire.UDP_FLOOR, messages(SMALL));
        peer("udp-floor-acknowledged", "UDP floor",
                "ping-pong, 64 B behind 20 B of an acknowledgement, polling", Quantity.LATENCY_NS,
                Repertoire.UDP_FLOOR_ACKNOWLEDGED, messages(SMALL));
        peer(TCP_LATENCY, "TCP, Java NIO", "ping-pong, 64 B, blocking", Quantity.LATENCY_NS,
                Repertoire.TCP_PING_PONG, messages(SMALL).withEvents());
        peer(TCP_LATENCY_POLLING, "TCP, Java NIO", "ping-pong, 64 B, polling",
                Quantity.LATENCY_NS, Repertoire.TCP_PING_PONG, messages(SMALL));
        peer(NETTY_LATENCY, "Netty epoll", "ping-pong, 64 B, polling", Quantity.LATENCY_NS,
                Repertoire.NETTY_PING_PONG, messages(SMALL));
        peer("netty-latency-events", "Netty epoll", "ping-pong, 64 B, sleeping",
                Quantity.LATENCY_NS, Repertoire.NETTY_PING_PONG, messages(SMALL).withEvents());
        peer(AERON_LATENCY, "Aeron UDP", "ping-pong, 64 B, polling", Quantity.LATENCY_NS,
                Repertoire.AERON_PING_PONG, messages(SMALL));
        trials.add(new Trial(UCX_LATENCY, "UCX over TCP", "ping-pong, 64 B, polling",
                Quantity.LATENCY_NS, Tools.ucxPingPong(SMALL, seconds)));
        trials.add(new Trial(FABRIC_LATENCY, "libfabric over TCP",
                "ping-pong, 64 B, the mean", Quantity.LATENCY_NS,
                Tools.fabricPingPong(SMALL, seconds)));
    }

    private void rate() {
        peer(WRITE_RATE, RDMA4J, "WRITE, 64 B, depth 128, lists of 64",
                Quantity.MESSAGES_PER_SECOND, Repertoire.RDMA_WRITE,
                messages(SMALL).withDepth(128, 64));
        peer(AERON_RATE, "Aeron UDP", "64 B messages, default MTU", Quantity.MESSAGES_PER_SECOND,
                Repertoire.AERON_STREAM, messages(SMALL));
    }

    /** Between two processes through memory that both have mapped. */
    private void memory() {
        shared(SHARED_WRITE, "WRITE, 1 MiB, shared memory", Quantity.BYTES_PER_SECOND,
                Repertoire.RDMA_WRITE, messages(MEBIBYTE));
        shared("rdma4j-shared-read-1MiB", "READ, 1 MiB, shared memory",
                Quantity.BYTES_PER_SECOND, Repertoire.RDMA_READ, messages(MEBIBYTE));
        shared("rdma4j-shared-send-1MiB", "SEND, 1 MiB, shared memory",
                Quantity.BYTES_PER_SECOND, Repertoire.RDMA_SEND, messages(MEBIBYTE));
        ofDevice(SHARED_DEVICE_WRITE, "WRITE", Repertoire.RDMA_WRITE);
        ofDevice("rdma4j-shared-read-1MiB-device", "READ", Repertoire.RDMA_READ);
        ofDevice("rdma4j-shared-send-1MiB-device", "SEND", Repertoire.RDMA_SEND);
        trials.add(new Trial(SHARED_FIVE_PAIRS, RDMA4J,
                "WRITE, 1 MiB, shared memory, five pairs at one address",
                Quantity.BYTES_PER_SECOND, new PairsRunner(
                        JavaRunner.pair(Repertoire.RDMA_WRITE, messages(MEBIBYTE)).with(BY_MEMORY),
                        PAIRS)));
        shared(SHARED_LATENCY, "SEND, 64 B, polling, shared memory", Quantity.LATENCY_NS,
                Repertoire.RDMA_PING_PONG, messages(SMALL));
        shared(SHARED_LATENCY_EVENTS, "SEND, 64 B, events, shared memory", Quantity.LATENCY_NS,
                Repertoire.RDMA_PING_PONG, messages(SMALL).withEvents());
        shared(SHARED_RATE, "WRITE, 64 B, depth 128, lists of 64, shared memory",
                Quantity.MESSAGES_PER_SECOND, Repertoire.RDMA_WRITE,
                messages(SMALL).withDepth(128, 64));
        shared(SHARED_SEND_RATE, "SEND, 64 B, depth 128, one at a time, shared memory",
                Quantity.MESSAGES_PER_SECOND, Repertoire.RDMA_SEND,
                messages(SMALL).withDepth(128, 1));
        peer(MEMORY_FLOOR, "shared-memory floor", "ping-pong, 64 B, polling",
                Quantity.LATENCY_NS, Repertoire.MEMORY_FLOOR, messages(SMALL));
        peer(AERON_IPC_LATENCY, "Aeron IPC", "ping-pong, 64 B, polling", Quantity.LATENCY_NS,
                Repertoire.AERON_IPC_PING_PONG, messages(SMALL));
        peer("aeron-ipc-stream", "Aeron IPC", "as large as it takes them",
                Quantity.BYTES_PER_SECOND, Repertoire.AERON_IPC_STREAM, messages(MEBIBYTE));
        peer(AERON_IPC_RATE, "Aeron IPC", "64 B messages", Quantity.MESSAGES_PER_SECOND,
                Repertoire.AERON_IPC_STREAM, messages(SMALL));
        trials.add(new Trial(UCX_MEMORY_PUT, "UCX posix", "put, 1 MiB",
                Quantity.BYTES_PER_SECOND, Tools.ucxMemoryPut(MEBIBYTE, seconds)));
        trials.add(new Trial(UCX_MEMORY_STREAM, "UCX posix", "messages, 1 MiB",
                Quantity.BYTES_PER_SECOND, Tools.ucxMemoryStream(MEBIBYTE, seconds)));
        trials.add(new Trial(UCX_MEMORY_LATENCY, "UCX posix", "ping-pong, 64 B, polling",
                Quantity.LATENCY_NS, Tools.ucxMemoryPingPong(SMALL, seconds)));
    }

    /** From and to memory that the device has allocated, and that the other process maps. */
    private void ofDevice(String id, String operation, Repertoire workload) {
        trials.add(new Trial(id, RDMA4J, operation + ", 1 MiB, shared memory, allocateRegion",
                Quantity.BYTES_PER_SECOND, JavaRunner.pair(workload, messages(MEBIBYTE))
                        .with(BY_MEMORY).with(OF_DEVICE)));
    }

    private void iwarp() {
        overIwarp(IWARP_WRITE, "WRITE, 1 MiB, iWARP", Quantity.BYTES_PER_SECOND,
                Repertoire.RDMA_WRITE, messages(MEBIBYTE));
        trials.add(new Trial(IWARP_WRITE_CRC, RDMA4J, "WRITE, 1 MiB, iWARP with CRC",
                Quantity.BYTES_PER_SECOND,
                JavaRunner.pair(Repertoire.RDMA_WRITE, messages(MEBIBYTE)).with(OVER_IWARP)
                        .with("-Drdma4j.iwarp.crc=true")));
        overIwarp(IWARP_READ, "READ, 1 MiB, iWARP", Quantity.BYTES_PER_SECOND,
                Repertoire.RDMA_READ, messages(MEBIBYTE));
        overIwarp(IWARP_LATENCY, "SEND, 64 B, polling, iWARP", Quantity.LATENCY_NS,
                Repertoire.RDMA_PING_PONG, messages(SMALL));
        overIwarp(IWARP_LATENCY_EVENTS, "SEND, 64 B, events, iWARP", Quantity.LATENCY_NS,
                Repertoire.RDMA_PING_PONG, messages(SMALL).withEvents());
        overIwarp(IWARP_CONNECTIONS, "connections, one client thread, iWARP",
                Quantity.CONNECTIONS_PER_SECOND, Repertoire.RDMA_CONNECTIONS, messages(SMALL));
    }

    private void overIwarp(String id, String work, Quantity chief, Repertoire workload,
            Settings settings) {
        trials.add(new Trial(id, RDMA4J, work, chief,
                JavaRunner.pair(workload, settings).with(OVER_IWARP)));
    }

    private void shared(String id, String work, Quantity chief, Repertoire workload,
            Settings settings) {
        trials.add(new Trial(id, RDMA4J, work, chief,
                JavaRunner.pair(workload, settings).with(BY_MEMORY)));
    }

    private void capacity() {
        trials.add(new Trial(IN_PROCESS, RDMA4J, "WRITE within a process, 1 MiB",
                Quantity.BYTES_PER_SECOND,
                JavaRunner.alone(Repertoire.RDMA_IN_PROCESS, messages(MEBIBYTE).withDepth(4, 1))));
        trials.add(new Trial(IN_PROCESS_SEND, RDMA4J, "SEND within a process, 64 B",
                Quantity.LATENCY_NS,
                JavaRunner.alone(Repertoire.RDMA_IN_PROCESS_SEND, messages(SMALL))));
        trials.add(new Trial(MEMORY_COPY, "MemorySegment.copy", "1 MiB",
                Quantity.BYTES_PER_SECOND,
                JavaRunner.alone(Repertoire.MEMORY_COPY, messages(MEBIBYTE))));
        peer(CONNECTIONS, RDMA4J, "connections, one client thread",
                Quantity.CONNECTIONS_PER_SECOND, Repertoire.RDMA_CONNECTIONS, messages(SMALL));
        int idle = isQuick ? 2_000 : 20_000;
        trials.add(new Trial(IDLE, RDMA4J, String.format("%,d idle queue pairs, depth 16", idle),
                Quantity.HEAP_BYTES,
                JavaRunner.alone(Repertoire.RDMA_IDLE, messages(SMALL).withQueuePairs(idle))));
        trials.add(new Trial(IDLE_THOUSAND, RDMA4J, "1,000 idle queue pairs", Quantity.CPU_SHARE,
                JavaRunner.alone(Repertoire.RDMA_IDLE, messages(SMALL).withQueuePairs(1_000))));
    }

    /** Programs as users start them, in processes that are not warm. */
    private void tools() {
        trials.add(new Trial(TOOL_SHORT, RDMA4J, "`ib_write_bw -D 4`, a fresh pair",
                Quantity.BYTES_PER_SECOND, Tools.ownBandwidth("ib_write_bw", "-D", "4")));
        trials.add(new Trial(TOOL_LONG, RDMA4J, "`ib_write_bw -D 20`, a fresh pair",
                Quantity.BYTES_PER_SECOND, Tools.ownBandwidth("ib_write_bw", "-D", "20")));
        trials.add(new Trial(TOOL_FEW, RDMA4J, "`ib_send_lat`, a fresh pair",
                Quantity.LATENCY_NS, Tools.ownLatency("ib_send_lat")));
        trials.add(new Trial(TOOL_MANY, RDMA4J, "`ib_send_lat -n 100000`, a fresh pair",
                Quantity.LATENCY_NS, Tools.ownLatency("ib_send_lat", "-n", "100000")));
    }

    private static String sized(int bytes) {
        return bytes >= MEBIBYTE ? bytes / MEBIBYTE + " MiB"
                : bytes >= 1024 ? bytes / 1024 + " KiB" : bytes + " B";
    }

    private Settings messages(int size) {
        return Settings.of(size, warmUpSeconds, seconds);
    }

    private void stream(String id, Repertoire workload, String work, Settings settings) {
        peer(id, RDMA4J, work, Quantity.BYTES_PER_SECOND, workload, settings);
    }

    private void peer(String id, String who, String work, Quantity chief, Repertoire workload,
            Settings settings) {
        // Two processes of one machine would not use the network otherwise.
        trials.add(new Trial(id, who, work, chief,
                JavaRunner.pair(workload, settings).with(BY_NETWORK)));
    }
}
