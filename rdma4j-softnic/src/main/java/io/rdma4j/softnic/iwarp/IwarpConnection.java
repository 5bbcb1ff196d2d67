package io.rdma4j.softnic.iwarp;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.protocol.iwarp.MpaAnswer;
import io.rdma4j.protocol.iwarp.MpaInitiator;
import io.rdma4j.protocol.iwarp.MpaResponder;
import io.rdma4j.protocol.iwarp.MpaSettings;
import io.rdma4j.protocol.iwarp.ReadyToReceive;
import io.rdma4j.protocol.iwarp.StreamParameters;
import io.rdma4j.protocol.iwarp.wire.MpaFrame;
import io.rdma4j.protocol.iwarp.wire.OutgoingFpdu;
import io.rdma4j.protocol.iwarp.wire.TerminateCause;
import io.rdma4j.softnic.engine.EngineDriver;
import io.rdma4j.softnic.network.stream.Stream;
import io.rdma4j.softnic.observe.jfr.FlightEvents;
import io.rdma4j.softnic.verbs.TransportHost;
import io.rdma4j.spi.CmConnection;
import io.rdma4j.spi.CmOptions;
import io.rdma4j.spi.ConnectRequest;
import io.rdma4j.spi.QueuePairBringUp;
import io.rdma4j.spi.Refusal;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/**
 * A connection, from its set-up to its end. Its methods for applications run as the engine's owner.
 *
 * <p>The initiator's side: a TCP connection, a request, a reply; then the queue pair has the stream. The responder's: a request,
 * which the application answers; then likewise.
 */
final class IwarpConnection implements CmConnection, StreamConnection.User {
    private static final MpaSettings SETTINGS = MpaSettings.USUAL;
    /** As long as Linux's siw waits. */
    private static final long REPLY_PATIENCE_NS = 10_000_000_000L;
    private static final long REQUEST_PATIENCE_NS = 5_000_000_000L;
    private static final byte[] NOTHING = {};

    private enum State {
        /** The initiator waits for TCP, or for the reply. */
        CALLING,
        /** The responder waits for the request. */
        LISTENING,
        /** The responder's application has not answered. */
        ASKED,
        /** The responder has accepted, and waits for the initiator's first unit. */
        ACCEPTED,
        /** The queue pair has the stream. */
        ESTABLISHED,
        /** The application wants it to end. */
        LEAVING,
        /** Nothing more is heard of it. */
        OVER
    }

    private final IwarpLink link;
    private final TransportHost host;
    private final @Nullable MpaInitiator initiator;
    private final @Nullable IwarpListener listener;
    private final long setUpEndsNs;
    private @Nullable MpaResponder responder;
    private @Nullable StreamConnection stream;
    private @Nullable StreamQueuePair queuePair;
    private @Nullable Handler handler;
    private State state;
    private int queuePairNumber;

    private IwarpConnection(IwarpLink link, TransportHost host, @Nullable MpaInitiator initiator,
            @Nullable IwarpListener listener) {
        this.link = link;
        this.host = host;
        this.initiator = initiator;
        this.listener = listener;
        state = initiator == null ? State.LISTENING : State.CALLING;
        setUpEndsNs = link.engine().timeNs()
                + (initiator == null ? REQUEST_PATIENCE_NS : REPLY_PATIENCE_NS);
    }

    /** Asks for a connection; the answer comes to the handler. */
    static IwarpConnection ask(IwarpLink link, TransportHost host, ConnectRequest request,
            Handler handler) throws RdmaException {
        IwarpConnection connection = new IwarpConnection(link, host,
                new MpaInitiator(SETTINGS, request.parameters()), null);
        connection.handler = handler;
        connection.queuePairNumber = request.queuePairNumber();
        connection.requireQueuePair();
        connection.stream = StreamConnection.connecting(link, connection,
                heard -> link.network().connect(request.source(), request.destination(), heard));
        link.awaitSetUp(connection);
        return connection;
    }

    /** A TCP connection was accepted. */
    static void accepted(IwarpLink link, TransportHost host, Stream stream,
            IwarpListener listener) {
        IwarpConnection connection = new IwarpConnection(link, host, null, listener);
        StreamConnection bytes = new StreamConnection(link, stream, connection);
        connection.stream = bytes;
        stream.handler(bytes);
        link.awaitSetUp(connection);
    }

    boolean isInitiator() {
        return initiator != null;
    }

    /** {@return when it shall have been set up} */
    long setUpEndsNs() {
        return setUpEndsNs;
    }

    private EngineDriver driver() {
        return host.driver();
    }

    private StreamConnection stream() {
        StreamConnection present = stream;
        if (present == null) {
            throw new IllegalStateException("there is no stream yet");
        }
        return present;
    }

    private StreamQueuePair requireQueuePair() throws RdmaException {
        if (link.engine().find(queuePairNumber) instanceof StreamQueuePair found
                && found.isFree()) {
            return found;
        }
        throw new RdmaException(Errno.EINVAL, "connect", String.format(
                "queue pair 0x%06x is none of this device in state INIT without a connection",
                queuePairNumber));
    }

    private void record(FlightEvents.Outcome outcome, int reason) {
        FlightEvents.connection(outcome, stream().local(), stream().remote(), queuePairNumber,
                reason);
    }

    // ---------------------------------------------------------------- setting up

    @Override
    public void onConnected() {
        if (initiator != null) {
            stream().send(ByteBuffer.wrap(initiator.request().bytes()));
        }
    }

    @Override
    public void onRefused(Errno reason) {
        if (reason == Errno.ECONNREFUSED) {
            refused(new Refusal(-reason.number(), "nobody listens there", NOTHING));
        } else {
            unreachable(reason);
        }
    }

    /** The peer has not answered, or not asked, in time. */
    void onSetUpTooLong() {
        stream().reset();
        if (state == State.CALLING) {
            unreachable(Errno.ETIMEDOUT);
        } else {
            over();
        }
    }

    @Override
    public long onBytes(MemorySegment memory, long offset, long available) {
        boolean isReply = state == State.CALLING;
        if (!isReply && state != State.LISTENING) {
            // Nobody may speak before the application has answered.
            withdrawn();
            return available;
        }
        int length = MpaFrame.lengthOf(memory, offset, available, isReply);
        if (length == MpaFrame.NOT_A_FRAME) {
            nonsense();
            return available;
        }
        if (length == 0 || length > available) {
            return 0;
        }
        MpaFrame frame = MpaFrame.of(memory, offset, isReply);
        link.forgetSetUp(this);
        if (initiator == null) {
            onRequest(frame);
        } else {
            onReply(initiator.onReply(frame));
        }
        return length;
    }

    private void nonsense() {
        link.forgetSetUp(this);
        if (state == State.CALLING) {
            terminate(TerminateCause.INVALID_FRAME);
            refused(new Refusal(-Errno.ECONNRESET.number(), "the peer does not speak MPA",
                    NOTHING));
        } else {
            stream().close();
            over();
        }
    }

    private void terminate(TerminateCause cause) {
        OutgoingFpdu unit = new OutgoingFpdu().terminate(cause, null);
        MemorySegment bytes = MemorySegment.ofArray(new byte[unit.length()]);
        unit.copyTo(bytes, 0, null);
        stream().send(bytes.asByteBuffer());
        stream().close();
    }

    private void onReply(MpaAnswer answer) {
        switch (answer) {
            case MpaAnswer.Accepted accepted -> onAccepted(accepted);
            case MpaAnswer.Rejected rejected -> {
                stream().close();
                refused(new Refusal(-Errno.ECONNRESET.number(), "rejected by the peer",
                        rejected.privateData()));
            }
            case MpaAnswer.Unusable unusable -> {
                if (unusable.cause() != null) {
                    terminate(unusable.cause());
                }
                stream().reset();
                refused(new Refusal(-Errno.ECONNREFUSED.number(), unusable.reason(), NOTHING));
            }
        }
    }

    private void onAccepted(MpaAnswer.Accepted accepted) {
        StreamParameters agreed = accepted.parameters();
        StreamQueuePair own;
        try {
            own = requireQueuePair();
        } catch (RdmaException gone) {
            stream().reset();
            unreachable(Errno.ECONNRESET);
            return;
        }
        queuePair = own;
        state = State.ESTABLISHED;
        own.connect(this, stream(), agreed);
        record(FlightEvents.Outcome.ESTABLISHED, 0);
        tell().onEstablished(new ConnectionParameters().privateData(accepted.privateData())
                .responderResources(agreed.inboundReads()).initiatorDepth(agreed.outboundReads()));
    }

    private void onRequest(MpaFrame frame) {
        IwarpListener at = listener;
        if (at == null || !MpaResponder.isKnown(frame)) {
            stream().close();
            over();
            return;
        }
        MpaResponder asked = new MpaResponder(SETTINGS, frame);
        MpaFrame refusal = asked.refusal();
        responder = asked;
        if (refusal != null || !at.takePlace()) {
            reply(refusal == null ? asked.rejection(NOTHING) : refusal);
            stream().close();
            over();
            return;
        }
        state = State.ASKED;
        handler = at.ask(this, stream().local(), stream().remote(),
                new ConnectionParameters().privateData(asked.privateData())
                        .responderResources(asked.inboundReads())
                        .initiatorDepth(asked.outboundReads()));
    }

    private void reply(@Nullable MpaFrame frame) {
        if (frame != null) {
            stream().send(ByteBuffer.wrap(frame.bytes()));
        }
    }

    @Override
    public void onRoom() {
        // A frame is all that is sent.
    }

    @Override
    public void onEnd() {
        link.forgetSetUp(this);
        switch (state) {
            case CALLING -> refused(new Refusal(-Errno.ECONNRESET.number(),
                    "the peer has closed the connection", NOTHING));
            case ASKED -> withdrawn();
            default -> over();
        }
    }

    /** The initiator does not want the connection any more that it has asked for. */
    private void withdrawn() {
        stream().reset();
        Handler present = handler;
        boolean isHeard = state == State.ASKED;
        over();
        if (isHeard && present != null) {
            present.onUnreachable(Errno.ECONNRESET);
        }
    }

    private void refused(Refusal refusal) {
        record(FlightEvents.Outcome.REJECTED, refusal.code());
        Handler present = handler;
        over();
        if (present != null) {
            present.onRefused(refusal);
        }
    }

    private void unreachable(Errno reason) {
        record(FlightEvents.Outcome.UNREACHABLE, 0);
        Handler present = handler;
        over();
        if (present != null) {
            present.onUnreachable(reason);
        }
    }

    private void over() {
        leavePlace();
        state = State.OVER;
        link.forgetSetUp(this);
    }

    private void leavePlace() {
        if (listener != null && state == State.ASKED) {
            listener.leavePlace();
        }
    }

    private Handler tell() {
        Handler present = handler;
        if (present == null) {
            throw new IllegalStateException("nobody hears of this connection");
        }
        return present;
    }

    // ---------------------------------------------------------------- what the queue pair tells

    /** The initiator's first unit has arrived. */
    void onPeerReady() {
        if (state == State.ACCEPTED) {
            established();
        }
    }

    private void established() {
        state = State.ESTABLISHED;
        record(FlightEvents.Outcome.ESTABLISHED, 0);
        tell().onEstablished(null);
    }

    /** The stream of the queue pair has ended, from whichever side. */
    void onEnded() {
        State before = state;
        state = State.OVER;
        Handler present = handler;
        if (present == null || before == State.OVER) {
            return;
        }
        if (before == State.ACCEPTED) {
            record(FlightEvents.Outcome.UNREACHABLE, 0);
            present.onUnreachable(Errno.ECONNRESET);
            return;
        }
        record(FlightEvents.Outcome.DISCONNECTED, 0);
        present.onDisconnected();
        // TCP sees to it that nothing late arrives; programs wait for the word.
        present.onTimewaitExit();
    }

    // ---------------------------------------------------------------- what applications ask

    @Override
    public QueuePairBringUp bringUp(ConnectionParameters own, CmOptions options) {
        return IwarpBringUp.BY_CONNECTION;
    }

    @Override
    public void accept(ConnectionParameters parameters, int ownQueuePair) throws RdmaException {
        driver().call(nowNs -> {
            MpaResponder asked = requireAsked("accept");
            queuePairNumber = ownQueuePair;
            StreamQueuePair own = requireQueuePair();
            StreamParameters agreed = asked.parameters(parameters);
            leavePlace();
            reply(asked.acceptance(agreed, parameters.privateData()));
            queuePair = own;
            state = State.ACCEPTED;
            own.connect(this, stream(), agreed);
            if (agreed.readyToReceive() == ReadyToReceive.NONE) {
                established();
            }
            return this;
        });
    }

    private MpaResponder requireAsked(String operation) throws RdmaException {
        MpaResponder asked = responder;
        if (state == State.OVER && asked != null && queuePair == null) {
            throw new RdmaException(Errno.ECONNRESET, operation,
                    "the peer has withdrawn its request");
        }
        if (state != State.ASKED || asked == null) {
            throw new RdmaException(Errno.EINVAL, operation,
                    "there is no request that is not answered");
        }
        return asked;
    }

    @Override
    public void establish() throws RdmaException {
        throw new RdmaException(Errno.EINVAL, "establish",
                "connections of iWARP are established when the peer accepts");
    }

    @Override
    public void communicationEstablished() {
        // What the peer says here cannot be lost.
    }

    @Override
    public void reject(Refusal.Cause cause, byte[] privateData) throws RdmaException {
        driver().call(nowNs -> {
            reply(requireAsked("reject").rejection(privateData));
            stream().close();
            record(FlightEvents.Outcome.REJECTED, 0);
            over();
            return this;
        });
    }

    @Override
    public void disconnect() throws RdmaException {
        driver().call(nowNs -> {
            StreamQueuePair own = queuePair;
            if (own == null) {
                throw new RdmaException(Errno.EINVAL, "disconnect", "it is not connected");
            }
            if (state == State.ESTABLISHED || state == State.ACCEPTED) {
                state = State.LEAVING;
                own.disconnect();
            }
            return this;
        });
    }

    @Override
    public void close() {
        driver().run(nowNs -> {
            handler = null;
            switch (state) {
                case ASKED -> {
                    MpaResponder asked = responder;
                    if (asked != null) {
                        reply(asked.rejection(NOTHING));
                    }
                    stream().close();
                    over();
                }
                case CALLING, LISTENING -> {
                    stream().reset();
                    over();
                }
                case ACCEPTED, ESTABLISHED -> {
                    StreamQueuePair own = queuePair;
                    state = State.LEAVING;
                    if (own != null) {
                        own.disconnect();
                    }
                }
                case LEAVING, OVER -> {
                    // It ends by itself.
                }
            }
        });
    }
}
