// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.protocol;

import org.jspecify.annotations.Nullable;

import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.BitSet;
import java.util.Queue;
import java.util.function.IntFunction;

/**
 * One end of a stream, as soon as both sides have each other's {@link ConnectionData}.
 *
 * <p>The caller posts what {@link #write}, {@link #writeMapped} and {@link #pollTransmit} fill in, in that order, and calls {@link #pollTransmit} again
 * after {@link #onMessage}, {@link #onSent}, {@link #read}, {@link #flush}, {@link #shutdownOutput}, {@link #shutdownInput}, {@link #disconnect},
 * {@link #map} and {@link #probe}, until it returns false. One thread at a time.
 *
 * <p>While some messages have not completed, the bytes of further writes are gathered in the send buffer. They leave as one message when that is as long as
 * messages get, when nothing more can be gathered, when a message completes, so that few are on their way, and before whatever has to come behind them.
 *
 * <pre>
 *                    shutdownOutput                 SHUTDOWN from the peer
 *   both directions ───────────────▶ input only     ─────────────────────▶ disconnected
 *          │         SHUTDOWN          │ shutdownInput, disconnect: DISCONNECT
 *          │ SHUTDOWN from the peer    ▼
 *          └───────────────▶ output only ─── shutdownOutput, disconnect: DISCONNECT ──▶ disconnected
 *   anywhere: DISCONNECT from the peer ──▶ disconnected
 * </pre>
 *
 * <p>Bytes that have arrived can be read in every state.
 */
public final class RsocketStream {
    private final StreamSettings own;
    private final StreamSender sender;
    private final StreamReceiver receiver;
    private final Queue<OwnMapping> unsent = new ArrayDeque<>(1);
    private final @Nullable Mapping[] peerMappings;
    /** Which places of the peer's table are taken by mappings of this side. */
    private final BitSet ownMappings = new BitSet();

    /** Room in the send queue for messages that need no credit. */
    private int controls = StreamSettings.CONTROLS;
    private boolean canRead = true;
    private boolean canWrite = true;
    private boolean isDiscarding;
    private boolean hasPeerEnded;
    private boolean hasPeerDisconnected;
    private boolean isDisconnected;
    private boolean wasReset;
    /** A message that is due when there is room for it. */
    private boolean owesShutdown;
    private boolean owesDisconnect;
    private boolean owesProbe;
    private boolean hasSentDisconnect;
    private boolean hasDisconnectArrived;
    /** Both sides have sent SHUTDOWN before they had the other's; nobody sends DISCONNECT then. */
    private boolean haveShutdownsCrossed;

    private record OwnMapping(Mapping mapping, int index) {}

    /**
     * @param own what this side has
     * @param buffer its whole receive buffer, for the peer
     * @param peer what the peer has sent
     */
    public RsocketStream(StreamSettings own, RemoteRange buffer, ConnectionData peer) {
        if (buffer.length() != own.receiveBytes()) {
            throw new IllegalArgumentException("a receive buffer of " + buffer.length()
                    + " bytes was to have " + own.receiveBytes());
        }
        this.own = own;
        sender = new StreamSender(own, peer);
        receiver = new StreamReceiver(own, buffer, peer);
        peerMappings = new Mapping[own.mappings()];
    }

    /**
     * {@return what to tell the peer}
     *
     * @param slots the array of {@link ConnectionData#SLOTS} ranges; room for the mappings follows it
     */
    public static ConnectionData connectionData(StreamSettings own, RemoteRange slots,
            RemoteRange buffer) {
        return new ConnectionData(ByteOrder.nativeOrder(), own.credits(), own.mappings(),
                new RemoteRange(slots.address(), slots.key(), ConnectionData.SLOTS),
                new RemoteRange(buffer.address(), buffer.key(), own.receiveBytes() / 2));
    }

    // ---------------------------------------------------------------- writing

    /** The application begins a write, which may become several messages. */
    public void startWrite() {
        sender.startWrite();
    }

    /** {@return how many of so many bytes {@link #write} can take now; 0 if none, and after the end of the output} */
    public int writable(int wanted) {
        return canWrite && unsent.isEmpty() ? sender.room(wanted) : 0;
    }

    /** {@return whether {@link #writable} has come to so much that a thread that waits to write should} */
    public boolean isRoomy() {
        return canWrite && unsent.isEmpty() && sender.isRoomy();
    }

    /**
     * {@return whether so many bytes are sent inline} Otherwise they must be in the send buffer before {@link #write}. Asked again then, if anything was called
     * since: {@link #map} may have taken the last credit.
     */
    public boolean isInline(int count) {
        return sender.isInline(count);
    }

    /** {@return where the next bytes have to be in the send buffer; they go on at its beginning} */
    public int writeOffset() {
        return sender.bufferOffset();
    }

    /** {@return whether that is in the larger send buffer} */
    public boolean isWritingLarger() {
        return sender.isInLarger();
    }

    /** {@return whether the send buffer was full again and again, while the peer had room: a larger one helps} Not while bytes are gathered. */
    public boolean wantsLargerOutput() {
        return canWrite && sender.wantsLarger();
    }

    /**
     * Sends from another buffer from now on; once, and not while bytes are gathered. What is in the one before has to stay there until it has completed.
     *
     * @param bytes the size of the other buffer
     */
    public void enlargeOutput(int bytes) {
        sender.enlarge(bytes);
    }

    /**
     * Sends bytes, or gathers them with others for one message while earlier ones are on their way.
     *
     * @param count at most what {@link #writable} has said, at least 1
     * @param isInline not if {@link #isInline} says otherwise
     * @return whether there is something to send; otherwise {@link #pollTransmit} sends it later
     */
    public boolean write(int count, boolean isInline, Transmission out) {
        return sender.write(count, isInline, out);
    }

    /** {@return whether the next bytes would be the first that are gathered} Not if messages have completed of which the stream does not know yet. */
    public boolean isAboutToGather() {
        return sender.isAboutToGather();
    }

    /** {@return whether bytes are gathered} */
    public boolean isGathering() {
        return sender.isGathering();
    }

    /** Lets bytes that are gathered wait for no more. */
    public void flush() {
        sender.hurry();
    }

    /** {@return whether no byte can be written any more} */
    public boolean isOutputEnded() {
        return !canWrite;
    }

    /** {@return whether everything that was posted has completed, and nothing is due} */
    public boolean isDrained() {
        return sender.isIdle() && controls == StreamSettings.CONTROLS && !owesShutdown
                && !owesDisconnect;
    }

    /** {@return how many bytes the application has written that have not completed} */
    public int unacknowledged() {
        return sender.unacknowledged();
    }

    // ---------------------------------------------------------------- reading

    /** {@return how many bytes can be read} */
    public int readable() {
        return receiver.readable();
    }

    /** {@return how many of them lie together from {@link #readOffset} on} */
    public int readableRun() {
        return receiver.run();
    }

    /** {@return where they begin in the receive buffer} */
    public int readOffset() {
        return receiver.offset();
    }

    /** {@return whether that is in the larger receive buffer} */
    public boolean isReadingLarger() {
        return receiver.isInLarger();
    }

    /** The application wants to read, and there is nothing. */
    public void onEmpty() {
        receiver.onEmpty();
    }

    /** {@return whether the peer has waited for room, and then the application for bytes, again and again: a larger receive buffer helps} */
    public boolean wantsLargerInput() {
        return canRead && receiver.wantsLarger();
    }

    /**
     * Gives the peer another buffer from now on; once. It still fills what it was given of the one before, which is read first.
     *
     * @param buffer the other one, of an even number of bytes
     */
    public void enlargeInput(RemoteRange buffer) {
        receiver.enlarge(buffer);
    }

    /** Takes bytes that were read. */
    public void read(int count) {
        receiver.read(count);
    }

    /** {@return whether no more bytes come, after those that can be read} */
    public boolean isInputEnded() {
        return !canRead;
    }

    // ---------------------------------------------------------------- the end

    /** No more bytes are written. */
    public void shutdownOutput() {
        if (!canWrite) {
            return;
        }
        canWrite = false;
        sender.hurry();
        if (canRead) {
            owesShutdown = true;
        } else {
            owesDisconnect = !isDisconnected;
        }
    }

    /** Bytes that come are dropped from now on. */
    public void shutdownInput() {
        canRead = false;
        isDiscarding = true;
        receiver.read(receiver.readable());
        if (!canWrite) {
            owesDisconnect = !isDisconnected && !hasSentDisconnect;
        }
    }

    /** Both ends: what was written still leaves. */
    public void disconnect() {
        canWrite = false;
        sender.hurry();
        shutdownInput();
    }

    /** {@return whether the peer has said that it neither sends nor receives, or knows that of this side} */
    public boolean isDisconnected() {
        return isDisconnected;
    }

    /**
     * {@return whether the peer's device has acknowledged the last message of this side} That is DISCONNECT, or SHUTDOWN if the
     * peer's has come meanwhile. Otherwise the peer may still repeat a message of its own whose acknowledgement was lost, and needs an
     * answer.
     */
    public boolean isEndAcknowledged() {
        return hasDisconnectArrived || (haveShutdownsCrossed && isDrained());
    }

    /** {@return whether the peer has sent DISCONNECT} Then all its bytes have arrived. */
    public boolean hasPeerDisconnected() {
        return hasPeerDisconnected;
    }

    /** {@return whether the connection has ended without the peer's DISCONNECT} */
    public boolean wasReset() {
        return wasReset;
    }

    /** The connection manager or the device has ended the connection. */
    public void onConnectionEnded() {
        wasReset |= !isDisconnected && !hasSentDisconnect;
        end();
    }

    private void end() {
        isDisconnected = true;
        canRead = false;
        canWrite = false;
        owesShutdown = false;
        owesDisconnect = false;
        owesProbe = false;
        sender.drop();
    }

    // ---------------------------------------------------------------- mappings

    /** {@return how many mappings the peer keeps} */
    public int mappingsOfPeer() {
        return sender.peerMappings();
    }

    /**
     * Lets the peer write a range at any time.
     *
     * @return its place in the peer's table, which belongs to it until {@link #unmap}; -1 if the peer keeps no more
     */
    public int map(Mapping mapping) {
        int index = ownMappings.nextClearBit(0);
        if (index >= sender.peerMappings()) {
            return -1;
        }
        ownMappings.set(index);
        unsent.add(new OwnMapping(mapping, index));
        sender.hurry();
        return index;
    }

    /** The range is not there any more. The peer is not told, as with librdmacm; its writes fail. */
    public void unmap(int index) {
        ownMappings.clear(index);
        unsent.removeIf(each -> each.index() == index);
    }

    /** {@return the mapping of the peer that holds an offset, null if there is none yet} */
    public @Nullable Mapping mapping(long offset) {
        for (Mapping each : peerMappings) {
            if (each != null && each.holds(offset)) {
                return each;
            }
        }
        return null;
    }

    /** {@return how many of so many bytes {@link #writeMapped} can take now} None before {@link #flush}, if bytes are gathered. */
    public int mappedWritable(Mapping to, long offset, int wanted) {
        long left = to.range().length() - (offset - to.offset());
        return canWrite ? sender.mappedRoom(Math.min(wanted, left)) : 0;
    }

    /** {@return whether a byte could be written to a mapping now} */
    public boolean hasMappedRoom() {
        return canWrite && sender.mappedRoom(1) > 0;
    }

    /** Writes bytes of the send buffer to a mapping of the peer. */
    public void writeMapped(Mapping to, long offset, int count, Transmission out) {
        sender.sendMapped(count, to.range().address() + (offset - to.offset()), to.range().key(),
                out);
    }

    /**
     * The peer has written a mapping.
     *
     * @param index of the message
     * @param table what the peer has written, by index, as far as there is room
     */
    public void onMapping(int index, IntFunction<Mapping> table) throws RsocketException {
        if (index >= peerMappings.length) {
            throw new RsocketException("it has mapping " + index + " where there is room for "
                    + peerMappings.length);
        }
        peerMappings[index] = table.apply(index);
        receiver.onMapping();
    }

    // ---------------------------------------------------------------- messages

    /** {@return which of this side's slots the peer writes next} */
    public int nextSlot() {
        return sender.nextSlot();
    }

    /**
     * The peer gives credits.
     *
     * @param word of the message ({@link Message#isCredits})
     * @param range what is in {@link #nextSlot}, of length 0 if nothing is; the caller clears the slot
     * @throws RsocketException if it lies
     */
    public void onCredits(int word, RemoteRange range) throws RsocketException {
        sender.onCredits(Message.data(word), range);
    }

    /**
     * Another message has arrived.
     *
     * @throws RsocketException if the peer must not send it
     */
    public void onMessage(int word) throws RsocketException {
        switch (Message.type(word)) {
            case Message.DATA -> {
                if (hasPeerEnded) {
                    throw new RsocketException("it sends bytes after the end of its output");
                }
                receiver.onData(Message.data(word));
                if (isDiscarding) {
                    receiver.read(receiver.readable());
                }
            }
            case Message.CONTROL -> onControl(Message.data(word));
            default -> throw new RsocketException(
                    "there is no message " + Integer.toHexString(word));
        }
    }

    private void onControl(int control) throws RsocketException {
        switch (control) {
            case Message.DISCONNECT -> {
                hasPeerEnded = true;
                hasPeerDisconnected = true;
                wasReset = false;
                end();
            }
            case Message.SHUTDOWN -> {
                hasPeerEnded = true;
                onShutdown();
            }
            case Message.KEEPALIVE -> {}
            default -> throw new RsocketException("there is no control message " + control);
        }
    }

    private void onShutdown() {
        canRead = false;
        if (owesShutdown) {
            // The peer does not know yet that this side has ended as well.
            owesShutdown = false;
            owesDisconnect = true;
        } else if (!canWrite && !owesDisconnect && !hasSentDisconnect) {
            haveShutdownsCrossed = !isDisconnected;
            end();
        }
    }

    /** A transmission has completed. */
    public void onSent(long id) {
        if (Transmission.isSequenced(id)) {
            sender.onSent(id);
            return;
        }
        controls++;
        if (Transmission.isLast(id)) {
            hasDisconnectArrived = true;
            end();
        }
    }

    /** Asks for an acknowledgement of the peer's device, so that a dead peer is noticed. */
    public void probe() {
        owesProbe = !isDisconnected;
    }

    /** {@return whether there is something to send} Then it is filled in. */
    public boolean pollTransmit(Transmission out) {
        if (isDisconnected) {
            return false;
        }
        if (sender.isDue()) {
            sender.send(out);
            return true;
        }
        if (!unsent.isEmpty() && sender.canSendMapping()) {
            OwnMapping next = unsent.remove();
            sender.sendMapping(next.mapping(), next.index(), out);
            return true;
        }
        if (controls == 0 || !fillControl(out)) {
            return false;
        }
        controls--;
        return true;
    }

    private boolean fillControl(Transmission out) {
        if (hasSentDisconnect) {
            return false;
        }
        boolean mayEnd = !sender.isGathering();
        if (owesDisconnect && mayEnd) {
            owesDisconnect = false;
            owesShutdown = false;
            hasSentDisconnect = true;
            out.message(Message.of(Message.CONTROL, Message.DISCONNECT), true);
        } else if (owesShutdown && mayEnd) {
            owesShutdown = false;
            out.message(Message.of(Message.CONTROL, Message.SHUTDOWN), false);
        } else if (receiver.owesCredits()) {
            receiver.giveCredits(out);
        } else if (owesProbe) {
            owesProbe = false;
            out.probe();
        } else {
            return false;
        }
        return true;
    }

    /** {@return how far it is} */
    public StreamFigures figures() {
        return new StreamFigures(receiver.readable(), sender.unacknowledged(),
                receiver.creditsLeft(), sender.credits(), receiver.room(), sender.offered(),
                receiver.receivedBytes(), sender.sentBytes(), sender.mappedBytes(),
                receiver.bytes(), sender.bytes());
    }

    @Override
    public String toString() {
        return "stream of " + own + (isDisconnected ? ", disconnected" : "")
                + (canWrite ? "" : ", output ended") + (canRead ? "" : ", input ended");
    }
}
