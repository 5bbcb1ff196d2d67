// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.protocol;

/**
 * The half of a stream that receives: which bytes of the buffer are the application's, which the peer's, and when to give
 * the peer more.
 *
 * <p>The buffer is a ring of two halves, which the peer fills in turn. A larger one may take its place: what the peer was given of the
 * one before is filled and read first.
 */
final class StreamReceiver {
    private static final int SEQUENCE = 0xffff;
    private static final int FIRST_MESSAGES = 8;
    /** Room for as many is kept when all are read; for more it is made again by the next burst. */
    private static final int KEPT_MESSAGES = 64;
    /** How often both sides have to stand still until a larger buffer is worth it. */
    private static final int OFTEN = 8;

    private final StreamSettings own;
    private final RemoteRange peerSlots;
    /** The one whose halves are given, and the size of one. */
    private RemoteRange buffer;
    private int half;
    private boolean isLarger;
    /** How many bytes that were not read lie in the buffer before, or are to come there. */
    private int before;

    /** Lengths of the messages that are not read completely; there is room for as many as there have been at a time; for very many, until all are read. */
    private int[] messages = new int[FIRST_MESSAGES];
    private int first;
    private int count;
    /** Bytes of the first that are left, and of all. */
    private int firstLeft;
    private int readable;
    /** Of the first byte that was not read, in the buffer that it lies in. */
    private int offset;

    /** How many messages were read, and how many must have been for more credits. */
    private int sequence;
    private int creditsAt;
    /** Bytes that are neither the peer's nor readable, and where the half begins that is given next. */
    private int free;
    private int freeOffset;
    private int peerSlot;
    /** What the peer may still write: of the half that it fills, and the one behind it. */
    private int fillable;
    private int fillableNext;
    /** The last bytes have filled a half. */
    private boolean isHalfFull;
    /** How many messages have come, and behind how many the application has found nothing, since that was behind a full half. */
    private int came;
    private int timesEmpty;
    private boolean hasComeMore;
    private int standstills;
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
        return before > 0
                ? Math.min(Math.min(readable, before), own.receiveBytes() - offset)
                : Math.min(readable, (int) buffer.length() - offset);
    }

    /** {@return whether the first byte that was not read lies in the larger buffer} */
    boolean isInLarger() {
        return isLarger && before == 0;
    }

    void onData(int length) throws RsocketException {
        if (fillable == 0 || length > fillable) {
            throw new RsocketException(
                    "it has written " + length + " bytes where it was given " + fillable);
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
        came++;
        hasComeMore = true;
        fillable -= length;
        isHalfFull = fillable == 0;
        if (isHalfFull) {
            fillable = fillableNext;
            fillableNext = 0;
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
        int ofBefore = Math.min(bytes, before);
        if (ofBefore > 0) {
            before -= ofBefore;
            offset = before == 0 ? 0 : (offset + ofBefore) % own.receiveBytes();
        }
        if (bytes > ofBefore) {
            int ofPresent = bytes - ofBefore;
            free += ofPresent;
            offset = (offset + ofPresent) % (int) buffer.length();
        }
    }

    private void passRead() {
        while (count > 0 && firstLeft == 0) {
            first = (first + 1) % messages.length;
            count--;
            sequence = sequence + 1 & SEQUENCE;
            firstLeft = count == 0 ? 0 : messages[first];
        }
        if (count == 0 && messages.length > KEPT_MESSAGES) {
            messages = new int[FIRST_MESSAGES];
            first = 0;
        }
    }

    // ---------------------------------------------------------------- a larger buffer

    /**
     * The application has read everything and wants more. If a half is full, the peer has most likely waited for the room that it was given
     * then, and the application waits for what comes there. Not if it has found nothing after nearly each message: then these are requests,
     * and wait for no room.
     */
    void onEmpty() {
        if (!hasComeMore) {
            return;
        }
        hasComeMore = false;
        if (!isHalfFull) {
            timesEmpty++;
            return;
        }
        standstills += 2 * timesEmpty < came ? 1 : 0;
        came = 0;
        timesEmpty = 0;
    }

    /** {@return whether one side has waited for the other again and again} */
    boolean wantsLarger() {
        return standstills >= OFTEN && !isLarger;
    }

    /** Gives the peer halves of another buffer from now on; once. */
    void enlarge(RemoteRange larger) {
        isLarger = true;
        before = readable + (int) room();
        buffer = larger;
        half = (int) larger.length() / 2;
        free = 2 * half;
        freeOffset = 0;
        if (before == 0) {
            offset = 0;
        }
    }

    // ---------------------------------------------------------------- credits

    boolean owesCredits() {
        return owesRange() || (short) (sequence - creditsAt) >= 0;
    }

    /** {@return whether a half is free, and the peer has room to note it} */
    private boolean owesRange() {
        return free >= half && fillableNext == 0;
    }

    void giveCredits(Transmission out) {
        creditsAt = sequence + own.credits() / 2 & SEQUENCE;
        int upTo = sequence + own.credits() & SEQUENCE;
        if (!owesRange()) {
            out.message(Message.of(Message.CREDITS, upTo), false);
            return;
        }
        out.range(new RemoteRange(buffer.address() + freeOffset, buffer.key(), half), upTo,
                peerSlots.address() + (long) RemoteRange.BYTES * peerSlot, peerSlots.key());
        free -= half;
        freeOffset = freeOffset == 0 ? half : 0;
        peerSlot = (int) ((peerSlot + 1) % peerSlots.length());
        if (fillable == 0) {
            fillable = half;
        } else {
            fillableNext = half;
        }
    }

    // ---------------------------------------------------------------- for who watches

    /** {@return how many messages the peer may still send} */
    int creditsLeft() {
        int upTo = creditsAt - own.credits() / 2 + own.credits();
        return upTo - (sequence + count) & SEQUENCE;
    }

    /** {@return how much of the buffer the peer may still fill} */
    long room() {
        return (long) fillable + fillableNext;
    }

    /** {@return the size of the buffer whose halves are given} */
    int bytes() {
        return (int) buffer.length();
    }

    long receivedBytes() {
        return receivedBytes;
    }
}
