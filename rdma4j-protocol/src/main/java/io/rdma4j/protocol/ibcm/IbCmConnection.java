// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.ibcm;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.RejectReason;
import io.rdma4j.protocol.ibcm.CmMessage.DisconnectReply;
import io.rdma4j.protocol.ibcm.CmMessage.DisconnectRequest;
import io.rdma4j.protocol.ibcm.CmMessage.MessageReceipt;
import io.rdma4j.protocol.ibcm.CmMessage.ReadyToUse;
import io.rdma4j.protocol.ibcm.CmMessage.Reject;
import io.rdma4j.protocol.ibcm.CmMessage.Reply;
import io.rdma4j.protocol.ibcm.CmMessage.Request;
import io.rdma4j.state.Transitions;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.QueuePairAttribute;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.util.EnumSet;

/**
 * One connection from request to time-wait, on one side; {@link #TRANSITIONS} are its states.
 *
 * <p>Source: IBTA 12.9.5 to 12.9.8. A disconnect request is confirmed at once; when the application is
 * notified, the peer's side has ended already.
 */
public final class IbCmConnection implements CmTimer, CmSending.Asker {
    /** Is notified of what happens to a connection. Calls come from within calls of the manager. */
    public interface Events {
        /** The peer accepted; {@link #establish} or {@link #reject} follows. */
        void onReply(ConnectionParameters parameters);

        /** The connection is established (passive side). */
        void onEstablished();

        /** The peer refused. */
        void onRejected(int reason, byte[] privateData);

        /**
         * The peer of a request has said nothing for four seconds, though the request was repeated. It is waited for as
         * before, unless {@link #giveUpUnanswered} follows. Reported at most once.
         */
        default void onSilence() {
            // Nobody who knows another way.
        }

        /** The peer did not answer, or cannot be reached, as the system says. */
        void onUnreachable(Errno reason);

        /** The connection has ended. */
        void onDisconnected();

        /** Late packets can no longer arrive. */
        void onTimewaitExit();
    }

    enum State {
        REQUEST_SENT,
        REPLY_RECEIVED,
        REQUEST_RECEIVED,
        REPLY_SENT,
        ESTABLISHED,
        DISCONNECT_SENT,
        TIME_WAIT,
        CLOSED
    }

    /** What changes the state. */
    enum Step {
        /** The peer has accepted, by REP. */
        REPLY,
        /** The application confirms that, by RTU. */
        ESTABLISH,
        /** The application accepts a request. */
        ACCEPT,
        /** RTU, or a packet of the connection, shows that the peer is ready. */
        READY,
        /** The application disconnects, by DREQ. */
        DISCONNECT,
        /** DREQ, DREP or REJ of the peer, a new request with its queue pair, the end of its process, or no answer to DREQ. */
        END,
        /** It is rejected, withdrawn or given up, or its time-wait is over. */
        FORGET
    }

    /** Source: IBTA 12.9.5 to 12.9.8. */
    static final Transitions<State, Step> TRANSITIONS = Transitions.between(State.class, Step.class)
            .on(Step.REPLY, State.REPLY_RECEIVED, State.REQUEST_SENT)
            .on(Step.ESTABLISH, State.ESTABLISHED, State.REPLY_RECEIVED)
            .on(Step.ACCEPT, State.REPLY_SENT, State.REQUEST_RECEIVED)
            .on(Step.READY, State.ESTABLISHED, State.REPLY_SENT)
            .on(Step.DISCONNECT, State.DISCONNECT_SENT,
                    EnumSet.of(State.ESTABLISHED, State.REPLY_SENT))
            .on(Step.END, State.TIME_WAIT,
                    EnumSet.of(State.ESTABLISHED, State.REPLY_SENT, State.DISCONNECT_SENT))
            .on(Step.FORGET, State.CLOSED, EnumSet.of(State.REQUEST_SENT, State.REPLY_RECEIVED,
                    State.REQUEST_RECEIVED, State.REPLY_SENT, State.TIME_WAIT))
            .build();

    /** The {@code rnr_retry} that means "as often as needed". */
    private static final int WITHOUT_LIMIT = 7;
    /** 655.36 ms; IBTA table 46. */
    private static final int LONGEST_RNR_TIMER = 0;
    /** While the peer takes the time that it has asked for, it is asked now and then whether it is still there. */
    private static final long ASK_NS = 2_000_000_000L;
    private static final PrivateData NO_DATA = PrivateData.NONE;

    private final IbConnectionManager manager;
    private final CmSending sending;
    private final CmSettings settings;
    private final CmPeer peer;
    private final NegotiatedParameters terms;
    private final int localId;
    private final long order;
    private final boolean isActive;
    private final EarlyEnd earlyEnd;
    /** Whether another path MTU than the requested one will not do. */
    private boolean isMtuFixed;
    private @Nullable Mtu acceptableMtu;
    private long transaction;
    private int remoteId;
    private int localQueuePair;
    private State state;
    private @Nullable Events events;
    private @Nullable CmService service;
    private @Nullable CmMessage awaiting;
    private int retriesLeft;
    /** The peer has asked for more time for the awaited message, until then; the minimum if it has not. */
    private long promisedNs = Long.MIN_VALUE;
    private long deadlineNs = Long.MAX_VALUE;

    private IbCmConnection(IbConnectionManager manager, CmPeer peer, NegotiatedParameters terms,
            boolean isActive, State state) {
        this.manager = manager;
        sending = manager.sending();
        this.terms = terms;
        this.settings = sending.settings();
        this.peer = peer;
        this.isActive = isActive;
        this.state = state;
        localId = sending.newIdentifier();
        order = sending.newOrder();
        earlyEnd = new EarlyEnd(peer, CmSettings.nanos(settings.responseTimeout()));
    }

    static IbCmConnection active(IbConnectionManager manager, ConnectSpec call, Events events,
            long nowNs) {
        CmSending sending = manager.sending();
        IbCmConnection connection = new IbCmConnection(manager, call.peer(),
                new NegotiatedParameters(sending.settings(), call, sending.newPsn()), true,
                State.REQUEST_SENT);
        connection.events = events;
        connection.call(call, nowNs);
        return connection;
    }

    static IbCmConnection passive(IbConnectionManager manager, CmPeer peer, CmService service,
            long transaction, Request request) {
        CmSending sending = manager.sending();
        IbCmConnection connection = new IbCmConnection(manager, peer,
                new NegotiatedParameters(sending.settings(), service.offer().type(), request,
                        sending.newPsn()),
                false, State.REQUEST_RECEIVED);
        connection.service = service;
        connection.transaction = transaction;
        connection.remoteId = request.senderId();
        return connection;
    }

    // ---------------------------------------------------------------- what the application does

    private void call(ConnectSpec call, long nowNs) {
        ConnectionParameters own = call.parameters();
        transaction = sending.newTransaction(localId);
        localQueuePair = call.queuePairNumber();
        isMtuFixed = call.isMtuFixed();
        Integer chosen = call.ackTimeoutExponent();
        int ackTimeout = chosen == null ? settings.ackTimeout() : chosen;
        PathRecord path = new PathRecord(0xffff, 0xffff, peer.local(), peer.remote(), 0, 0,
                terms.typeOfService(), 64, 0, ackTimeout << 3);
        send(new Request(localId, call.serviceId(), settings.nodeGuid(), 0, localQueuePair,
                terms.responderResources(), terms.initiatorDepth(), settings.responseTimeout(),
                terms.transportType(), own.flowControl(), terms.receivePsn(),
                settings.responseTimeout(), terms.retryCount(), 0xffff, terms.mtu().code(),
                own.rnrRetryCount(), settings.maxRetries(), own.sharedReceiveQueue(), path,
                PathRecord.NONE, call.privateData()), settings.maxRetries(), nowNs);
        waitUntil(earlyEnd.onSent(nowNs));
    }

    /** Accepts a request. */
    public void accept(ConnectionParameters own, int queuePairNumber, long nowNs)
            throws RdmaException {
        require(State.REQUEST_RECEIVED, "accept");
        terms.grant(own);
        Reply reply = new Reply(localId, remoteId, 0, queuePairNumber, terms.receivePsn(),
                terms.responderResources(), terms.initiatorDepth(), 15, 0, own.flowControl(),
                own.rnrRetryCount(), own.sharedReceiveQueue(), settings.nodeGuid(),
                PrivateData.of(own.privateData()));
        answered();
        localQueuePair = queuePairNumber;
        manager.expectReady(this);
        take(Step.ACCEPT);
        send(reply, settings.maxRetries(), nowNs);
    }

    /** Confirms a reply. */
    public void establish() throws RdmaException {
        require(State.REPLY_RECEIVED, "establish");
        take(Step.ESTABLISH);
        sending.send(peer, terms.typeOfService(), transaction,
                new ReadyToUse(localId, remoteId, NO_DATA));
    }

    /** Rejects a request or a reply. */
    public void reject(RejectReason reason, byte[] privateData) throws RdmaException {
        if (state != State.REQUEST_RECEIVED && state != State.REPLY_RECEIVED) {
            throw wrongState("reject");
        }
        sendReject(reason, privateData);
        closed();
    }

    /**
     * Ends a request whose peer has not answered as if its time were over. Does nothing if the peer has said anything, be it
     * that it needs more time.
     */
    public void giveUpUnanswered(long nowNs) {
        if (state == State.REQUEST_SENT && !earlyEnd.isAnswered()) {
            giveUp(nowNs);
        }
    }

    /** Ends the connection. */
    public void disconnect(long nowNs) throws RdmaException {
        if (state == State.TIME_WAIT || state == State.CLOSED || state == State.DISCONNECT_SENT) {
            return;
        }
        if (state != State.ESTABLISHED && state != State.REPLY_SENT) {
            throw wrongState("disconnect");
        }
        transaction = sending.newTransaction(localId);
        take(Step.DISCONNECT);
        send(new DisconnectRequest(localId, remoteId, terms.remoteQueuePair(), NO_DATA),
                settings.disconnectRetries(), nowNs);
    }

    /** Closes the connection: reports nothing any more, and notifies the peer. */
    public void close(long nowNs) {
        events = null;
        answered();
        switch (state) {
            case REQUEST_SENT -> {
                sendReject(RejectReason.TIMEOUT, new byte[0]);
                closed();
            }
            case REQUEST_RECEIVED, REPLY_RECEIVED -> {
                sendReject(RejectReason.CONSUMER_DEFINED, new byte[0]);
                closed();
            }
            case ESTABLISHED, REPLY_SENT -> {
                try {
                    disconnect(nowNs);
                } catch (RdmaException e) {
                    throw new IllegalStateException(e);
                }
            }
            case DISCONNECT_SENT, TIME_WAIT, CLOSED -> {
                // The rest runs by itself.
            }
        }
    }

    /**
     * {@return the attributes that bring the queue pair to INIT, RTR or RTS}
     *
     * <p>A peer that repeats a message only a few times while there is no receive waits 655 ms each time, as Linux' connection
     * manager asks: it is to last for a pause of this side's program.
     *
     * @param own this side's parameters
     * @param gidIndex the index of the local address in the port's GID table
     */
    public QueuePairAttributes queuePairAttributes(QueuePairState target, ConnectionParameters own,
            int gidIndex) throws RdmaException {
        if (state == State.REQUEST_RECEIVED) {
            terms.grant(own);
        } else if (state == State.REQUEST_SENT && target != QueuePairState.INIT) {
            throw wrongState("initialize queue pair attributes");
        }
        QueuePairAttributes attributes = terms.attributes(target, peer.remote(), gidIndex);
        if (attributes.isSet(QueuePairAttribute.MIN_RNR_TIMER)
                && own.rnrRetryCount() < WITHOUT_LIMIT) {
            attributes.minRnrTimerCode(LONGEST_RNR_TIMER);
        }
        return attributes;
    }

    /**
     * {@return the code of the wait that is asked of the peer when a message finds no receive for the first time} It is short
     * unless the peer repeats only once.
     */
    public int firstRnrTimer(ConnectionParameters own) {
        return own.rnrRetryCount() == 1 ? LONGEST_RNR_TIMER : settings.minRnrTimer();
    }

    // ---------------------------------------------------------------- what the peer does

    /** The same request again: the answer is on its way, lost, or not yet given. */
    void onRepeatedRequest() {
        switch (state) {
            case REQUEST_RECEIVED ->
                sending.send(peer, terms.typeOfService(), transaction, new MessageReceipt(localId,
                        remoteId, MessageReceipt.OF_REQUEST, settings.serviceTimeout(), NO_DATA));
            case REPLY_SENT -> resend();
            case TIME_WAIT -> sendReject(RejectReason.STALE_CONNECTION, new byte[0]);
            case ESTABLISHED, DISCONNECT_SENT, CLOSED, REQUEST_SENT, REPLY_RECEIVED -> {
                // A late copy.
            }
        }
    }

    void onReply(Reply reply) {
        switch (state) {
            case REQUEST_SENT -> {
                stopWaiting();
                take(Step.REPLY);
                remoteId = reply.senderId();
                terms.onReply(reply);
                manager.remember(this);
                Events handler = events;
                if (handler != null) {
                    handler.onReply(new ConnectionParameters()
                            .privateData(reply.privateData().bytes())
                            .responderResources(reply.initiatorDepth())
                            .initiatorDepth(reply.responderResources())
                            .flowControl(reply.flowControl()).rnrRetryCount(reply.rnrRetryCount())
                            .sharedReceiveQueue(reply.sharedReceiveQueue())
                            .queuePairNumber(reply.queuePair()));
                }
            }
            case ESTABLISHED -> {
                if (isActive && reply.senderId() == remoteId) {
                    sending.send(peer, terms.typeOfService(), transaction,
                            new ReadyToUse(localId, remoteId, NO_DATA));
                }
            }
            case REPLY_RECEIVED -> {
                if (reply.senderId() == remoteId) {
                    sending.send(peer, terms.typeOfService(), transaction,
                            new MessageReceipt(localId, remoteId, MessageReceipt.OF_REPLY,
                                    settings.serviceTimeout(), NO_DATA));
                }
            }
            case REQUEST_RECEIVED, REPLY_SENT, DISCONNECT_SENT, TIME_WAIT, CLOSED -> {
                // A late copy.
            }
        }
    }

    /** The peer replied with a queue pair that another connection has. */
    void refuseStale(Reply reply) {
        remoteId = reply.senderId();
        take(Step.REPLY);
        sendReject(RejectReason.STALE_CONNECTION, new byte[0]);
        Events handler = events;
        closed();
        if (handler != null) {
            handler.onRejected(RejectReason.STALE_CONNECTION.code(), new byte[0]);
        }
    }

    /**
     * A packet of the connection shows that the peer is ready, though its RTU may be lost.
     *
     * @throws RdmaException EISCONN if the connection is established already
     */
    public void communicationEstablished() throws RdmaException {
        if (state == State.ESTABLISHED) {
            throw new RdmaException(Errno.EISCONN, "notify",
                    "the connection is established already");
        }
        require(State.REPLY_SENT, "notify");
        onReadyToUse();
    }

    void onReadyToUse() {
        if (state == State.REPLY_SENT) {
            stopWaiting();
            take(Step.READY);
            Events handler = events;
            if (handler != null) {
                handler.onEstablished();
            }
        }
    }

    void onReject(Reject reject, long nowNs) {
        switch (state) {
            case REQUEST_SENT, REPLY_RECEIVED, REPLY_SENT -> {
                if (asksForOtherMtu(reject, nowNs)) {
                    return;
                }
                Events handler = events;
                closed();
                if (handler != null) {
                    handler.onRejected(reject.reason(), reject.privateData().bytes());
                }
            }
            case ESTABLISHED, DISCONNECT_SENT -> ended(nowNs);
            case REQUEST_RECEIVED -> {
                // The requester gave up before the application answered. The application still has to be
                // notified and to close the request. Until then the request counts in the backlog:
                // otherwise a peer that requests and withdraws could fill memory.
                Events handler = events;
                withdrawn();
                if (handler != null) {
                    handler.onRejected(reject.reason(), reject.privateData().bytes());
                }
            }
            case TIME_WAIT, CLOSED -> {
                // Nothing is left to end.
            }
        }
    }

    /**
     * The peer's network carries smaller packets: the request is repeated with the path MTU that it names. {@return whether
     * that decides what becomes of the connection}
     */
    private boolean asksForOtherMtu(Reject reject, long nowNs) {
        acceptableMtu = reject.acceptableMtu();
        if (isMtuFixed || acceptableMtu == null || !(awaiting instanceof Request request)) {
            return false;
        }
        int difference = acceptableMtu.compareTo(terms.mtu());
        earlyEnd.onAnswer();
        if (difference < 0) {
            terms.lower(acceptableMtu);
            transaction = sending.newTransaction(localId);
            send(request.withPathMtu(acceptableMtu.code()), settings.maxRetries(), nowNs);
        }
        // A copy of the rejection before names what is requested by now.
        return difference <= 0;
    }

    /** The requester gave up before it knew our identifier. */
    void onWithdrawn(Reject reject, long nowNs) {
        if (state == State.REQUEST_RECEIVED || state == State.REPLY_SENT) {
            onReject(reject, nowNs);
        }
    }

    void onMessageReceipt(MessageReceipt receipt, long nowNs) {
        boolean isExpected = switch (receipt.received()) {
            case MessageReceipt.OF_REQUEST -> state == State.REQUEST_SENT;
            case MessageReceipt.OF_REPLY -> state == State.REPLY_SENT;
            default -> false;
        };
        if (!isExpected) {
            return;
        }
        earlyEnd.onAnswer();
        if (promisedNs <= nowNs) {
            // Later ones answer those in between, and promise nothing more.
            promisedNs = nowNs + CmSettings.nanos(receipt.serviceTimeout())
                    + CmSettings.nanos(settings.responseTimeout());
        }
        waitUntil(state == State.REQUEST_SENT ? Math.min(promisedNs, nowNs + ASK_NS) : promisedNs);
    }

    /** {@return whether it names this connection's queue pair, too} */
    boolean onDisconnectRequest(DisconnectRequest request, long requestTransaction, long nowNs) {
        if (request.remoteQueuePair() != localQueuePair) {
            return false;
        }
        switch (state) {
            case ESTABLISHED, REPLY_SENT, DISCONNECT_SENT, TIME_WAIT -> {
                sending.send(peer, terms.typeOfService(), requestTransaction,
                        new DisconnectReply(localId, remoteId, NO_DATA));
                ended(nowNs);
            }
            case REQUEST_SENT, REPLY_RECEIVED, REQUEST_RECEIVED, CLOSED -> {
                // Not connected.
            }
        }
        return true;
    }

    void onDisconnectReply(long nowNs) {
        if (state == State.DISCONNECT_SENT) {
            ended(nowNs);
        }
    }

    /** The process of the peer has ended. */
    void onPeerEnded(long nowNs) {
        if (state == State.REPLY_RECEIVED) {
            Events handler = events;
            closed();
            if (handler != null) {
                handler.onUnreachable(Errno.ECONNRESET);
            }
        } else {
            onStale(nowNs);
        }
    }

    /** The peer has forgotten this connection: it asks for a new one with the same queue pair. */
    void onStale(long nowNs) {
        if (isConnected()) {
            ended(nowNs);
        }
    }

    @Override
    public boolean onDeadline(long nowNs) {
        if (state == State.TIME_WAIT) {
            Events handler = events;
            closed();
            if (handler != null) {
                handler.onTimewaitExit();
            }
            return false;
        }
        if (awaiting == null) {
            return false;
        }
        if (state == State.REQUEST_SENT) {
            return onRequestDeadline(nowNs);
        }
        if (retriesLeft-- > 0) {
            resend();
            waitUntil(nowNs + CmSettings.nanos(settings.responseTimeout()));
        } else {
            giveUp(nowNs);
        }
        return true;
    }

    private boolean onRequestDeadline(long nowNs) {
        boolean isPromised = promisedNs > nowNs;
        switch (earlyEnd.onDeadline()) {
            case WAIT -> {
                waitUntil(isPromised ? Math.min(promisedNs, earlyEnd.sentNs() + ASK_NS)
                        : earlyEnd.patienceEndsNs());
                return false;
            }
            case AGAIN -> requestAgain(nowNs);
            case RETRY -> {
                // As long as the peer has asked for time, being asked costs it no retry.
                if (isPromised || retriesLeft-- > 0) {
                    requestAgain(nowNs);
                    reportSilence(nowNs);
                } else {
                    giveUp(nowNs);
                }
            }
        }
        return true;
    }

    private void reportSilence(long nowNs) {
        Events handler = events;
        if (handler != null && earlyEnd.becomesSilent(nowNs)) {
            handler.onSilence();
        }
    }

    private void requestAgain(long nowNs) {
        resend();
        waitUntil(earlyEnd.onSent(nowNs));
    }

    /** A request whose packets do not arrive ends sooner than after all retries, and a connection never for that reason. */
    @Override
    public void onUnreachable(Errno why, long nowNs) {
        if (state == State.REQUEST_SENT && earlyEnd.onRefused(why, nowNs)) {
            giveUp(nowNs);
        }
    }

    @Override
    public boolean isTowards(Gid remote) {
        return peer.remote().equals(remote);
    }

    private void giveUp(long nowNs) {
        if (state == State.DISCONNECT_SENT) {
            ended(nowNs);
            return;
        }
        Errno reason = state == State.REQUEST_SENT ? earlyEnd.reason() : Errno.ETIMEDOUT;
        sendReject(RejectReason.TIMEOUT, new byte[0]);
        Events handler = events;
        closed();
        if (handler != null) {
            handler.onUnreachable(reason);
        }
    }

    private void ended(long nowNs) {
        if (state == State.TIME_WAIT) {
            return;
        }
        stopWaiting();
        take(Step.END);
        waitUntil(nowNs + CmSettings.nanos(settings.timeWait()));
        Events handler = events;
        if (handler != null) {
            handler.onDisconnected();
        }
    }

    private void closed() {
        answered();
        withdrawn();
    }

    private void withdrawn() {
        stopWaiting();
        take(Step.FORGET);
        events = null;
        manager.forget(this);
    }

    /** The request no longer waits for the application. */
    private void answered() {
        CmService waitsAt = service;
        if (waitsAt != null) {
            service = null;
            waitsAt.onAnswered();
        }
    }

    // ---------------------------------------------------------------- sending and waiting

    private void send(CmMessage message, int retries, long nowNs) {
        awaiting = message;
        retriesLeft = retries;
        sending.send(peer, terms.typeOfService(), transaction, message);
        waitUntil(nowNs + CmSettings.nanos(settings.responseTimeout()));
    }

    private void resend() {
        CmMessage message = awaiting;
        if (message != null) {
            sending.send(peer, terms.typeOfService(), transaction, message,
                    state == State.REQUEST_SENT ? this : null);
        }
    }

    private void sendReject(RejectReason reason, byte[] privateData) {
        int rejected = switch (state) {
            // In time-wait this rejects another request, whose sender does not know our identifier.
            case REQUEST_RECEIVED, TIME_WAIT -> Reject.OF_REQUEST;
            case REPLY_RECEIVED -> Reject.OF_REPLY;
            case REQUEST_SENT, REPLY_SENT, ESTABLISHED, DISCONNECT_SENT, CLOSED -> Reject.OF_NONE;
        };
        // A side that gives up names its node, by which the peer finds the connection. IBTA 12.6.7.2.
        PrivateData information = reason == RejectReason.TIMEOUT
                ? PrivateData.of(settings.nodeGuid())
                : NO_DATA;
        sending.send(peer, terms.typeOfService(), transaction,
                new Reject(localId, remoteId, rejected, reason.code(),
                        information, information.length(), PrivateData.of(privateData)));
    }

    private void take(Step step) {
        state = TRANSITIONS.after(state, step);
    }

    private void waitUntil(long newDeadlineNs) {
        sending.unschedule(this);
        deadlineNs = newDeadlineNs;
        sending.schedule(this);
    }

    private void stopWaiting() {
        sending.unschedule(this);
        deadlineNs = Long.MAX_VALUE;
        awaiting = null;
    }

    private void require(State wanted, String operation) throws RdmaException {
        if (state != wanted) {
            throw wrongState(operation);
        }
    }

    private RdmaException wrongState(String operation) {
        return new RdmaException(
                state == State.CLOSED || state == State.TIME_WAIT ? Errno.ECONNRESET : Errno.EINVAL,
                operation, "the connection is in state " + state);
    }

    // ---------------------------------------------------------------- for the manager

    void listen(Events newEvents) {
        events = newEvents;
    }

    int localId() {
        return localId;
    }

    int remoteId() {
        return remoteId;
    }

    int localQueuePair() {
        return localQueuePair;
    }

    int remoteQueuePair() {
        return terms.remoteQueuePair();
    }

    @Override
    public long deadlineNs() {
        return deadlineNs;
    }

    @Override
    public long order() {
        return order;
    }

    boolean isActive() {
        return isActive;
    }

    /** {@return whether the peer's identifier is known} */
    boolean knowsPeer() {
        return state != State.REQUEST_SENT;
    }

    /** {@return whether its queue pairs may be in use} */
    boolean isConnected() {
        return state == State.ESTABLISHED || state == State.REPLY_SENT
                || state == State.DISCONNECT_SENT;
    }

    State state() {
        return state;
    }

    /** {@return the largest packet both sides agreed on} */
    public Mtu mtu() {
        return terms.mtu();
    }

    /** {@return the path MTU that would do, if the peer has rejected that of the request; null if it names none} */
    public @Nullable Mtu acceptableMtu() {
        return acceptableMtu;
    }

    /** {@return the addresses of both sides} */
    public CmPeer peer() {
        return peer;
    }
}
