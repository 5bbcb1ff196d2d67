// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.rc;

import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.PacketView;
import io.rdma4j.protocol.roce.wire.Psn;
import io.rdma4j.protocol.roce.wire.Syndrome;
import io.rdma4j.protocol.work.SendRequest;
import io.rdma4j.verbs.SendOpcode;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * What the standard says about credits and message numbers, computed anew from the packets that one end sends to the
 * other, and from nothing else but what was posted. It fails as soon as an end sends a packet that does not fit.
 *
 * <p>Source: IBTA 9.7.7.2.
 */
final class CreditModel implements Wire.Watcher {
    private static final long UNLIMITED = Long.MAX_VALUE;

    /** A send request as it was posted. */
    private static final class Posted {
        final boolean consumes;
        final boolean isRead;
        final long length;
        /** The number of its last message, 0 for one that takes no packet. */
        long number;

        Posted(boolean consumes, boolean isRead, long length) {
            this.consumes = consumes;
            this.isRead = isRead;
            this.length = length;
        }
    }

    /** A message as the responder counts it: each request of a long READ is one. */
    private static final class Message {
        final long firstPsn;
        long endPsn;
        final boolean awaitsResponse;
        /** Receives that the messages up to this one consume. */
        final long receives;

        Message(long firstPsn, boolean awaitsResponse, long receives) {
            this.firstPsn = firstPsn;
            this.endPsn = Long.MAX_VALUE;
            this.awaitsResponse = awaitsResponse;
            this.receives = receives;
        }
    }

    private final RcEnd sender;
    private final RcEnd receiver;
    private final int mtu;
    private final Deque<Posted> unsent = new ArrayDeque<>();
    private final Deque<Posted> unfinished = new ArrayDeque<>();
    private long lastFinished;
    private long askedOfRead;
    /** Number n is at place n - 1. */
    private final List<Message> messages = new ArrayList<>();

    // What the requester knows.
    private long una;
    private long next;
    private long consumed;
    private long limit = UNLIMITED;

    // What the responder has done.
    private long expected;
    private long answered;
    private long executed;
    private long receives;

    int readRequests;
    int packetsWithoutCredit;

    CreditModel(RcPair pair) {
        sender = pair.a;
        receiver = pair.b;
        mtu = pair.settings.mtu.bytes();
        una = pair.settings.firstPsn;
        next = una;
        expected = una;
        answered = una;
    }

    // ---------------------------------------------------------------- what was posted

    void onPosted(SendOpcode opcode, long length) {
        Posted request = switch (opcode) {
            case SEND, SEND_WITH_IMMEDIATE, SEND_WITH_INVALIDATE, RDMA_WRITE_WITH_IMMEDIATE ->
                new Posted(true, false, length);
            case RDMA_WRITE, ATOMIC_COMPARE_AND_SWAP, ATOMIC_FETCH_AND_ADD, FLUSH, ATOMIC_WRITE,
                    LOCAL_INVALIDATE, BIND_MEMORY_WINDOW ->
                new Posted(false, false, length);
            case RDMA_READ -> new Posted(false, true, length);
        };
        unfinished.add(request);
        boolean isHeardByThePeer = opcode != SendOpcode.LOCAL_INVALIDATE
                && opcode != SendOpcode.BIND_MEMORY_WINDOW;
        if (isHeardByThePeer) {
            unsent.add(request);
        }
    }

    @Override
    public void onCompleted(RcEnd by, SendRequest request) {
        if (by == sender) {
            lastFinished = Math.max(lastFinished, unfinished.removeFirst().number);
            expect("number of a message that is over", by.queuePair.window.finishedMessages(),
                    lastFinished);
        }
    }

    void onReceivePosted() {
        receives++;
    }

    // ---------------------------------------------------------------- packets

    @Override
    public void onSent(RcEnd from, PacketView packet) {
        if (from == sender) {
            onRequestSent(packet);
        } else {
            onAnswerSent(packet);
        }
    }

    private void onRequestSent(PacketView packet) {
        long psn = Psn.unwrap(packet.psn(), next);
        expect("PSN, at most", Math.max(psn, next), next);
        if (psn < next) {
            return;
        }
        if (packet.opcode().isStart()) {
            begin(packet, psn);
        }
        Message message = messages.getLast();
        boolean isRead = packet.opcode() == Opcode.RC_READ_REQUEST;
        next = psn + (isRead ? Math.max(1, (packet.dmaLength() + mtu - 1) / mtu) : 1);
        if (packet.opcode().isEnd()) {
            message.endPsn = next;
        }
        boolean consumesReceive = message.receives > receivesThrough(messages.size() - 1L);
        if (consumesReceive && message.receives > limit) {
            packetsWithoutCredit++;
            expect("oldest under way beside a packet without credit", una, psn);
            if (!packet.isAcknowledgeRequested()) {
                throw new AssertionError(
                        "no acknowledgement is asked for, which would bring credit");
            }
        }
    }

    private void begin(PacketView packet, long psn) {
        Posted request = unsent.getFirst();
        boolean isWhole = true;
        if (request.isRead) {
            readRequests++;
            askedOfRead += packet.dmaLength();
            isWhole = askedOfRead >= request.length;
        }
        if (isWhole) {
            expect("bytes asked for", askedOfRead, request.isRead ? request.length : 0);
            askedOfRead = 0;
            unsent.removeFirst();
        }
        consumed += request.consumes ? 1 : 0;
        Opcode.Kind kind = packet.opcode().kind();
        messages.add(new Message(psn, kind != Opcode.Kind.SEND && kind != Opcode.Kind.WRITE,
                consumed));
        request.number = messages.size();
    }

    private void onAnswerSent(PacketView packet) {
        if (!packet.opcode().hasAcknowledgement()) {
            return;
        }
        long psn = Psn.unwrap(packet.psn(), expected);
        if (packet.opcode() == Opcode.RC_ACKNOWLEDGE) {
            expect("message number", packet.messageNumber(), executed);
        } else {
            long number = numberOf(psn);
            if (psn >= answered) {
                expect("message number of a response", packet.messageNumber(), number);
                answered = psn + 1;
            }
            expect("message number, at least", Math.min(packet.messageNumber(), number), number);
            expect("message number, at most", Math.max(packet.messageNumber(), executed),
                    executed);
        }
        switch (Syndrome.kind(packet.syndrome())) {
            case ACK -> expect("receives offered, at most", Math.max(offered(packet), receives),
                    receives);
            case RNR_NAK -> {
                long missing = receivesThrough(numberOf(psn));
                expect("the receive that is missing, at least", Math.max(missing, receives + 1),
                        missing);
            }
            case NAK -> expect("syndrome", packet.syndrome(), Syndrome.NAK_PSN_SEQUENCE_ERROR);
            case RESERVED -> throw new AssertionError("a reserved syndrome");
        }
    }

    private static void expect(String what, long actual, long right) {
        if (actual != right) {
            throw new AssertionError(what + ": " + actual + " instead of " + right);
        }
    }

    private long numberOf(long psn) {
        for (int i = 0; i < messages.size(); i++) {
            if (psn < messages.get(i).endPsn) {
                return i + 1L;
            }
        }
        throw new AssertionError("no message has packet " + psn);
    }

    /** {@return the messages that consume a receive and may be sent, by an acknowledgement} */
    private long offered(PacketView packet) {
        return receivesThrough(packet.messageNumber()) + Syndrome.credits(packet.syndrome());
    }

    private long receivesThrough(long number) {
        return number == 0 ? 0 : messages.get((int) number - 1).receives;
    }

    @Override
    public void onReceived(RcEnd to, PacketView packet) {
        if (to == sender) {
            onAnswerReceived(packet);
        } else {
            onRequestReceived(packet);
        }
    }

    /** What a responder has done shows by the packet it expects now. */
    private void onRequestReceived(PacketView packet) {
        long psn = Psn.unwrap(packet.psn(), expected);
        long now = Psn.unwrap(receiver.expectedPsn(), expected);
        if (psn != expected) {
            expect("expected PSN behind another packet", now, expected);
            return;
        }
        if (now == expected) {
            return;
        }
        boolean isRead = packet.opcode() == Opcode.RC_READ_REQUEST;
        executed += packet.opcode().isEnd() ? 1 : 0;
        expect("expected PSN behind a packet", now,
                isRead ? messages.get((int) executed - 1).endPsn : psn + 1);
        expected = now;
    }

    private void onAnswerReceived(PacketView packet) {
        long psn = Psn.unwrap(packet.psn(), una);
        boolean isAcknowledgement = packet.opcode() == Opcode.RC_ACKNOWLEDGE;
        boolean isPositive = isAcknowledgement
                && Syndrome.kind(packet.syndrome()) == Syndrome.Kind.ACK;
        if (psn >= next || psn < una - (isPositive ? 1 : 0)) {
            return;
        }
        acknowledge(isPositive ? psn + 1 : psn);
        if (!isAcknowledgement && psn == una) {
            una = psn + 1;
        }
        if (isPositive) {
            limit = limit == UNLIMITED ? offered(packet) : Math.max(limit, offered(packet));
        }
    }

    /** Everything before a packet has arrived, but a READ and the like is not answered by that. */
    private void acknowledge(long end) {
        for (Message message : messages) {
            if (message.endPsn > una && message.firstPsn < end && message.awaitsResponse) {
                una = Math.max(una, message.firstPsn);
                return;
            }
        }
        una = Math.max(una, end);
    }
}
