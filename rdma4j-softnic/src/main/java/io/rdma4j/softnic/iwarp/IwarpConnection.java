// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.iwarp;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.observe.jfr.FlightEvents;
import io.rdma4j.protocol.iwarp.StreamParameters;
import io.rdma4j.protocol.iwarp.wire.MpaFrame;
import io.rdma4j.softnic.engine.EngineDriver;
import io.rdma4j.softnic.network.stream.Stream;
import io.rdma4j.softnic.verbs.TransportHost;
import io.rdma4j.spi.CmConnection;
import io.rdma4j.spi.CmOptions;
import io.rdma4j.spi.QueuePairBringUp;
import io.rdma4j.state.Transitions;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.EnumSet;

/**
 * A connection, from its set-up to its end. Methods for applications run as the engine's owner; only the owner may call the
 * others.
 *
 * <p>During the set-up the connection handles the bytes of the stream ({@link InitiatorConnection},
 * {@link ResponderConnection}); afterwards the queue pair does, and reports the end to it.
 */
abstract class IwarpConnection implements CmConnection, StreamConnection.User {
    static final byte[] NOTHING = {};

    /** The state of the connection. */
    enum State {
        /** A frame is waited for. */
        SETTING_UP,
        /** The responder's application has not answered. */
        ASKED,
        /** The responder has accepted, and waits for the initiator's first unit. */
        ACCEPTED,
        /** The application was notified that it is established. */
        ESTABLISHED,
        /** The application disconnects. */
        LEAVING,
        /** It has ended; it reports nothing more. */
        OVER
    }

    /** What changes the state. */
    enum Step {
        /** The initiator's frame has arrived, and the application is asked. */
        ASK,
        /** The responder's application accepts. */
        ACCEPT,
        /** The responder has accepted; or the initiator has sent its first unit, or need not send one. */
        ESTABLISH,
        /** The application disconnects, or closes its queue pair. */
        LEAVE,
        /** It is refused or reset, takes too long, or has ended. */
        END
    }

    /** Source: RFC 5044 7, RFC 6581 9. */
    static final Transitions<State, Step> TRANSITIONS = Transitions.between(State.class, Step.class)
            .on(Step.ASK, State.ASKED, State.SETTING_UP)
            .on(Step.ACCEPT, State.ACCEPTED, State.ASKED)
            .on(Step.ESTABLISH, State.ESTABLISHED, EnumSet.of(State.SETTING_UP, State.ACCEPTED))
            .on(Step.LEAVE, State.LEAVING, EnumSet.of(State.ACCEPTED, State.ESTABLISHED))
            .on(Step.END, State.OVER, EnumSet.allOf(State.class)).build();

    private final IwarpLink link;
    private final TransportHost host;
    private final StreamConnection stream;
    private long waitEndsNs;
    private @Nullable Handler handler;
    private @Nullable StreamQueuePair queuePair;
    private int queuePairNumber;
    private State state = State.SETTING_UP;
    private Errno endedBy = Errno.ECONNRESET;

    /**
     * @param queuePairNumber the number of the queue pair to connect, 0 if it is not known yet
     * @param patienceNs how long to wait for the peer's frame
     */
    IwarpConnection(IwarpLink link, TransportHost host, Stream stream, int queuePairNumber,
            long patienceNs) {
        this.link = link;
        this.host = host;
        this.queuePairNumber = queuePairNumber;
        this.stream = new StreamConnection(link, stream, this);
        beginWait(patienceNs);
        link.awaitSetUp(this);
    }

    /** The peer is waited for from now on. */
    final void beginWait(long patienceNs) {
        waitEndsNs = link.engine().timeNs() + patienceNs;
    }

    /** {@return whether this side requested the connection} */
    abstract boolean isInitiator();

    /** {@return until when the peer is waited for} */
    final long waitEndsNs() {
        return waitEndsNs;
    }

    /** Called when the peer has not sent anything in time, or not accepted what was sent. */
    final void onTooLong() {
        if (state == State.LEAVING) {
            abort(Errno.ETIMEDOUT);
        } else {
            onSetUpTooLong();
        }
    }

    /** Called when the peer has not sent its frame in time. */
    abstract void onSetUpTooLong();

    /** The frame has arrived that was waited for. */
    abstract void onFrame(MpaFrame frame);

    /** Called when the received bytes are not a frame. */
    abstract void onNonsense();

    /** {@return the number of its queue pair} */
    final int queuePairNumber() {
        return queuePairNumber;
    }

    final EngineDriver driver() {
        return host.driver();
    }

    final IwarpLink link() {
        return link;
    }

    final StreamConnection stream() {
        return stream;
    }

    final State state() {
        return state;
    }

    final void take(Step step) {
        state = TRANSITIONS.after(state, step);
    }

    final @Nullable Handler handler() {
        return handler;
    }

    /** Sets the handler of its events. */
    final void handler(Handler next) {
        handler = next;
    }

    final void record(FlightEvents.Outcome outcome, int reason) {
        FlightEvents.connection(outcome, stream.local(), stream.remote(), queuePairNumber, reason);
    }

    // ---------------------------------------------------------------- setting up

    @Override
    public final long onBytes(MemorySegment memory, long offset, long available) {
        if (state != State.SETTING_UP) {
            onEarlyBytes();
            return available;
        }
        int length = MpaFrame.lengthOf(memory, offset, available, isInitiator());
        if (length == MpaFrame.NOT_A_FRAME) {
            link.forgetWait(this);
            onNonsense();
            return available;
        }
        if (length == 0 || length > available) {
            return 0;
        }
        link.forgetWait(this);
        onFrame(MpaFrame.of(memory, offset, isInitiator()));
        if (state == State.ASKED && length < available) {
            onEarlyBytes();
            return available;
        }
        return length;
    }

    /** Called when the peer sends although it has to wait for an answer. */
    abstract void onEarlyBytes();

    final void send(MpaFrame frame) {
        stream.send(ByteBuffer.wrap(frame.bytes()));
    }

    @Override
    public final void onRoom() {
        // A frame is all that is sent.
    }

    /** {@return the queue pair of a number, if it can be connected} */
    static StreamQueuePair connectable(IwarpLink link, String operation, int number)
            throws RdmaException {
        if (link.engine().find(number) instanceof StreamQueuePair found && found.isFree()) {
            return found;
        }
        throw new RdmaException(Errno.EINVAL, operation, String.format(
                "queue pair 0x%06x is none of this device in state INIT without a connection",
                number));
    }

    /** The stream is the queue pair's from now on. */
    final void give(StreamQueuePair own, StreamParameters agreed) {
        queuePair = own;
        queuePairNumber = own.number();
        own.connect(this, stream, agreed);
    }

    // ---------------------------------------------------------------- the end

    /** The connection could not be established. */
    final void unreachable(Errno reason) {
        record(FlightEvents.Outcome.UNREACHABLE, 0);
        Handler present = handler;
        over();
        if (present != null) {
            present.onUnreachable(reason);
        }
    }

    /** Its queue pair, which has the stream, ends it at once. */
    final void abort(Errno reason) {
        StreamQueuePair own = queuePair;
        endedBy = reason;
        if (own != null) {
            own.abort();
        }
    }

    /** It has ended; it reports nothing more. */
    void over() {
        take(Step.END);
        link.forgetWait(this);
    }

    /** Called when the queue pair has received the peer's first unit. */
    abstract void onPeerReady();

    /** The stream of the queue pair has ended, from whichever side. */
    final void onEnded() {
        State before = state;
        Handler present = handler;
        if (before == State.ACCEPTED) {
            unreachable(endedBy);
            return;
        }
        over();
        if (present == null || before == State.OVER) {
            return;
        }
        record(FlightEvents.Outcome.DISCONNECTED, 0);
        if (host.isGone()) {
            // Its id is told that, as with all other devices, and not that a peer has ended the connection.
            return;
        }
        present.onDisconnected();
        // With TCP nothing arrives late, but programs wait for this event.
        present.onTimewaitExit();
    }

    // ---------------------------------------------------------------- what applications ask

    @Override
    public final QueuePairBringUp bringUp(ConnectionParameters own, CmOptions options) {
        return IwarpBringUp.BY_CONNECTION;
    }

    @Override
    public final void establish() throws RdmaException {
        throw new RdmaException(Errno.EINVAL, "establish",
                "connections of iWARP are established when the peer accepts");
    }

    @Override
    public final void communicationEstablished() {
        // Nothing that the peer sends here can be lost.
    }

    @Override
    public final void disconnect() throws RdmaException {
        driver().call(nowNs -> {
            if (queuePair == null) {
                throw new RdmaException(Errno.EINVAL, "disconnect", "it is not connected");
            }
            leave();
            return this;
        });
    }

    private void leave() {
        StreamQueuePair own = queuePair;
        if (own != null && (state == State.ESTABLISHED || state == State.ACCEPTED)) {
            onLeaving();
            own.disconnect();
        }
    }

    /** The queue pair ends the connection once what was posted has been sent, for which it has a while. */
    final void onLeaving() {
        if (state == State.ESTABLISHED || state == State.ACCEPTED) {
            take(Step.LEAVE);
            link.forgetWait(this);
            beginWait(link.settings().patience().lingerNs());
            link.awaitLeaving(this);
        }
    }

    @Override
    public final void close() {
        driver().run(nowNs -> {
            handler = null;
            switch (state) {
                case SETTING_UP -> {
                    stream.reset();
                    over();
                }
                case ASKED -> refuse(NOTHING);
                case ACCEPTED, ESTABLISHED -> leave();
                case LEAVING, OVER -> {
                    // It ends by itself.
                }
            }
        });
    }

    /** Rejects the request. */
    abstract void refuse(byte[] privateData);
}
