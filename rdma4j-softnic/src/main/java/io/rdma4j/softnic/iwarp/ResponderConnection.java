// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.iwarp;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.observe.jfr.FlightEvents;
import io.rdma4j.protocol.iwarp.MpaResponder;
import io.rdma4j.protocol.iwarp.ReadyToReceive;
import io.rdma4j.protocol.iwarp.StreamParameters;
import io.rdma4j.protocol.iwarp.wire.MpaFrame;
import io.rdma4j.softnic.network.stream.Stream;
import io.rdma4j.softnic.verbs.TransportHost;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

/**
 * The passive side: it receives a request, which the application answers; then the queue pair uses the stream. For the
 * engine's owner.
 */
final class ResponderConnection extends IwarpConnection {
    private final IwarpListener listener;
    private @Nullable MpaResponder responder;

    /** A TCP connection was accepted. */
    ResponderConnection(IwarpLink link, TransportHost host, Stream stream,
            IwarpListener listener) {
        super(link, host, stream, 0, link.settings().patience().requestNs());
        this.listener = listener;
    }

    @Override
    boolean isInitiator() {
        return false;
    }

    /** {@return whether a listener has accepted it} */
    boolean isOf(IwarpListener other) {
        return listener.equals(other);
    }

    @Override
    void onSetUpTooLong() {
        // [RFC 5044 7.1.2-4]
        if (state() == State.ACCEPTED) {
            abort(Errno.ETIMEDOUT);
            return;
        }
        stream().reset();
        over();
    }

    @Override
    void onNonsense() {
        // Nothing was sent that could be lost.
        stream().letGo();
        over();
    }

    @Override
    void onFrame(MpaFrame frame) {
        // [RFC 5044 7.1.2-2]
        if (!MpaResponder.isKnown(frame)) {
            onNonsense();
            return;
        }
        MpaResponder asked = new MpaResponder(link().settings().mpa(), frame);
        responder = asked;
        MpaFrame refusal = asked.refusal();
        if (refusal != null) {
            answerNo(refusal);
        } else if (listener.takePlace()) {
            take(Step.ASK);
            // [RFC 6581 9.1-3]
            handler(listener.ask(this, stream().local(), stream().remote(),
                    new ConnectionParameters().privateData(asked.privateData())
                            .responderResources(asked.inboundReads())
                            .initiatorDepth(asked.outboundReads())));
        } else {
            answerNo(asked.rejection(NOTHING));
        }
    }

    private void answerNo(MpaFrame rejection) {
        send(rejection);
        stream().close();
        over();
    }

    @Override
    void onEarlyBytes() {
        stream().reset();
        withdrawn();
    }

    @Override
    public void onEnd() {
        withdrawn();
    }

    /** Called when the initiator has withdrawn its request. */
    private void withdrawn() {
        if (state() == State.ASKED) {
            unreachable(Errno.ECONNRESET);
        } else {
            over();
        }
    }

    @Override
    void over() {
        leavePlace();
        super.over();
    }

    private void leavePlace() {
        if (state() == State.ASKED) {
            listener.leavePlace();
        }
    }

    @Override
    void onPeerReady() {
        if (state() == State.ACCEPTED) {
            reportEstablished();
        }
    }

    /** It stands: the initiator has spoken, or has not promised to. */
    void reportEstablished() {
        if (state() != State.ACCEPTED) {
            return;
        }
        take(Step.ESTABLISH);
        link().forgetWait(this);
        record(FlightEvents.Outcome.ESTABLISHED, 0);
        Handler present = handler();
        if (present != null) {
            present.onEstablished(null);
        }
    }

    // ---------------------------------------------------------------- what applications ask

    @Override
    public void accept(ConnectionParameters parameters, int ownQueuePair) throws RdmaException {
        driver().call(nowNs -> {
            MpaResponder asked = requireAsked("accept");
            StreamQueuePair own = connectable(link(), "accept", ownQueuePair);
            StreamParameters agreed = asked.parameters(parameters);
            leavePlace();
            take(Step.ACCEPT);
            send(asked.acceptance(agreed, parameters.privateData()));
            give(own, agreed);
            if (agreed.readyToReceive() == ReadyToReceive.NONE) {
                link().onEstablished(this);
            } else {
                beginWait(link().settings().patience().firstUnitNs());
                link().awaitFirstUnit(this);
            }
            return this;
        });
    }

    private MpaResponder requireAsked(String operation) throws RdmaException {
        MpaResponder asked = responder;
        if (state() == State.ASKED && asked != null) {
            return asked;
        }
        throw state() == State.OVER
                ? new RdmaException(Errno.ECONNRESET, operation,
                        "the peer has withdrawn its request, or it was answered")
                : new RdmaException(Errno.EINVAL, operation,
                        "there is no request that is not answered");
    }

    @Override
    public void reject(byte[] privateData) throws RdmaException {
        driver().call(nowNs -> {
            refuse(requireAsked("reject"), privateData);
            return this;
        });
    }

    @Override
    void refuse(byte[] privateData) {
        MpaResponder asked = responder;
        if (asked == null) {
            throw new IllegalStateException("there is no request that is not answered");
        }
        refuse(asked, privateData);
    }

    private void refuse(MpaResponder asked, byte[] privateData) {
        record(FlightEvents.Outcome.REJECTED, 0);
        answerNo(asked.rejection(privateData));
    }
}
