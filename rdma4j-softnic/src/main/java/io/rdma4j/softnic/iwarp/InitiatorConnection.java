// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.iwarp;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.observe.jfr.FlightEvents;
import io.rdma4j.protocol.iwarp.MpaAnswer;
import io.rdma4j.protocol.iwarp.MpaInitiator;
import io.rdma4j.protocol.iwarp.StreamParameters;
import io.rdma4j.protocol.iwarp.wire.MpaFrame;
import io.rdma4j.protocol.iwarp.wire.OutgoingFpdu;
import io.rdma4j.protocol.iwarp.wire.TerminateCause;
import io.rdma4j.softnic.verbs.TransportHost;
import io.rdma4j.spi.ConnectRequest;
import io.rdma4j.spi.Refusal;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;

import java.lang.foreign.MemorySegment;

/**
 * The active side: it opens a TCP connection, sends a request and receives a reply; then the queue pair uses the stream.
 * For the engine's owner.
 */
final class InitiatorConnection extends IwarpConnection implements StreamConnection.Opening {
    private static final String OPERATION = "connect";

    private final MpaInitiator initiator;

    private InitiatorConnection(IwarpLink link, TransportHost host, ConnectRequest request,
            Handler handler) throws RdmaException {
        super(link, host, link.network().connect(request.source(), request.destination()),
                request.queuePairNumber(), link.settings().patience().replyNs());
        initiator = new MpaInitiator(link().settings().mpa(), request.parameters());
        handler(handler);
        stream().opening(this);
    }

    /** Requests a connection; the handler gets the answer. */
    static InitiatorConnection ask(IwarpLink link, TransportHost host, ConnectRequest request,
            Handler handler) throws RdmaException {
        connectable(link, OPERATION, request.queuePairNumber());
        return new InitiatorConnection(link, host, request, handler);
    }

    @Override
    boolean isInitiator() {
        return true;
    }

    @Override
    public void onConnected() {
        // [RFC 5044 7.1.2-1]
        send(initiator.request());
    }

    @Override
    public void onRefused(Errno reason) {
        if (reason == Errno.ECONNREFUSED) {
            refused(reason, "no process listens at that port of that address", NOTHING);
        } else {
            unreachable(reason);
        }
    }

    @Override
    void onSetUpTooLong() {
        stream().reset();
        unreachable(Errno.ETIMEDOUT);
    }

    @Override
    void onFrame(MpaFrame frame) {
        switch (initiator.onReply(frame)) {
            case MpaAnswer.Accepted accepted -> onAccepted(accepted);
            case MpaAnswer.Rejected rejected -> {
                stream().close();
                refused(Errno.ECONNRESET, "rejected by the peer", rejected.privateData());
            }
            case MpaAnswer.Unusable unusable -> {
                TerminateCause cause = unusable.cause();
                if (cause == null) {
                    stream().reset();
                } else {
                    terminate(cause);
                }
                refused(Errno.ECONNREFUSED, unusable.reason(), NOTHING);
            }
        }
    }

    private void onAccepted(MpaAnswer.Accepted accepted) {
        StreamParameters agreed = accepted.parameters();
        StreamQueuePair own;
        try {
            own = connectable(link(), OPERATION, queuePairNumber());
        } catch (RdmaException closed) {
            stream().reset();
            unreachable(Errno.ECONNRESET);
            return;
        }
        take(Step.ESTABLISH);
        give(own, agreed);
        record(FlightEvents.Outcome.ESTABLISHED, 0);
        Handler present = handler();
        if (present != null) {
            present.onEstablished(new ConnectionParameters().privateData(accepted.privateData())
                    .responderResources(agreed.inboundReads())
                    .initiatorDepth(agreed.outboundReads()));
        }
    }

    @Override
    void onNonsense() {
        terminate(TerminateCause.INVALID_FRAME);
        refused(Errno.ECONNRESET, "the peer does not speak MPA", NOTHING);
    }

    /** Tells the peer why the stream ends. */
    private void terminate(TerminateCause cause) {
        OutgoingFpdu unit = new OutgoingFpdu().terminate(cause, null);
        MemorySegment bytes = MemorySegment.ofArray(new byte[unit.length()]);
        unit.copyTo(bytes, 0, null);
        stream().send(bytes.asByteBuffer());
        stream().close();
    }

    @Override
    void onEarlyBytes() {
        throw new IllegalStateException("there is one frame that it waits for");
    }

    @Override
    public void onEnd() {
        if (state() == State.OVER) {
            // Its handler has been told, and has failed.
            return;
        }
        refused(Errno.ECONNRESET, "the peer has closed the connection", NOTHING);
    }

    /** It is refused, with a status as that of Linux's own iWARP devices. */
    private void refused(Errno reason, String text, byte[] privateData) {
        record(FlightEvents.Outcome.REJECTED, -reason.number());
        Handler present = handler();
        over();
        if (present != null) {
            present.onRefused(new Refusal(-reason.number(), text, privateData));
        }
    }

    @Override
    void onPeerReady() {
        // Its reply has said so.
    }

    @Override
    public void accept(ConnectionParameters parameters, int ownQueuePair) throws RdmaException {
        throw new RdmaException(Errno.EINVAL, "accept", "this side has asked for the connection");
    }

    @Override
    public void reject(byte[] privateData) throws RdmaException {
        throw new RdmaException(Errno.EINVAL, "reject", "this side has asked for the connection");
    }

    @Override
    void refuse(byte[] privateData) {
        throw new IllegalStateException("this side has asked for the connection");
    }
}
