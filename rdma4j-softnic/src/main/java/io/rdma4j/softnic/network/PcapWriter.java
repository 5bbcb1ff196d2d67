package io.rdma4j.softnic.network;

import io.rdma4j.verbs.Gid;

import java.io.Closeable;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;

/**
 * Writes packets as a capture file, each behind the IP and UDP headers it travelled with.
 *
 * <p>Format: libpcap, little endian, microseconds, link type 101 (raw IP). A full disk ends the recording,
 * not the traffic.
 */
final class PcapWriter implements Closeable {
    private static final int MAGIC = 0xa1b2_c3d4;
    private static final int RAW_IP = 101;
    private static final int SNAP_LENGTH = 65535;
    private static final int HEADERS = 16 + 40 + 8;
    private static final int ROCE = io.rdma4j.protocol.work.Path.UDP_PORT;
    private static final long OLD_NS = 100_000_000;

    private static final Map<Path, PcapWriter> OPEN = new HashMap<>();

    private final Path path;
    /** No channel: an interrupted thread would close it by writing, and any thread may be the one that writes. */
    private final FileOutputStream file;
    private final ByteBuffer buffer = ByteBuffer.allocate(1 << 18)
            .order(ByteOrder.LITTLE_ENDIAN);
    private long lastFlushNs = System.nanoTime();
    private boolean hasFailed;
    private int users;

    private PcapWriter(Path path, FileOutputStream file) {
        this.path = path;
        this.file = file;
    }

    /** {@return the writer of a file} Devices of this process that record in the same file share it. */
    static PcapWriter open(Path path) throws IOException {
        synchronized (OPEN) {
            Path key = path.toAbsolutePath().normalize();
            PcapWriter writer = OPEN.get(key);
            if (writer == null) {
                writer = create(key);
                OPEN.put(key, writer);
            }
            writer.users++;
            return writer;
        }
    }

    private static PcapWriter create(Path path) throws IOException {
        // Says what is wrong if it cannot be written.
        Files.write(path, new byte[0]);
        PcapWriter writer = new PcapWriter(path, new FileOutputStream(path.toFile()));
        writer.buffer.putInt(MAGIC).putShort((short) 2).putShort((short) 4).putInt(0).putInt(0)
                .putInt(SNAP_LENGTH).putInt(RAW_IP);
        writer.flush();
        return writer;
    }

    /**
     * Records a packet.
     *
     * @param trafficClass of the IP header; what a socket does not tell of received packets is taken as usual
     * @param identification the IPv4 Identification
     * @param datagram the UDP payload, from position to limit
     */
    synchronized void write(Gid source, Gid destination, int trafficClass, int hops,
            int sourcePort, int identification, ByteBuffer datagram) {
        int length = datagram.remaining();
        if (buffer.remaining() < HEADERS + length) {
            flush();
        }
        int ipHeader = source.isIpv4() ? 20 : 40;
        int total = ipHeader + 8 + length;
        Instant now = Instant.now();
        buffer.putInt((int) now.getEpochSecond()).putInt(now.getNano() / 1000).putInt(total)
                .putInt(total);
        buffer.order(ByteOrder.BIG_ENDIAN);
        int ip = buffer.position();
        if (source.isIpv4()) {
            buffer.putShort((short) (0x4500 | (trafficClass & 0xff))).putShort((short) total)
                    .putShort((short) identification).putShort((short) 0x4000)
                    .putShort((short) (hops << 8 | 17)).putShort((short) 0)
                    .putInt((int) source.low())
                    .putInt((int) destination.low());
            buffer.putShort(ip + 10, (short) ~sum(ip, 20, 0));
        } else {
            buffer.putInt(0x6000_0000 | (trafficClass & 0xff) << 20)
                    .putShort((short) (8 + length)).putShort((short) (17 << 8 | hops))
                    .putLong(source.high()).putLong(source.low()).putLong(destination.high())
                    .putLong(destination.low());
        }
        int udp = buffer.position();
        buffer.putShort((short) sourcePort).putShort((short) ROCE).putShort((short) (8 + length))
                .putShort((short) 0).put(datagram);
        if (!source.isIpv4()) {
            // IPv6 has no header checksum, so its UDP must have one. RFC 8200 §8.1.
            int checksum = ~sum(udp, 8 + length, sum(ip + 8, 32, 17 + 8 + length)) & 0xffff;
            buffer.putShort(udp + 6, (short) (checksum == 0 ? 0xffff : checksum));
        }
        buffer.order(ByteOrder.LITTLE_ENDIAN);
    }

    /** {@return the one's complement sum of bytes and a start value} RFC 1071. */
    private int sum(int from, int length, int start) {
        int sum = start;
        for (int i = 0; i < length; i++) {
            sum += (buffer.get(from + i) & 0xff) << ((i & 1) == 0 ? 8 : 0);
        }
        while (sum > 0xffff) {
            sum = (sum & 0xffff) + (sum >>> 16);
        }
        return sum;
    }

    /** Writes what was recorded a while ago, so that a reader of the file need not wait for more. */
    synchronized void flushIfOld() {
        if (System.nanoTime() - lastFlushNs > OLD_NS) {
            flush();
        }
    }

    private void flush() {
        buffer.flip();
        try {
            while (buffer.hasRemaining() && !hasFailed) {
                file.write(buffer.array(), buffer.position(), buffer.remaining());
                buffer.position(buffer.limit());
            }
        } catch (IOException e) {
            hasFailed = true;
            System.getLogger(PcapWriter.class.getName()).log(System.Logger.Level.WARNING,
                    "the recording of packets has ended: {0}", e.getMessage());
        }
        buffer.clear();
        lastFlushNs = System.nanoTime();
    }

    /** The last user closes the file. */
    @Override
    public void close() throws IOException {
        synchronized (OPEN) {
            if (--users > 0) {
                return;
            }
            OPEN.remove(path);
        }
        synchronized (this) {
            flush();
            file.close();
        }
    }
}
