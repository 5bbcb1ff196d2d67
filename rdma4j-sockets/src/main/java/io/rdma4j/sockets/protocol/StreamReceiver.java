// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.protocol;

/**
 * The half of a stream that receives: which bytes of the buffer are the application's, which the peer's, and when to give
 * the peer more.
 *
 * <p>The buffer is a ring of two halves, which the peer fills in turn.
 */
final class StreamReceiver {
    private static final int SEQUENCE = 0xffff;
    private static final int FIRST_MESSAGES = 8;

    private final StreamSettings own;
    private final RemoteRange buffer;
    private final RemoteRange peerSlots;
    private final int half;

    /** Lengths of the messages that are not read completely; there is room for as many as there have been at a time. */
    private int[] messages = new int[FIRST_MESSAGES];
    private int first;
    private int count;
    /** Bytes of the first that are left, and of all. */
    private int firstLeft;
    private int readable;
    private int offset;

    /** How many messages were read, and how many must have been for more credits. */
    private int sequence;
    private int creditsAt;
    /** Bytes that are neither the peer's nor readable, and where the half begins that is given next. */
    private int free;
    private int freeOffset;
    private int peerSlot;
    /** What the peer may still write: of the half it fills, and how many halves in all. */
    private int fillable;
    private int halves = 1;
    private long receivedBytes;

    /** @param buffer the whole buffer, for the peer */
    StreamReceiver(StreamSettings own, RemoteRange buffer, ConnectionData peer) {
        this.own = own;
        this.buffer = buffer;
        peerSlots = peer.slots();
        half = own.receiveBytes() / 2;
        // The first slot stands for the half that the connection data gives.
        peerSlot = (int) (1 % peerSlots.length());
        free = half;
        freeOffset = half;
        fillable = half;
        creditsAt = own.credits() / 2;
    }

    // ---------------------------------------------------------------- bytes

    int readable() {
        return readable;
    }

    int offset() {
        return offset;
    }

    /** {@return how many readable bytes lie together from {@link #offset} on} */
    int run() {
        return Math.min(readable, own.receiveBytes() - offset);
    }

    void onData(int length) throws RsocketException {
        if (halves == 0 || length > fillable) {
            throw new RsocketException("it has written " + length + " bytes where it was given "
                    + (halves == 0 ? 0 : fillable));
        }
        if (count == own.credits()) {
            throw new RsocketException("it has sent more messages than the " + own.credits()
                    + " that it had credits for");
        }
        if (count == messages.length) {
            growMessages();
        }
        messages[(first + count++) % messages.length] = length;
        if (count == 1) {
            firstLeft = length;
        }
        readable += length;
        receivedBytes += length;
        fillable -= length;
        if (fillable == 0) {
            halves--;
            fillable = half;
        }
        passRead();
    }

    private void growMessages() {
        int[] larger = new int[Math.min(2 * messages.length, own.credits())];
        for (int i = 0; i < count; i++) {
            larger[i] = messages[(first + i) % messages.length];
        }
        messages = larger;
        first = 0;
    }

    /** A message without bytes of the stream takes a credit as well. */
    void onMapping() {
        sequence = sequence + 1 & SEQUENCE;
    }

    /** The application has read bytes. */
    void read(int bytes) {
        int left = bytes;
        while (left > 0) {
            int taken = Math.min(left, firstLeft);
            firstLeft -= taken;
            left -= taken;
            passRead();
        }
        readable -= bytes;
        free += bytes;
        offset = (offset + bytes) % own.receiveBytes();
    }

    private void passRead() {
        while (count > 0 && firstLeft == 0) {
            first = (first + 1) % messages.length;
            count--;
            sequence = sequence + 1 & SEQUENCE;
            firstLeft = count == 0 ? 0 : messages[first];
        }
    }

    // ---------------------------------------------------------------- credits

    boolean owesCredits() {
        return free >= half || (short) (sequence - creditsAt) >= 0;
    }

    void giveCredits(Transmission out) {
        creditsAt = sequence + own.credits() / 2 & SEQUENCE;
        int upTo = sequence + own.credits() & SEQUENCE;
        if (free < half) {
            out.message(Message.of(Message.CREDITS, upTo), false);
            return;
        }
        out.range(new RemoteRange(buffer.address() + freeOffset, buffer.key(), half), upTo,
                peerSlots.address() + (long) RemoteRange.BYTES * peerSlot, peerSlots.key());
        free -= half;
        freeOffset = freeOffset == 0 ? half : 0;
        peerSlot = (int) ((peerSlot + 1) % peerSlots.length());
        halves++;
    }

    // ---------------------------------------------------------------- for who watches

    /** {@return how many messages the peer may still send} */
    int creditsLeft() {
        int upTo = creditsAt - own.credits() / 2 + own.credits();
        return upTo - (sequence + count) & SEQUENCE;
    }

    /** {@return how much of the buffer the peer may still fill} */
    long room() {
        return halves == 0 ? 0 : fillable + (halves - 1L) * half;
    }

    long receivedBytes() {
        return receivedBytes;
    }
}
