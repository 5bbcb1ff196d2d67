// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.iwarp;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.spi.CmConnection;
import io.rdma4j.spi.Refusal;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.util.Objects;

/** A connection of a test, which checks that its events come in order and once. */
final class ReportedConnection implements CmConnection.Handler {
    private enum State {
        /** This side has asked, or was asked. */
        ASKED,
        /** This side has accepted. */
        ACCEPTED,
        ESTABLISHED,
        DISCONNECTED,
        OVER
    }

    private final boolean isInitiator;
    private State state = State.ASKED;
    private boolean isClosed;
    private @Nullable String fault;
    @Nullable
    CmConnection connection;

    ReportedConnection(@Nullable CmConnection connection, boolean isInitiator) {
        this.connection = connection;
        this.isInitiator = isInitiator;
    }

    CmConnection connection() {
        return Objects.requireNonNull(connection);
    }

    /** {@return whether the application has it and it has not ended} */
    boolean isHeld() {
        return state != State.OVER && !isClosed;
    }

    /** {@return whether the peer's answer or first message is waited for} */
    boolean waitsForPeer() {
        return !isClosed && (state == State.ACCEPTED || (isInitiator && state == State.ASKED));
    }

    /** Thrown here, not in a handler, from where it would not get far. */
    void check() {
        if (fault != null) {
            throw new AssertionError(fault);
        }
    }

    private void event(String name, State next, State... after) {
        boolean isDue = false;
        for (State each : after) {
            isDue |= each == state;
        }
        if (fault == null && (!isDue || isClosed)) {
            fault = name + " in state " + state + (isClosed ? ", closed" : "");
        }
        state = next;
    }

    void accept(ConnectionParameters parameters, int queuePair) throws RdmaException {
        connection().accept(parameters, queuePair);
        event("accept", State.ACCEPTED, State.ASKED);
    }

    void reject(byte[] privateData) throws RdmaException {
        connection().reject(privateData);
        event("reject", State.OVER, State.ASKED);
    }

    void close() {
        isClosed = true;
        if (connection != null) {
            connection.close();
        }
    }

    @Override
    public void onReply(CmConnection of, ConnectionParameters parameters) {
        fault = "iWARP has no replies to confirm";
    }

    @Override
    public void onEstablished(@Nullable ConnectionParameters parameters) {
        event("established", State.ESTABLISHED, isInitiator ? State.ASKED : State.ACCEPTED);
    }

    @Override
    public void onRefused(Refusal refusal) {
        event("refused", State.OVER, State.ASKED);
    }

    @Override
    public void onUnreachable(Errno reason) {
        event("unreachable " + reason, State.OVER, State.ASKED, State.ACCEPTED);
    }

    @Override
    public void onDisconnected() {
        event("disconnected", State.DISCONNECTED, State.ESTABLISHED, State.ACCEPTED);
    }

    @Override
    public void onTimewaitExit() {
        event("over", State.OVER, State.DISCONNECTED);
    }
}
