// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.rc;

import io.rdma4j.protocol.work.SendQueue;
import io.rdma4j.protocol.work.SendRequest;
import io.rdma4j.verbs.SendOpcode;

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
    final SendQueue queue;
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
        request.begin(next, next + packetCount, messages, receives);
        begun++;
    }

    /** A READ request asks for the packets from {@code next} to {@code end}, for the first time. */
    void beginRead(SendRequest request, long end) {
        reads.add(next, end);
        messages++;
        request.messageNumber(messages);
    }

    /** That many packets from {@code next} were sent, of the request at the cursor. */
    void sent(SendRequest request, long packetCount) {
        next += packetCount;
        if (max < next) {
            max = next;
        }
        if (next == request.endPsn()) {
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
        return request.endPsn() <= psn && !isToBeCarriedOut;
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
    void finishOldest(SendRequest finished) {
        finishedMessages = finished.messageNumber();
        finishedReceives = finished.receiveNumber();
        oldest++;
        // Going back puts the cursor before a request without packets, which may be over before its turn comes again.
        cursor = Math.max(cursor, oldest);
    }

    /** {@return the packet behind the last of the oldest unfinished request} There is one that has begun. */
    long endOfOldest() {
        return queue.request(oldest).endPsn();
    }

    /** {@return the number of the last finished message, a reference for 24-bit numbers} */
    long finishedMessages() {
        return finishedMessages;
    }

    /** {@return receive requests of the peer that its messages up to a number have consumed} */
    long receivesThrough(long messageNumber) {
        long through = finishedReceives;
        for (long i = oldest; i < begun; i++) {
            SendRequest request = queue.request(i);
            if (request.messageNumber() > messageNumber) {
                break;
            }
            through = request.receiveNumber();
        }
        return through;
    }
}
