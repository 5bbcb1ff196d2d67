// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.protocol;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.zip.GZIPInputStream;

/** What two programs of librdmacm's rsocket sent each other, out of a capture of one connection. */
final class CapturedRsocket {
    /** One message: a WRITE with its word. */
    record Sent(boolean isFromClient, long address, int key, byte[] payload, int word) {}

    private static final Path CAPTURES = Path
            .of("../rdma4j-protocol/src/test/resources/captures");
    private static final int ETHERNET = 14;
    private static final int UDP = 17;
    private static final int TCP = 6;
    private static final int CLIENT = 0x0a4d000c;
    private static final int ROCE = 4791;

    final List<Sent> messages = new ArrayList<>();
    private @Nullable ConnectionData client;
    private @Nullable ConnectionData server;
    /** Over iWARP: the WRITE that the next SEND belongs to, of client and server. */
    private final @Nullable Sent[] written = new Sent[2];
    private long privateFrames;

    ConnectionData client() {
        return Objects.requireNonNull(client);
    }

    ConnectionData server() {
        return Objects.requireNonNull(server);
    }

    static CapturedRsocket read(String name) throws IOException {
        CapturedRsocket captured = new CapturedRsocket();
        byte[] bytes;
        try (var in = new GZIPInputStream(Files.newInputStream(CAPTURES.resolve(name)))) {
            bytes = in.readAllBytes();
        }
        ByteBuffer file = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).position(24);
        while (file.remaining() >= 16) {
            file.position(file.position() + 8);
            byte[] frame = new byte[file.getInt()];
            file.getInt();
            file.get(frame);
            captured.onFrame(ByteBuffer.wrap(frame));
        }
        return captured;
    }

    private void onFrame(ByteBuffer frame) throws IOException {
        if (frame.getShort(12) != 0x0800) {
            return;
        }
        boolean isFromClient = frame.getInt(ETHERNET + 12) == CLIENT;
        int transport = ETHERNET + 4 * (frame.get(ETHERNET) & 0xf);
        int end = ETHERNET + (frame.getShort(ETHERNET + 2) & 0xffff);
        switch (frame.get(ETHERNET + 9)) {
            case UDP -> {
                if (frame.getShort(transport + 2) == ROCE) {
                    onPacket(isFromClient, frame.slice(transport + 8, end - transport - 8));
                }
            }
            case TCP -> {
                int header = 4 * (frame.get(transport + 12) >> 4 & 0xf);
                ByteBuffer stream = frame.slice(transport + header, end - transport - header);
                while (stream.hasRemaining()) {
                    onStream(isFromClient, stream);
                }
            }
            default -> {}
        }
    }

    /** IBTA 9.2: BTH, RETH, ImmDt; CM MADs, which begin with the fields of REQ or REP. */
    private void onPacket(boolean isFromClient, ByteBuffer packet) throws IOException {
        switch (packet.get(0) & 0xff) {
            case 100 -> {
                int mad = 20;
                switch (packet.getShort(mad + 16)) {
                    case 0x10 -> client = data(packet, mad + 24 + 140 + 36);
                    case 0x13 -> server = data(packet, mad + 24 + 36);
                    default -> {}
                }
            }
            case 11 -> {
                byte[] payload = new byte[packet.getInt(24)];
                packet.get(32, payload);
                messages.add(new Sent(isFromClient, packet.getLong(12), packet.getInt(20), payload,
                        packet.getInt(28)));
            }
            default -> {}
        }
    }

    private static ConnectionData data(ByteBuffer packet, int at) throws IOException {
        byte[] bytes = new byte[ConnectionData.BYTES];
        packet.get(at, bytes);
        return ConnectionData.decode(bytes);
    }

    /** RFC 5044, RFC 5041, RFC 5040: two frames of set-up, then units without markers. */
    private void onStream(boolean isFromClient, ByteBuffer stream) throws IOException {
        if (privateFrames < 2) {
            privateFrames++;
            ConnectionData data = data(stream, 20 + 4);
            client = isFromClient ? data : client;
            server = isFromClient ? server : data;
            stream.position(stream.limit());
            return;
        }
        int start = stream.position();
        int length = stream.getShort(start) & 0xffff;
        ByteBuffer unit = stream.slice(start + 2, length);
        boolean isTagged = unit.get(0) < 0;
        byte[] payload = new byte[length - (isTagged ? 14 : 18)];
        unit.get(length - payload.length, payload);
        int side = isFromClient ? 0 : 1;
        if (isTagged) {
            written[side] = new Sent(isFromClient, unit.getLong(6), unit.getInt(2), payload, 0);
        } else {
            int word = ByteBuffer.wrap(payload).order(ByteOrder.LITTLE_ENDIAN).getInt();
            Sent before = written[side];
            written[side] = null;
            messages.add(before == null
                    ? new Sent(isFromClient, 0, 0, new byte[0], word)
                    : new Sent(isFromClient, before.address, before.key, before.payload, word));
        }
        stream.position(start + (2 + length + 3 & ~3) + 4);
    }
}
