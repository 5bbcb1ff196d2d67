// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.protocol;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.Random;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two streams and a lossless, ordered pipe between them. Memory, receives and completions are as those of a device; when a
 * side looks at its completions is up to the caller.
 */
final class SimulatedPair {
    final Side first;
    final Side second;

    /** What is on its way: a WRITE, and the word that comes with it or after it. */
    private record Flight(byte[] payload, long address, int key, boolean hasWord, int word,
            long id) {}

    SimulatedPair(StreamSettings ofFirst, StreamSettings ofSecond) {
        first = new Side(ofFirst, 0x10_0000, 7);
        second = new Side(ofSecond, 0x7f00_0000_0000L, 9);
        first.connect(second);
        second.connect(first);
    }

    /** One end with its memory. */
    static final class Side {
        private static final int SLOTS = ConnectionData.SLOTS * RemoteRange.BYTES;
        final StreamSettings settings;
        private final long address;
        private final int key;
        /** The receive buffer, the slots and the mappings. */
        private final byte[] memory;
        private byte[] sendBuffer;
        /** What takes the place of the receive buffer, if it grows. */
        private byte[] larger = {};
        /** What was sent from the buffer before the present one, and is on its way. */
        private byte[] sendBufferBefore = {};
        /** What the peer may write at any time. */
        final byte[] exposed = new byte[4096];
        private final Queue<Flight> sent = new ArrayDeque<>();
        private final Queue<Integer> arrived = new ArrayDeque<>();
        private final Queue<Long> completed = new ArrayDeque<>();
        private final Transmission out = new Transmission();
        private int receives;
        // Set by connect, with which the pair begins.
        @SuppressWarnings("NullAway.Init")
        RsocketStream stream;
        @SuppressWarnings("NullAway.Init")
        private Side peer;
        /** What happens between the question how much can be written, and the write. */
        Runnable whileCopying = () -> {};
        long bytesWritten;
        int messagesSent;
        long bytesRead;
        int leastReceives = Integer.MAX_VALUE;

        Side(StreamSettings settings, long address, int key) {
            this.settings = settings;
            this.address = address;
            this.key = key;
            memory = new byte[settings.receiveBytes() + SLOTS
                    + settings.mappings() * Mapping.BYTES];
            sendBuffer = new byte[settings.sendBytes()];
            receives = settings.receives();
        }

        private RemoteRange buffer() {
            return new RemoteRange(address, key, settings.receiveBytes());
        }

        private RemoteRange slots() {
            return new RemoteRange(address + settings.receiveBytes(), key, 0);
        }

        private void connect(Side to) {
            peer = to;
            ConnectionData data = RsocketStream.connectionData(to.settings, to.slots(),
                    to.buffer());
            try {
                stream = new RsocketStream(settings, buffer(),
                        ConnectionData.decode(data.encode()));
            } catch (RsocketException e) {
                throw new AssertionError(e);
            }
        }

        // ------------------------------------------------------------ the application

        /** The byte at a place of the stream. */
        private byte at(long place) {
            return (byte) (place * 31 + (place >>> 8) + key);
        }

        /** Writes what can be written of so many bytes. {@return how many that was} */
        int write(int wanted) {
            stream.startWrite();
            int written = 0;
            while (written < wanted) {
                int count = stream.writable(wanted - written);
                if (count == 0) {
                    break;
                }
                byte[] bytes = new byte[count];
                for (int i = 0; i < count; i++) {
                    bytes[i] = at(bytesWritten++);
                }
                boolean isInline = stream.isInline(count);
                int offset = stream.writeOffset();
                whileCopying.run();
                if (stream.isOutputEnded()) {
                    bytesWritten -= count;
                    break;
                }
                isInline &= stream.isInline(count);
                if (!isInline) {
                    putIntoRing(offset, bytes);
                }
                if (stream.write(count, isInline, out)) {
                    post(bytes);
                }
                written += count;
            }
            return written;
        }

        private void putIntoRing(int offset, byte[] bytes) {
            int run = Math.min(bytes.length, sendBuffer.length - offset);
            System.arraycopy(bytes, 0, sendBuffer, offset, run);
            System.arraycopy(bytes, run, sendBuffer, 0, bytes.length - run);
        }

        /** Reads and checks at most so many bytes. {@return how many there were} */
        int read(int wanted) {
            int taken = 0;
            while (taken < wanted && stream.readable() > 0) {
                int run = Math.min(wanted - taken, stream.readableRun());
                for (int i = 0; i < run; i++) {
                    byte[] from = stream.isReadingLarger() ? larger : memory;
                    if (from[stream.readOffset() + i] != peer.at(bytesRead)) {
                        throw new AssertionError("byte " + bytesRead + " is another one");
                    }
                    bytesRead++;
                }
                stream.read(run);
                taken += run;
            }
            transmit();
            return taken;
        }

        /** Gets larger buffers, once each. */
        void enlargeInput(int bytes) {
            if (larger.length == 0) {
                larger = new byte[bytes];
                stream.enlargeInput(new RemoteRange(largerAddress(), key + 1, bytes));
                transmit();
            }
        }

        private long largerAddress() {
            return address + (1L << 32);
        }

        void enlargeOutput(int bytes) {
            if (sendBufferBefore.length == 0 && !stream.isGathering()) {
                sendBufferBefore = sendBuffer;
                sendBuffer = new byte[bytes];
                stream.enlargeOutput(bytes);
            }
        }

        /** Exposes {@link #exposed} to the peer. */
        boolean map(long offset) {
            boolean isMapped = stream
                    .map(new Mapping(offset, new RemoteRange(1, key, exposed.length))) >= 0;
            transmit();
            return isMapped;
        }

        /** Writes to the peer's mapping. */
        boolean writeMapped(long offset, byte[] bytes) {
            stream.flush();
            transmit();
            Mapping to = stream.mapping(offset);
            if (to == null || stream.mappedWritable(to, offset, bytes.length) < bytes.length) {
                return false;
            }
            putIntoRing(stream.writeOffset(), bytes);
            stream.writeMapped(to, offset, bytes.length, out);
            post(bytes);
            return true;
        }

        // ------------------------------------------------------------ the device

        void transmit() {
            while (stream.pollTransmit(out)) {
                post(new byte[0]);
            }
        }

        private void post(byte[] inline) {
            messagesSent += out.hasWord() && Message.type(out.word()) == Message.DATA ? 1 : 0;
            byte[] payload = switch (out.content()) {
                case INLINE -> inline;
                case BUFFER -> ofRing();
                case RANGE -> {
                    byte[] bytes = new byte[RemoteRange.BYTES];
                    put(ByteBuffer.wrap(bytes), out.range());
                    yield bytes;
                }
                case MAPPING -> {
                    byte[] bytes = new byte[Mapping.BYTES];
                    put(ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder())
                            .putLong(out.mapping().offset()), out.mapping().range());
                    yield bytes;
                }
                case NOTHING -> new byte[0];
            };
            sent.add(new Flight(payload, out.remoteAddress(), out.remoteKey(), out.hasWord(),
                    out.word(), out.id()));
            assertThat(requestsInUse()).isLessThanOrEqualTo(settings.sends());
            assertThat(stream.figures().sendCredits()).as("credits")
                    .isLessThanOrEqualTo(peer.settings.credits());
        }

        /** {@return how full the send queue is} A request leaves it when its completion is seen. */
        private int requestsInUse() {
            int requests = completed.size() * settings.requestsOfMessage();
            for (Flight each : sent) {
                boolean isTwo = each.hasWord && each.payload.length > 0;
                requests += isTwo ? settings.requestsOfMessage() : 1;
            }
            return requests;
        }

        private byte[] ofRing() {
            byte[] bytes = new byte[out.length()];
            assertThat(out.isFromLarger()).isEqualTo(sendBufferBefore.length > 0);
            int run = Math.min(bytes.length, sendBuffer.length - out.offset());
            System.arraycopy(sendBuffer, out.offset(), bytes, 0, run);
            System.arraycopy(sendBuffer, 0, bytes, run, bytes.length - run);
            return bytes;
        }

        private static void put(ByteBuffer to, RemoteRange range) {
            to.order(ByteOrder.nativeOrder()).putLong(range.address()).putInt(range.key())
                    .putInt((int) range.length());
        }

        /** Delivers the oldest thing that is on its way. {@return false if there is none, or no receive for it} */
        boolean deliver() {
            Flight next = sent.peek();
            if (next == null) {
                return false;
            }
            if (next.hasWord && peer.receives == 0) {
                // A RoCE device repeats it later; an iWARP device would end the connection.
                assertThat(settings.hasImmediates()).as("a message found no receive").isTrue();
                return false;
            }
            sent.remove();
            peer.onArrival(next);
            completed.add(next.id);
            return true;
        }

        private void onArrival(Flight flight) {
            if (flight.payload.length > 0) {
                boolean isLarger = flight.address >= largerAddress();
                assertThat(flight.key).isEqualTo(isLarger ? key + 1 : key);
                boolean isExposed = flight.address < address;
                byte[] to = isLarger ? larger : isExposed ? exposed : memory;
                long start = isLarger ? largerAddress() : isExposed ? 1 : address;
                System.arraycopy(flight.payload, 0, to, (int) (flight.address - start),
                        flight.payload.length);
            }
            if (flight.hasWord) {
                receives--;
                leastReceives = Math.min(leastReceives, receives);
                arrived.add(flight.word);
            }
        }

        /** Looks at completions, as many as there are, and posts what follows. */
        void process() throws RsocketException {
            while (!completed.isEmpty()) {
                stream.onSent(completed.remove());
            }
            while (!arrived.isEmpty()) {
                receives++;
                onWord(arrived.remove());
            }
            transmit();
        }

        private void onWord(int word) throws RsocketException {
            ByteBuffer in = ByteBuffer.wrap(memory).order(ByteOrder.nativeOrder());
            int slots = settings.receiveBytes();
            if (Message.isCredits(word)) {
                in.position(slots + RemoteRange.BYTES * stream.nextSlot());
                RemoteRange range = range(in);
                in.putInt(in.position() - Integer.BYTES, 0);
                stream.onCredits(word, range);
            } else if (Message.isMapping(word)) {
                stream.onMapping(Message.index(word), index -> {
                    in.position(slots + SLOTS + Mapping.BYTES * index);
                    return new Mapping(in.getLong(), range(in));
                });
            } else {
                stream.onMessage(word);
            }
        }

        private static RemoteRange range(ByteBuffer in) {
            return new RemoteRange(in.getLong(), in.getInt(), in.getInt() & 0xffff_ffffL);
        }
    }

    /** Runs until nothing moves any more; each side reads what comes if told so. */
    void settle(boolean isReading) throws RsocketException {
        boolean moves = true;
        while (moves) {
            moves = false;
            for (Side side : new Side[]{first, second}) {
                while (side.deliver()) {
                    moves = true;
                }
            }
            for (Side side : new Side[]{first, second}) {
                side.process();
                moves |= isReading && side.read(Integer.MAX_VALUE) > 0;
            }
        }
    }

    /** {@return sizes of one side by chance, the smallest among them} */
    static StreamSettings settings(Random random, boolean hasImmediates) {
        int[] depths = {16, 17, 40, 384};
        int[] bytes = {4096, 4098, 10_000, 65536, 1 << 17};
        return new StreamSettings(depths[random.nextInt(depths.length)],
                depths[random.nextInt(depths.length)], random.nextBoolean() ? 24 : 64,
                bytes[random.nextInt(bytes.length)], bytes[random.nextInt(bytes.length)],
                random.nextInt(3), hasImmediates);
    }
}
