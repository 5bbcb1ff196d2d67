// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.protocol;

/**
 * The half of a stream that sends: how far the peer's credits and ranges, the send queue and the send buffer go.
 *
 * <p>Numbers of messages have 16 bits and wrap.
 */
final class StreamSender {
    /** Below this many free bytes in the buffer nothing is sent. C: {@code RS_SNDLOWAT}. */
    static final int LOW_WATER = 2048;
    /**
     * The longest first message of a write: a whole one of {@code FileChannel.transferTo}. C: {@code RS_OLAP_START_SIZE}, 2,048, since
     * there a device sends meanwhile.
     */
    private static final int SHORTEST = 16384;
    /** Who waits to write is woken when this part of the send buffer is free, and this part of half the peer's buffer. */
    private static final int ROOMY = 4;
    /** The longest message, if not both sides have larger buffers than librdmacm. C: {@code RS_MAX_TRANSFER}. */
    static final int USUAL = 65536;
    /** The longest message between larger buffers: each costs packets, an acknowledgement and looks of both sides (ADR 73). */
    static final int LONGEST = 262144;
    /** So many messages fit in what the peer offers at a time, and in the send buffer: one is read while the next is sent. */
    private static final int MESSAGES_OF_HALF = 2;
    private static final int MESSAGES_OF_BUFFER = 4;
    private static final int SEQUENCE = 0xffff;
    /**
     * While so many messages have not completed, bytes are gathered for the next one, since each costs packets and an acknowledgement of its own (ADR 71). A
     * request that is written in two pieces waits for nothing.
     */
    static final int FEW = 2;
    /** How often the send buffer has to be full, while the peer has room, until a larger one is worth it. */
    private static final int OFTEN = 8;

    private final StreamSettings own;
    private final int peerCredits;
    /** Half of the peer's buffer, which it offers at a time; it may come to have a larger one. */
    private long peerHalf;
    /** Credits that stay unused, because messages without credit need receives at the peer as well. */
    private final int reserve;
    private final RemoteRange peerMappings;

    /** The number of the next message, and of the first that the peer has no receive for. */
    private int sequence;
    private int limit;
    /** Room in the send queue, for messages. */
    private int messages;
    private int bufferBytes;
    private int bufferOffset;
    private int bufferFree;
    private boolean isLarger;
    /** How many bytes of the buffer before were not acknowledged. */
    private int before;
    private int timesFull;
    /** What is gathered for the next message: where it lies in the buffer, how many bytes that are, and where they go. */
    private int gatheredOffset;
    private int gathered;
    private long gatheredAddress;
    private int gatheredKey;
    /** It does not wait for more. */
    private boolean isUrgent;
    /** The longest next message of one write: it grows, so that the first bytes leave while the next are copied. */
    private int longest = SHORTEST;
    /** The ranges to write to, used in turn, and the one in use. */
    private final long[] addresses = new long[ConnectionData.SLOTS];
    private final int[] keys = new int[ConnectionData.SLOTS];
    private final long[] lengths = new long[ConnectionData.SLOTS];
    private int target;
    /** The slot that the peer writes next. */
    private int slot = 1;
    private long sentBytes;
    private long mappedBytes;

    StreamSender(StreamSettings own, ConnectionData peer) {
        this.own = own;
        peerCredits = peer.credits();
        peerHalf = peer.buffer().length();
        // A RoCE device repeats a message that finds no receive. Few credits cannot be spared: they come one by one.
        boolean canSpare = peerCredits >= StreamSettings.LEAST_DEPTH;
        reserve = own.hasImmediates() || !canSpare ? 0 : StreamSettings.CONTROLS;
        limit = peerCredits & SEQUENCE;
        messages = own.sends() / own.requestsOfMessage() - StreamSettings.CONTROLS;
        bufferBytes = own.sendBytes();
        bufferFree = bufferBytes;
        RemoteRange slots = peer.slots();
        peerMappings = new RemoteRange(slots.address() + RemoteRange.BYTES * slots.length(),
                slots.key(), peer.mappings());
        offer(0, peer.buffer());
    }

    private void offer(int index, RemoteRange range) {
        addresses[index] = range.address();
        keys[index] = range.key();
        lengths[index] = range.length();
    }

    private int window() {
        return limit - sequence & SEQUENCE;
    }

    private boolean hasCredit() {
        return messages > 0 && window() > reserve;
    }

    /** {@return whether there is room for a message more, behind the one that is gathered} */
    private boolean hasFurtherCredit() {
        int taken = gathered > 0 ? 1 : 0;
        return messages > taken && window() > reserve + taken;
    }

    /** {@return how many messages have not completed} */
    private int onTheirWay() {
        return own.sends() / own.requestsOfMessage() - StreamSettings.CONTROLS - messages;
    }

    // ---------------------------------------------------------------- bytes

    void startWrite() {
        longest = SHORTEST;
    }

    /** {@return how many of so many bytes the next message can carry, 0 if nothing can be sent now} */
    int room(int wanted) {
        // What is gathered may leave while the next bytes are copied, which then need a message of their own.
        if (isUrgent || !hasFurtherCredit() || bufferFree < LOW_WATER) {
            return 0;
        }
        long most = Math.min(lengths[target], Math.min(longest, bufferFree));
        // The peer may offer less than before, while bytes are gathered.
        int left = Math.max(longestMessage() - gathered, 0);
        return (int) Math.min(wanted, Math.min(most, left));
    }

    private int longestMessage() {
        return Math.clamp(
                Math.min(peerHalf / MESSAGES_OF_HALF, bufferBytes / MESSAGES_OF_BUFFER), USUAL,
                LONGEST);
    }

    /**
     * {@return whether so much can be sent that it is worth while} With each few bytes that become free a thread would send few bytes. It
     * comes to that whenever the peer has acknowledged and read everything: it offers a half again when it has read as much.
     */
    boolean isRoomy() {
        return room(1) > 0 && bufferFree >= bufferBytes / ROOMY
                && offered() >= peerHalf / ROOMY;
    }

    /** {@return whether so many bytes need none of the buffer} Those that are gathered do, and those for which there is no credit. */
    boolean isInline(int count) {
        return count <= own.inlineBytes() && gathered == 0 && onTheirWay() < FEW && hasCredit();
    }

    int bufferOffset() {
        return bufferOffset;
    }

    /**
     * Sends or gathers bytes, at most as many as there was {@link #room} for.
     *
     * @param isInline not if {@link #isInline} says otherwise
     * @return whether there is a message to send
     */
    boolean write(int count, boolean isInline, Transmission out) {
        if (gathered == 0) {
            gatheredOffset = bufferOffset;
            gatheredAddress = addresses[target];
            gatheredKey = keys[target];
        }
        gathered += count;
        // A part of a large write is worth a message.
        isUrgent |= count >= SHORTEST;
        addresses[target] += count;
        lengths[target] -= count;
        if (lengths[target] == 0) {
            // What comes next goes elsewhere.
            isUrgent = true;
            target = (target + 1) % ConnectionData.SLOTS;
        }
        if (longest < LONGEST) {
            longest *= 2;
        }
        if (!isInline) {
            takeBuffer(count);
        }
        if (isInline || isDue()) {
            send(isInline, out);
            return true;
        }
        return false;
    }

    /** {@return whether bytes are gathered that can leave, and wait for no more} */
    boolean isDue() {
        return gathered > 0 && hasCredit()
                && (isUrgent || onTheirWay() < FEW || room(1) == 0);
    }

    /** {@return whether bytes are gathered} */
    boolean isGathering() {
        return gathered > 0;
    }

    /** {@return whether the next bytes would be the first that are gathered} */
    boolean isAboutToGather() {
        return gathered == 0 && onTheirWay() >= FEW;
    }

    /** Lets bytes that are gathered wait for no more; before they have left, none can be written. */
    void hurry() {
        isUrgent = gathered > 0;
    }

    /** Forgets bytes that are gathered: nothing is sent any more. */
    void drop() {
        gathered = 0;
        isUrgent = false;
    }

    /** Sends the bytes that are gathered. */
    void send(Transmission out) {
        send(false, out);
    }

    private void send(boolean isInline, Transmission out) {
        out.bytes(isInline, gatheredOffset, gathered, gatheredAddress, gatheredKey)
                .from(isLarger);
        sentBytes += gathered;
        drop();
        takeSequenced();
    }

    private void takeBuffer(int count) {
        bufferOffset = (bufferOffset + count) % bufferBytes;
        bufferFree -= count;
        if (bufferFree < LOW_WATER && offered() >= LOW_WATER) {
            timesFull++;
        }
    }

    private void takeSequenced() {
        sequence = sequence + 1 & SEQUENCE;
        messages--;
    }

    /** {@return whether everything that was sent has completed} */
    boolean isIdle() {
        return onTheirWay() == 0 && gathered == 0;
    }

    void onSent(long id) {
        messages++;
        int count = Transmission.bytes(id);
        // Requests complete in their order, so those of the buffer before come first.
        if (before > 0) {
            before -= count;
        } else {
            bufferFree += count;
        }
    }

    // ---------------------------------------------------------------- a larger buffer

    /** {@return whether the buffer was full again and again, while the peer had room} */
    boolean wantsLarger() {
        return timesFull >= OFTEN && !isLarger && gathered == 0;
    }

    /** Sends from another buffer from now on; once. The one before stays until what was sent from it has completed. */
    void enlarge(int bytes) {
        isLarger = true;
        before = bufferBytes - bufferFree;
        bufferBytes = bytes;
        bufferFree = bytes;
        bufferOffset = 0;
    }

    /** {@return whether the next bytes are sent from the larger buffer} */
    boolean isInLarger() {
        return isLarger;
    }

    /** {@return the size of the buffer that bytes are sent from} */
    int bytes() {
        return bufferBytes;
    }

    // ---------------------------------------------------------------- mappings

    /** {@return how many mappings the peer keeps} */
    int peerMappings() {
        return (int) peerMappings.length();
    }

    boolean canSendMapping() {
        return hasFurtherCredit();
    }

    void sendMapping(Mapping mapping, int index, Transmission out) {
        out.mapping(mapping, index, peerMappings.address() + (long) Mapping.BYTES * index,
                peerMappings.key());
        takeSequenced();
    }

    /** {@return how many of so many bytes the next WRITE to a mapping can carry} It needs no credit. */
    int mappedRoom(long wanted) {
        boolean isPossible = messages > 0 && bufferFree >= LOW_WATER && gathered == 0;
        return isPossible ? (int) Math.min(wanted, Math.min(longestMessage(), bufferFree)) : 0;
    }

    void sendMapped(int count, long address, int key, Transmission out) {
        out.mapped(bufferOffset, count, address, key).from(isLarger);
        takeBuffer(count);
        mappedBytes += count;
        messages--;
    }

    // ---------------------------------------------------------------- for who watches

    int unacknowledged() {
        return bufferBytes - bufferFree + before;
    }

    /** {@return how many messages the peer has receives for} */
    int credits() {
        return window();
    }

    /** {@return how much of the peer's buffer was offered and is not used} */
    long offered() {
        long sum = 0;
        for (long length : lengths) {
            sum += length;
        }
        return sum;
    }

    long sentBytes() {
        return sentBytes;
    }

    long mappedBytes() {
        return mappedBytes;
    }

    // ---------------------------------------------------------------- what the peer gives

    /** {@return the slot that the peer writes next} */
    int nextSlot() {
        return slot;
    }

    /**
     * The peer gives credits.
     *
     * @param range what was in {@link #nextSlot}, of length 0 if nothing was
     */
    void onCredits(int data, RemoteRange range) throws RsocketException {
        int given = data & SEQUENCE;
        int window = given - sequence & SEQUENCE;
        if (window > peerCredits || window < window()) {
            throw new RsocketException("it gives credits up to message " + given + " after "
                    + limit + ", while message " + sequence + " is next and it has "
                    + peerCredits + " receives");
        }
        limit = given;
        if (range.length() == 0) {
            return;
        }
        if (lengths[slot] != 0) {
            throw new RsocketException("it gives another half of its buffer before "
                    + lengths[slot] + " bytes of the one before are used");
        }
        peerHalf = range.length();
        offer(slot, range);
        slot = (slot + 1) % ConnectionData.SLOTS;
    }
}
