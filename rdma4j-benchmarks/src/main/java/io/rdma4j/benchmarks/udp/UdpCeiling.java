// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.udp;

import io.rdma4j.benchmarks.workload.Control;
import io.rdma4j.benchmarks.workload.Figures;
import io.rdma4j.benchmarks.workload.PairedWorkload;
import io.rdma4j.benchmarks.workload.Quantity;
import io.rdma4j.benchmarks.workload.Settings;
import io.rdma4j.benchmarks.workload.Stretch;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.IntConsumer;
import java.util.zip.CRC32;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

/**
 * The most that UDP brings from Java to Java with the work a RoCEv2 device cannot avoid: segments of a header, a
 * path MTU of payload and a checksum that both sides compute, sent and received in bursts by
 * {@code UDP_SEGMENT} and {@code UDP_GRO}, and copied into the receiver's memory.
 *
 * <p>No protocol: the receiver tells how far it is through memory both processes have mapped, and what is lost is
 * left out.
 */
public final class UdpCeiling implements PairedWorkload {
    private static final int HEADER = 12;
    private static final int PAYLOAD = 4096;
    private static final int CHECKSUM = 4;
    private static final int SEGMENT = HEADER + PAYLOAD + CHECKSUM;
    /** As many as fit an IPv4 datagram. */
    private static final int BURST = 15;
    /** What an ordinary user's receive buffer holds of bursts, so that nothing is dropped. */
    private static final long IN_FLIGHT = 3L * BURST * SEGMENT;
    private static final int IP_LEVEL = 0;
    private static final int IP_MTU_DISCOVER = 10;
    private static final int IP_PMTUDISC_DO = 2;
    private static final int CONTROL_LENGTH = 24;
    private static final long LOST_AFTER_NS = 20_000_000;

    /** Creates the workload. */
    public UdpCeiling() {}

    @Override
    public void serve(Settings settings, IntConsumer ready) throws IOException {
        Path file = Files.createTempFile("rdma4j-progress", null);
        try (Arena arena = Arena.ofShared();
                UdpSocket socket = new UdpSocket();
                Control control = Control.accept(ready)) {
            socket.option(UdpSocket.SOL_UDP, UdpSocket.UDP_GRO, 1);
            SharedProgress progress = new SharedProgress(file, arena);
            control.out().writeInt(socket.port());
            control.out().writeUTF(file.toString());
            Thread receiver = Thread.currentThread();
            Thread.ofPlatform().daemon().start(() -> {
                try {
                    control.awaitEnd();
                } catch (IOException gone) {
                    // The other side has ended, one way or another.
                }
                receiver.interrupt();
            });
            receive(socket, progress, arena, settings.sizeBytes());
        } finally {
            Files.delete(file);
        }
    }

    private static void receive(UdpSocket socket, SharedProgress progress, Arena arena, int size)
            throws IOException {
        MemorySegment buffer = arena.allocate(1 << 16, 64);
        MemorySegment iovec = arena.allocate(UdpSocket.IOVEC_LENGTH, 8);
        MemorySegment message = arena.allocate(UdpSocket.MESSAGE_LENGTH, 8);
        MemorySegment control = arena.allocate(64, 8);
        MemorySegment target = arena.allocate(size, 4096);
        ByteBuffer bytes = buffer.asByteBuffer();
        CRC32 crc = new CRC32();
        iovec.set(ADDRESS, 0, buffer);
        iovec.set(JAVA_LONG, 8, buffer.byteSize());
        message.set(ADDRESS, 16, iovec);
        message.set(JAVA_LONG, 24, 1);
        message.set(ADDRESS, 32, control);
        long arrived = 0;
        int at = 0;
        while (!Thread.currentThread().isInterrupted()) {
            message.set(JAVA_LONG, 40, control.byteSize());
            long length = socket.recvmsg(message);
            for (int from = 0; from + SEGMENT <= length; from += SEGMENT) {
                int end = from + SEGMENT - CHECKSUM;
                crc.reset();
                crc.update(bytes.limit(end).position(from));
                if ((int) crc.getValue() != buffer.get(JAVA_INT, end)) {
                    throw new IOException("a checksum is wrong");
                }
                MemorySegment.copy(buffer, from + HEADER, target, at, PAYLOAD);
                at = at + 2 * PAYLOAD <= size ? at + PAYLOAD : 0;
                arrived += SEGMENT;
            }
            if (length >= 0) {
                progress.set(arrived);
            }
        }
    }

    @Override
    public Figures drive(Settings settings, int port) throws IOException {
        try (Arena arena = Arena.ofShared();
                UdpSocket socket = new UdpSocket();
                Control control = Control.connect(port)) {
            socket.option(IP_LEVEL, IP_MTU_DISCOVER, IP_PMTUDISC_DO);
            MemorySegment peer = socket.loopback(control.in().readInt());
            SharedProgress progress = new SharedProgress(Path.of(control.in().readUTF()), arena);
            Sender sender = new Sender(socket, peer, arena, settings.sizeBytes());
            Stretch stretch = new Stretch(settings);
            long sent = 0;
            long lost = 0;
            long lastNs = System.nanoTime();
            while (stretch.goesOn(progress.value())) {
                if (sent - lost - progress.value() <= IN_FLIGHT - BURST * SEGMENT) {
                    sent += sender.send();
                    lastNs = System.nanoTime();
                } else if (System.nanoTime() - lastNs > LOST_AFTER_NS) {
                    lost = sent - progress.value();
                }
            }
            return new Figures()
                    .with(Quantity.BYTES_PER_SECOND, stretch.perSecond() * PAYLOAD / SEGMENT)
                    .with(Quantity.LOST, (double) lost / SEGMENT);
        }
    }

    /** What is sent again and again: a burst of segments gathered from headers and payload. */
    private static final class Sender {
        private final UdpSocket socket;
        private final MemorySegment source;
        private final MemorySegment frames;
        private final MemorySegment iovecs;
        private final MemorySegment message;
        private final ByteBuffer sourceBytes;
        private final ByteBuffer frameBytes;
        private final CRC32 crc = new CRC32();
        private long number;
        private int at;

        Sender(UdpSocket socket, MemorySegment peer, Arena arena, int size) {
            this.socket = socket;
            source = arena.allocate(size, 4096);
            frames = arena.allocate((long) BURST * (HEADER + CHECKSUM), 64);
            iovecs = arena.allocate(3 * BURST * UdpSocket.IOVEC_LENGTH, 8);
            message = arena.allocate(UdpSocket.MESSAGE_LENGTH, 8);
            sourceBytes = source.asByteBuffer();
            frameBytes = frames.asByteBuffer();
            MemorySegment control = arena.allocate(CONTROL_LENGTH, 8);
            // struct cmsghdr: its length, level and type, then a 16-bit number.
            control.set(JAVA_LONG, 0, 18);
            control.set(JAVA_INT, 8, UdpSocket.SOL_UDP);
            control.set(JAVA_INT, 12, UdpSocket.UDP_SEGMENT);
            control.set(JAVA_SHORT, 16, (short) SEGMENT);
            message.set(ADDRESS, 0, peer);
            message.set(JAVA_INT, 8, 16);
            message.set(ADDRESS, 16, iovecs);
            message.set(JAVA_LONG, 24, 3 * BURST);
            message.set(ADDRESS, 32, control);
            message.set(JAVA_LONG, 40, CONTROL_LENGTH);
        }

        /** {@return the bytes sent, 0 if there is no room} */
        long send() {
            int frame = HEADER + CHECKSUM;
            for (int i = 0; i < BURST; i++) {
                int header = i * frame;
                frames.set(JAVA_LONG, header, number++);
                crc.reset();
                crc.update(frameBytes.limit(header + HEADER).position(header));
                crc.update(sourceBytes.limit(at + PAYLOAD).position(at));
                frames.set(JAVA_INT, header + HEADER, (int) crc.getValue());
                iovec(3 * i, frames.address() + header, HEADER);
                iovec(3 * i + 1, source.address() + at, PAYLOAD);
                iovec(3 * i + 2, frames.address() + header + HEADER, CHECKSUM);
                at = at + 2 * PAYLOAD <= source.byteSize() ? at + PAYLOAD : 0;
            }
            return Math.max(0, socket.sendmsg(message));
        }

        private void iovec(int index, long address, long length) {
            iovecs.set(JAVA_LONG, index * UdpSocket.IOVEC_LENGTH, address);
            iovecs.set(JAVA_LONG, index * UdpSocket.IOVEC_LENGTH + 8, length);
        }
    }
}
