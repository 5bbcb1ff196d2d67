// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network;

import io.rdma4j.spi.SocketErrors;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.RdmaException;

import java.io.Closeable;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;

/**
 * Writes packets to a capture file: datagrams with the IP and UDP headers that they travelled with, and the bytes of streams
 * as TCP segments, one or more for each write and read.
 *
 * <p>Format: libpcap, little endian, microseconds, link type 101 (raw IP). A full disk ends the recording,
 * not the traffic.
 */
public final class PcapWriter implements Closeable {
    private static final int MAGIC = 0xa1b2_c3d4;
    private static final int RAW_IP = 101;
    private static final int SNAP_LENGTH = 65535;
    /** At most: of the record, IPv6, and TCP. */
    private static final int HEADERS = 16 + 40 + 20;
    private static final int UDP = 17;
    private static final int UDP_HEADER = 8;
    private static final int UDP_CHECKSUM = 6;
    private static final int TCP = 6;
    private static final int TCP_HEADER = 20;
    private static final int TCP_CHECKSUM = 16;
    private static final int TCP_WINDOW = 0xffff;
    /** The maximum payload of a segment, so that it fits an IP packet. */
    private static final int MAX_SEGMENT = 65_000;
    /** Control bits of a segment. RFC 9293 §3.1. */
    public static final int FIN = 1;
    public static final int SYN = 2;
    public static final int RST = 4;
    public static final int ACK = 16;
    private static final int ROCE = io.rdma4j.protocol.roce.wire.Path.UDP_PORT;
    private static final long OLD_NS = 100_000_000;

    private static final Map<Path, PcapWriter> OPEN = new HashMap<>();

    private final Path path;
    /** Not a channel, because an interrupted thread would close it by writing, and any thread may write. */
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

    /**
     * {@return the writer of a file} All devices of this process that record in the same file share it.
     *
     * @param path the file, which is overwritten
     * @throws RdmaException ENOENT if its folder is missing, EACCES if the file may not be written, EIO if it
     *         cannot be for another reason
     */
    public static PcapWriter open(Path path) throws RdmaException {
        synchronized (OPEN) {
            Path key = path.toAbsolutePath().normalize();
            PcapWriter writer = OPEN.get(key);
            if (writer == null) {
                try {
                    writer = create(key);
                } catch (IOException e) {
                    throw RdmaException.ofSystem(number(e), "open device",
                            "packets cannot be recorded in " + path + ": " + reason(path, e), e);
                }
                OPEN.put(key, writer);
            }
            writer.users++;
            return writer;
        }
    }

    private static int number(IOException e) {
        return switch (e) {
            case NoSuchFileException missing -> Errno.ENOENT.number();
            case AccessDeniedException denied -> Errno.EACCES.number();
            case FileSystemException other when other.getReason() != null ->
                SocketErrors.numberOf(other.getReason());
            default -> SocketErrors.numberOf(e);
        };
    }

    /** The reason of a failure, without the file name that the exception repeats. */
    private static String reason(Path file, IOException e) {
        return switch (e) {
            case NoSuchFileException missing ->
                "there is no folder " + file.toAbsolutePath().normalize().getParent();
            case AccessDeniedException denied -> "permission denied";
            case FileSystemException other when other.getReason() != null -> other.getReason();
            default -> String.valueOf(e.getMessage());
        };
    }

    private static PcapWriter create(Path path) throws IOException {
        // Throws an exception with the reason if the file cannot be written.
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
     * @param trafficClass of the IP header; for received packets, other header fields that a socket does not report have
     *         their usual values
     * @param identification the IPv4 Identification
     * @param datagram the UDP payload, from position to limit
     */
    synchronized void write(Gid source, Gid destination, int trafficClass, int hops,
            int sourcePort, int identification, ByteBuffer datagram) {
        int length = UDP_HEADER + datagram.remaining();
        begin(source, destination, trafficClass, hops, identification, UDP, length);
        int udp = buffer.position();
        buffer.putShort((short) sourcePort).putShort((short) ROCE).putShort((short) length)
                .putShort((short) 0).put(datagram);
        if (!source.isIpv4()) {
            // IPv6 has no header checksum, so its UDP must have one. RFC 8200 §8.1.
            int checksum = checksum(false, UDP, udp, length);
            buffer.putShort(udp + UDP_CHECKSUM, (short) (checksum == 0 ? 0xffff : checksum));
        }
        buffer.order(ByteOrder.LITTLE_ENDIAN);
    }

    /**
     * Records bytes of a stream, as one or more segments.
     *
     * @param sequence the number of the first byte
     * @param acknowledged the number of the next byte expected from the other side
     * @param flags control bits
     * @param bytes the data, from position to limit; empty with SYN, FIN and RST
     */
    public synchronized void write(InetSocketAddress source, InetSocketAddress destination,
            int sequence, int acknowledged, int flags, ByteBuffer bytes) {
        Gid from = Gid.of(source.getAddress());
        Gid to = Gid.of(destination.getAddress());
        int at = bytes.position();
        int next = sequence;
        do {
            int length = Math.min(bytes.limit() - at, MAX_SEGMENT);
            begin(from, to, 0, io.rdma4j.protocol.roce.wire.Path.DEFAULT_HOPS, 0, TCP,
                    TCP_HEADER + length);
            int tcp = buffer.position();
            buffer.putShort((short) source.getPort()).putShort((short) destination.getPort())
                    .putInt(next).putInt(acknowledged)
                    .putShort((short) ((TCP_HEADER / Integer.BYTES) << 12 | flags))
                    .putShort((short) TCP_WINDOW).putInt(0).put(bytes.duplicate()
                            .limit(at + length).position(at));
            buffer.putShort(tcp + TCP_CHECKSUM,
                    (short) checksum(from.isIpv4(), TCP, tcp, TCP_HEADER + length));
            buffer.order(ByteOrder.LITTLE_ENDIAN);
            at += length;
            next += length;
        } while (at < bytes.limit());
    }

    /** Writes everything before the header of UDP or TCP; sets the buffer to network byte order. */
    private void begin(Gid source, Gid destination, int trafficClass, int hops, int identification,
            int protocol, int length) {
        if (buffer.remaining() < HEADERS + length) {
            flush();
        }
        int total = (source.isIpv4() ? 20 : 40) + length;
        Instant now = Instant.now();
        buffer.putInt((int) now.getEpochSecond()).putInt(now.getNano() / 1000).putInt(total)
                .putInt(total);
        buffer.order(ByteOrder.BIG_ENDIAN);
        int ip = buffer.position();
        if (source.isIpv4()) {
            buffer.putShort((short) (0x4500 | (trafficClass & 0xff))).putShort((short) total)
                    .putShort((short) identification).putShort((short) 0x4000)
                    .putShort((short) (hops << 8 | protocol)).putShort((short) 0)
                    .putInt((int) source.low())
                    .putInt((int) destination.low());
            buffer.putShort(ip + 10, (short) ~sum(ip, 20, 0));
        } else {
            buffer.putInt(0x6000_0000 | (trafficClass & 0xff) << 20)
                    .putShort((short) length).putShort((short) (protocol << 8 | hops))
                    .putLong(source.high()).putLong(source.low()).putLong(destination.high())
                    .putLong(destination.low());
        }
    }

    /** {@return the checksum of a header of UDP or TCP and its payload} RFC 9293 §3.1. */
    private int checksum(boolean isIpv4, int protocol, int from, int length) {
        int addresses = isIpv4 ? 8 : 32;
        return ~sum(from, length, sum(from - addresses, addresses, protocol + length)) & 0xffff;
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

    /** Writes records of a while ago to the file, so that a reader need not wait for more. */
    public synchronized void flushIfOld() {
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
    public void close() {
        synchronized (OPEN) {
            if (--users > 0) {
                return;
            }
            OPEN.remove(path);
        }
        synchronized (this) {
            flush();
            try {
                file.close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
