// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.udp;

import io.rdma4j.benchmarks.workload.Control;
import io.rdma4j.benchmarks.workload.Figures;
import io.rdma4j.benchmarks.workload.Latencies;
import io.rdma4j.benchmarks.workload.PairedWorkload;
import io.rdma4j.benchmarks.workload.Settings;
import io.rdma4j.benchmarks.workload.Stretch;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.function.IntConsumer;

/**
 * Bare datagrams to and fro, both sides asking again and again: the floor of any protocol on UDP. Or two each time, the first as long as an
 * acknowledgement of RoCE: the floor of a reliable connection, whose peer acknowledges a message before it answers it.
 */
public final class UdpFloor implements PairedWorkload {
    private static final Duration PATIENCE = Duration.ofSeconds(2);
    /** Base header, acknowledgement header and checksum. */
    private static final int ACKNOWLEDGEMENT = 20;

    private final boolean isAcknowledged;

    private UdpFloor(boolean isAcknowledged) {
        this.isAcknowledged = isAcknowledged;
    }

    /** {@return the workload of one datagram each time} */
    public static UdpFloor plain() {
        return new UdpFloor(false);
    }

    /** {@return the workload of two, of which the second is the message} */
    public static UdpFloor acknowledged() {
        return new UdpFloor(true);
    }

    @Override
    public void serve(Settings settings, IntConsumer ready) throws IOException {
        try (Arena arena = Arena.ofConfined();
                UdpSocket socket = new UdpSocket();
                Control control = Control.accept(ready)) {
            MemorySegment peer = meet(control, socket);
            MemorySegment bytes = arena.allocate(settings.sizeBytes(), 64);
            MemorySegment first = arena.allocate(ACKNOWLEDGEMENT, 64);
            // It ends with an empty datagram.
            while (await(socket, bytes) > 0) {
                send(socket, first, bytes, peer);
            }
        }
    }

    @Override
    public Figures drive(Settings settings, int port) throws IOException {
        try (Arena arena = Arena.ofConfined();
                UdpSocket socket = new UdpSocket();
                Control control = Control.connect(port)) {
            MemorySegment peer = meet(control, socket);
            MemorySegment bytes = arena.allocate(settings.sizeBytes(), 64);
            MemorySegment first = arena.allocate(ACKNOWLEDGEMENT, 64);
            Latencies latencies = new Latencies();
            Stretch stretch = new Stretch(settings);
            long rounds = 0;
            long beforeNs = System.nanoTime();
            while (stretch.goesOn(rounds, beforeNs)) {
                send(socket, first, bytes, peer);
                await(socket, bytes);
                long nowNs = System.nanoTime();
                if (stretch.isCounting()) {
                    latencies.add(nowNs - beforeNs);
                }
                beforeNs = nowNs;
                rounds++;
            }
            socket.sendto(bytes.asSlice(0, 0), peer);
            return latencies.figures(0.5);
        }
    }

    private static MemorySegment meet(Control control, UdpSocket socket) throws IOException {
        control.out().writeInt(socket.port());
        return socket.loopback(control.in().readInt());
    }

    private void send(UdpSocket socket, MemorySegment first, MemorySegment message,
            MemorySegment peer) throws IOException {
        if (isAcknowledged) {
            socket.sendto(first, peer);
        }
        socket.sendto(message, peer);
    }

    /** {@return the length of the next message} */
    private long await(UdpSocket socket, MemorySegment into) throws IOException {
        long length = receive(socket, into);
        return isAcknowledged && length == ACKNOWLEDGEMENT ? receive(socket, into) : length;
    }

    private static long receive(UdpSocket socket, MemorySegment into) throws IOException {
        long startNs = 0;
        for (int tries = 1;; tries++) {
            long length = socket.recvfrom(into);
            if (length >= 0) {
                return length;
            }
            if ((tries & 0xffff) == 0) {
                long nowNs = System.nanoTime();
                startNs = startNs == 0 ? nowNs : startNs;
                if (nowNs - startNs > PATIENCE.toNanos()) {
                    throw new IOException("a datagram was lost, or the other side has gone");
                }
            }
        }
    }
}
