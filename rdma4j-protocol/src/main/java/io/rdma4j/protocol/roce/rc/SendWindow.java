// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.rc;

import io.rdma4j.protocol.work.SendQueue;
import io.rdma4j.protocol.work.SendRequest;
import io.rdma4j.verbs.SendOpcode;
import org.jspecify.annotations.Nullable;

/**
 * The send requests between the oldest unfinished and the newest begun, and the packets they consist of.
 *
 * <pre>
 * requests   oldest … cursor … begun … end       (indexes in the send queue)
 * packets    una    … next   … max               (PSNs)
 * </pre>
 *
 * Packets below {@code una} are acknowledged; {@code next} is sent next, in the request at
 * {@code cursor}; {@code max} was never sent. Going back moves {@code next} and {@code cursor} only.
 */
final class SendWindow {
    private static final int FIRST_SLOTS = 4;

    final SendQueue queue;
    /** Of the requests from oldest to begun, in the slot of their index; made when a slot is first used. As many as were needed. */
    private @Nullable RequestPackets[] packets = new RequestPackets[FIRST_SLOTS];
    final ReadChunks reads = new ReadChunks();
    long una;
    long next;
    long max;
    long oldest;
    long cursor;
    long begun;
    private long messages;
    private long receives;
    private long finishedMessages;
    private long finishedReceives;

    SendWindow(SendQueue queue) {
        this.queue = queue;
    }

    /** Resets to a first PSN; earlier requests are dropped. */
    void reset(long firstPsn, int maxReadAtomic) {
        una = firstPsn;
        next = firstPsn;
        max = firstPsn;
        oldest = queue.clear();
        cursor = oldest;
        begun = oldest;
        messages = 0;
        receives = 0;
        finishedMessages = 0;
        finishedReceives = 0;
        reads.reset(maxReadAtomic);
    }

    /** {@return the packets of a request that has begun} */
    RequestPackets packets(long index) {
        int slot = (int) index & packets.length - 1;
        RequestPackets found = packets[slot];
        if (found == null) {
            found = new RequestPackets();
            packets[slot] = found;
        }
        return found;
    }

    /** {@return the packets of the request at the cursor} */
    RequestPackets current() {
        return packets(cursor);
    }

    /** {@return packets sent and not acknowledged} */
    long inFlight() {
        return next - una;
    }

    boolean isIdle() {
        return una == max;
    }

    boolean isRetransmission() {
        return next < max;
    }

    /**
     * Begins the request at the cursor, which takes that many packets. The peer counts a message for each request packet
     * that it carries out: none for what concerns this side alone, and those of a READ as they are sent.
     */
    void begin(SendRequest request, long packetCount) {
        if (request.opcode() != SendOpcode.RDMA_READ && !request.isLocal()) {
            messages++;
        }
        if (request.consumesReceive()) {
            receives++;
        }
        if (begun - oldest == packets.length) {
            grow();
        }
        RequestPackets begins = packets(begun);
        begins.firstPsn = next;
        begins.endPsn = next + packetCount;
        begins.messageNumber = messages;
        begins.receiveNumber = receives;
        begun++;
    }

    private void grow() {
        @Nullable
        RequestPackets[] larger = new RequestPackets[2 * packets.length];
        for (long i = oldest; i < begun; i++) {
            larger[(int) i & larger.length - 1] = packets(i);
        }
        packets = larger;
    }

    /** A READ request asks for the packets from {@code next} to {@code end}, for the first time. */
    void beginRead(long end) {
        reads.add(next, end);
        messages++;
        current().messageNumber = messages;
    }

    /** That many packets from {@code next} were sent. */
    void sent(long packetCount) {
        next += packetCount;
        if (max < next) {
            max = next;
        }
        if (next == current().endPsn) {
            cursor++;
        }
    }

    /** Reverts the sending of the last packets, from a PSN on. */
    void takeBack(long psn, long maxBefore) {
        max = maxBefore;
        goBackTo(psn);
    }

    /** Sends again from a packet between {@code una} and {@code next}. */
    void goBackTo(long psn) {
        next = psn;
        cursor = oldest;
        while (cursor < begun && isBehind(cursor, psn)) {
            cursor++;
        }
    }

    /** {@return whether a request is complete before a packet} */
    private boolean isBehind(long index, long psn) {
        SendRequest request = queue.request(index);
        boolean isToBeCarriedOut = request.isLocal() && !request.isCarriedOut();
        return packets(index).endPsn <= psn && !isToBeCarriedOut;
    }

    /** All packets below this one are acknowledged. */
    void acknowledged(long psn) {
        una = psn;
        reads.prune(psn);
        if (next < psn) {
            goBackTo(psn);
        }
    }

    /** The oldest request is finished; reporting it frees its slot. */
    void finishOldest() {
        RequestPackets finished = packets(oldest);
        finishedMessages = finished.messageNumber;
        finishedReceives = finished.receiveNumber;
        oldest++;
        // Going back puts the cursor before a request without packets, which may be over before its turn comes again.
        cursor = Math.max(cursor, oldest);
    }

    /** {@return the number of the last finished message, a reference for 24-bit numbers} */
    long finishedMessages() {
        return finishedMessages;
    }

    /** {@return receive requests of the peer that its messages up to a number have consumed} */
    long receivesThrough(long messageNumber) {
        long through = finishedReceives;
        for (long i = oldest; i < begun; i++) {
            RequestPackets request = packets(i);
            if (request.messageNumber > messageNumber) {
                break;
            }
            through = request.receiveNumber;
        }
        return through;
    }
}
