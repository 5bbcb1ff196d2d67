// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.side;

import io.rdma4j.benchmarks.aeron.AeronPingPong;
import io.rdma4j.benchmarks.aeron.AeronStream;
import io.rdma4j.benchmarks.memory.MemoryFloor;
import io.rdma4j.benchmarks.netty.NettyPingPong;
import io.rdma4j.benchmarks.netty.NettyStream;
import io.rdma4j.benchmarks.rdma.Connections;
import io.rdma4j.benchmarks.rdma.IdlePairs;
import io.rdma4j.benchmarks.rdma.InProcessSend;
import io.rdma4j.benchmarks.rdma.InProcessWrite;
import io.rdma4j.benchmarks.rdma.MemoryCopy;
import io.rdma4j.benchmarks.rdma.Operation;
import io.rdma4j.benchmarks.rdma.RdmaPingPong;
import io.rdma4j.benchmarks.rdma.RdmaRoundTrip;
import io.rdma4j.benchmarks.rdma.RdmaStream;
import io.rdma4j.benchmarks.tcp.TcpPingPong;
import io.rdma4j.benchmarks.tcp.TcpStream;
import io.rdma4j.benchmarks.ucx.JucxPut;
import io.rdma4j.benchmarks.udp.UdpCeiling;
import io.rdma4j.benchmarks.udp.UdpFloor;
import io.rdma4j.benchmarks.workload.Workload;

/** The workloads that a process can play. */
public enum Repertoire {
    /** WRITEs, as many as go through. */
    RDMA_WRITE,
    /** READs, as many as go through. */
    RDMA_READ,
    /** SENDs, as many as go through. */
    RDMA_SEND,
    /** SENDs to and fro. */
    RDMA_PING_PONG,
    /** One WRITE after the other. */
    RDMA_WRITE_ROUND_TRIP,
    /** One READ after the other. */
    RDMA_READ_ROUND_TRIP,
    /** Connections, one after the other. */
    RDMA_CONNECTIONS,
    /** WRITEs within one process. */
    RDMA_IN_PROCESS,
    /** SENDs within one process, one after the other. */
    RDMA_IN_PROCESS_SEND,
    /** Queue pairs that do nothing. */
    RDMA_IDLE,
    /** Copies of memory. */
    MEMORY_COPY,
    /** A TCP stream. */
    TCP_STREAM,
    /** Messages over TCP to and fro. */
    TCP_PING_PONG,
    /** Datagrams with checksums, as many as go through. */
    UDP_CEILING,
    /** Datagrams to and fro. */
    UDP_FLOOR,
    /** The same behind datagrams as long as an acknowledgement. */
    UDP_FLOOR_ACKNOWLEDGED,
    /** Messages by Netty to and fro. */
    NETTY_PING_PONG,
    /** A stream by Netty. */
    NETTY_STREAM,
    /** Messages by Aeron to and fro. */
    AERON_PING_PONG,
    /** Messages by Aeron, as many as go through. */
    AERON_STREAM,
    /** The same with the largest datagrams. */
    AERON_STREAM_LARGEST,
    /** Messages by Aeron through memory, to and fro. */
    AERON_IPC_PING_PONG,
    /** Messages by Aeron through memory, as many as go through. */
    AERON_IPC_STREAM,
    /** Messages through memory that both processes have mapped, to and fro. */
    MEMORY_FLOOR,
    /** UCX puts, as many as go through. */
    JUCX_PUT;

    Workload workload() {
        return switch (this) {
            case RDMA_WRITE -> new RdmaStream(Operation.WRITE);
            case RDMA_READ -> new RdmaStream(Operation.READ);
            case RDMA_SEND -> new RdmaStream(Operation.SEND);
            case RDMA_PING_PONG -> new RdmaPingPong();
            case RDMA_WRITE_ROUND_TRIP -> new RdmaRoundTrip(Operation.WRITE);
            case RDMA_READ_ROUND_TRIP -> new RdmaRoundTrip(Operation.READ);
            case RDMA_CONNECTIONS -> new Connections();
            case RDMA_IN_PROCESS -> new InProcessWrite();
            case RDMA_IN_PROCESS_SEND -> new InProcessSend();
            case RDMA_IDLE -> new IdlePairs();
            case MEMORY_COPY -> new MemoryCopy();
            case TCP_STREAM -> new TcpStream();
            case TCP_PING_PONG -> new TcpPingPong();
            case UDP_CEILING -> new UdpCeiling();
            case UDP_FLOOR -> UdpFloor.plain();
            case UDP_FLOOR_ACKNOWLEDGED -> UdpFloor.acknowledged();
            case NETTY_PING_PONG -> new NettyPingPong();
            case NETTY_STREAM -> new NettyStream();
            case AERON_PING_PONG -> AeronPingPong.overUdp();
            case AERON_STREAM -> AeronStream.overUdp();
            case AERON_STREAM_LARGEST -> AeronStream.overUdpOfLargestMtu();
            case AERON_IPC_PING_PONG -> AeronPingPong.inMemory();
            case AERON_IPC_STREAM -> AeronStream.inMemory();
            case MEMORY_FLOOR -> new MemoryFloor();
            case JUCX_PUT -> new JucxPut();
        };
    }
}
