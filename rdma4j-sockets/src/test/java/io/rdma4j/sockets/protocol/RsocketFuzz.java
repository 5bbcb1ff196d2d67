// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.protocol;

import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;

/**
 * A stream whose peer says what the input says. Whatever comes, either the stream refuses it, or it stays within its own
 * memory and its own queues, and writes nothing but ranges that the peer has given.
 */
public final class RsocketFuzz {
    private static final int BYTES = 8192;
    private static final int SENDS = 16;
    private static final RemoteRange OWN = new RemoteRange(1 << 20, 5, BYTES);
    /** The buffers that the others grow to. */
    private static final int LARGER_BYTES = 4 * BYTES;
    private static final RemoteRange LARGER = new RemoteRange(1 << 24, 7, LARGER_BYTES);
    private static final int ENLARGE = 255;
    private static final int PEER_SLOTS = 3;
    private static final int PEER_MAPPINGS = 2;
    private static final long PEER_TABLE = 1L << 40;

    private final ByteBuffer input;
    private final RsocketStream stream;
    private final List<RemoteRange> given = new ArrayList<>();
    private final Queue<Long> posted = new ArrayDeque<>();
    private final Transmission out = new Transmission();
    private final int requestsOfMessage;
    private long received;
    private long read;
    private boolean hasLargerInput;

    /** What the fuzzer calls. */
    public static void fuzzerTestOneInput(byte[] input) {
        try {
            ConnectionData.decode(input);
        } catch (RsocketException e) {
            // It is no connection data.
        }
        new RsocketFuzz(input).run();
    }

    private RsocketFuzz(byte[] bytes) {
        input = ByteBuffer.wrap(bytes);
        boolean hasImmediates = (u8() & 1) == 0;
        requestsOfMessage = hasImmediates ? 1 : 2;
        RemoteRange buffer = range();
        given.add(buffer);
        stream = new RsocketStream(
                new StreamSettings(SENDS, 16 + u8(), 24, BYTES, BYTES, 2, hasImmediates), OWN,
                new ConnectionData(ByteOrder.LITTLE_ENDIAN, 1 + u16(), PEER_MAPPINGS,
                        new RemoteRange(PEER_TABLE, 6, PEER_SLOTS), buffer));
    }

    private int u8() {
        return input.hasRemaining() ? input.get() & 0xff : 0;
    }

    private int u16() {
        return u8() << 8 | u8();
    }

    private RemoteRange range() {
        return new RemoteRange((long) u8() << 32, u8(), (long) u8() << (u8() & 15));
    }

    private void run() {
        try {
            while (input.hasRemaining()) {
                step();
                transmit();
                check();
            }
        } catch (RsocketException e) {
            // The stream has refused it, and its connection ends.
            stream.onConnectionEnded();
        }
        while (!posted.isEmpty()) {
            stream.onSent(posted.remove());
        }
        check();
    }

    private void step() throws RsocketException {
        int choice = u8();
        if (choice == ENLARGE) {
            enlarge();
            return;
        }
        switch (choice % 12) {
            case 0, 1 -> write(u16());
            case 2, 3 -> read(u16());
            case 4 -> message(Message.of(Message.DATA, u16()));
            case 5 -> credits();
            case 6 -> message(u8() << 24 | u8());
            case 7 -> message(Message.of(Message.CONTROL, u8() & 3));
            case 8 -> stream.onMapping(u8(), index -> new Mapping(u8(), range()));
            case 9 -> end();
            case 10 -> writeMapped(u8(), u16());
            default -> {
                if (!posted.isEmpty()) {
                    stream.onSent(posted.remove());
                }
            }
        }
    }

    private void enlarge() {
        if (!hasLargerInput) {
            hasLargerInput = true;
            stream.enlargeInput(LARGER);
        } else if (!stream.isWritingLarger() && !stream.isGathering()) {
            stream.enlargeOutput(LARGER_BYTES);
        }
    }

    private void message(int word) throws RsocketException {
        if (!Message.isCredits(word) && !Message.isMapping(word)) {
            stream.onMessage(word);
            received += Message.type(word) == Message.DATA ? Message.data(word) : 0;
        }
    }

    private void credits() throws RsocketException {
        RemoteRange range = range();
        stream.onCredits(Message.of(Message.CREDITS, u16()), range);
        given.add(range);
    }

    private void end() {
        switch (u8() % 5) {
            case 0 -> stream.shutdownOutput();
            case 1 -> stream.shutdownInput();
            case 2 -> stream.disconnect();
            case 3 -> stream.probe();
            default -> stream.map(new Mapping(u8(), OWN));
        }
    }

    private void write(int wanted) {
        stream.startWrite();
        int count = stream.writable(wanted);
        if (count > 0 && stream.write(count, stream.isInline(count), out)) {
            post(0);
        }
    }

    private void read(int wanted) {
        int count = Math.min(wanted, stream.readableRun());
        stream.read(count);
        read += count;
    }

    private void writeMapped(long offset, int wanted) {
        stream.flush();
        transmit();
        @Nullable
        Mapping to = stream.mapping(offset);
        int count = to == null ? 0 : stream.mappedWritable(to, offset, wanted);
        if (to != null && count > 0) {
            stream.writeMapped(to, offset, count, out);
            given.add(to.range());
            post(0);
        }
    }

    private void transmit() {
        while (stream.pollTransmit(out)) {
            boolean isOfTable = out.content() == Transmission.Content.RANGE
                    || out.content() == Transmission.Content.MAPPING;
            post(isOfTable ? out.length() : 0);
        }
    }

    /** @param ofTable how many bytes go into a table of the peer, or 0 */
    private void post(int ofTable) {
        posted.add(out.id());
        require(posted.size() <= SENDS / requestsOfMessage, "the send queue is full");
        int room = out.isFromLarger() ? LARGER_BYTES : BYTES;
        require(out.offset() >= 0 && out.offset() < room && out.length() <= room,
                "outside of the send buffer");
        if (out.length() == 0) {
            return;
        }
        if (ofTable > 0) {
            long at = out.remoteAddress() - PEER_TABLE;
            require(at >= 0 && at + ofTable <= PEER_SLOTS * RemoteRange.BYTES
                    + PEER_MAPPINGS * Mapping.BYTES, "outside of the peer's tables");
            return;
        }
        require(given.stream().anyMatch(each -> each.key() == out.remoteKey()
                && out.remoteAddress() >= each.address() && out.remoteAddress() + out
                        .length() <= each.address() + each.length()),
                "where the peer has given nothing");
    }

    private void check() {
        require(stream.readable() >= 0
                && stream.readable() <= BYTES + (hasLargerInput ? LARGER_BYTES : 0),
                "more than the buffers hold");
        int end = stream.isReadingLarger() ? LARGER_BYTES : BYTES;
        require(stream.readOffset() >= 0 && stream.readOffset() + stream.readableRun() <= end,
                "outside of the receive buffer");
        require(read + stream.readable() <= received, "bytes that never came");
        require(!stream.isDisconnected() || (stream.isInputEnded() && stream.isOutputEnded()),
                "goes on after the end");
        require(!stream.isOutputEnded() || stream.writable(1) == 0, "output after the end");
    }

    private static void require(boolean holds, String otherwise) {
        if (!holds) {
            throw new AssertionError(otherwise);
        }
    }
}
