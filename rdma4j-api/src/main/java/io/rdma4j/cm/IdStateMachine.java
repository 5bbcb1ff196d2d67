// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaClosedException;
import io.rdma4j.verbs.RdmaException;

import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The state of an id, which changes by the edges of {@link IdStep}, and by compare-and-set alone, since devices change it too and
 * must not wait.
 */
final class IdStateMachine {
    private final AtomicReference<IdState> state = new AtomicReference<>(IdState.IDLE);

    IdState now() {
        return Objects.requireNonNull(state.get());
    }

    boolean is(IdState wanted) {
        return now() == wanted;
    }

    /** Takes a step, or refuses it by an error that says what is in order. */
    void require(IdStep step, String operation) throws RdmaException {
        if (!take(step)) {
            throw wrong(operation);
        }
    }

    /** Takes a step. {@return false if it is none in the present state, which stays} */
    boolean take(IdStep step) {
        while (true) {
            IdState now = now();
            IdState next = IdStep.TRANSITIONS.next(now, step);
            if (next == null) {
                return false;
            }
            if (state.compareAndSet(now, next)) {
                return true;
            }
        }
    }

    /** @throws RdmaClosedException if the id is closed; for the program that uses it */
    void requireUsable() throws RdmaClosedException {
        if (is(IdState.CLOSED)) {
            throw new RdmaClosedException("use id", IdState.CLOSED.hint());
        }
    }

    /** @throws IllegalStateException if the id is closed; for its parts, as {@link #closed()} */
    void requireOpen() {
        if (is(IdState.CLOSED)) {
            throw closed();
        }
    }

    /**
     * {@return the end of a step that {@link CmId#close} has overtaken, or that comes after it} Unchecked, so that no part
     * takes it for a failure of a device; the id makes {@link #closed(Exception)} of it.
     */
    static IllegalStateException closed() {
        return new IllegalStateException(IdState.CLOSED.hint());
    }

    /** {@return what the application gets, of a step that failed for a reason that no longer matters} */
    static RdmaClosedException closed(Exception reason) {
        return new RdmaClosedException("use id", IdState.CLOSED.hint(),
                IdState.CLOSED.hint().equals(reason.getMessage()) ? null : reason);
    }

    /**
     * {@return the refusal of a step that is about a request or a connection}
     *
     * @param missing what to say of an id that has had neither: what it lacks, and what brings that
     */
    RdmaException wrong(String operation, String missing) {
        return switch (now()) {
            case IDLE, BOUND, ADDRESS_RESOLVED, ROUTE_RESOLVED ->
                new RdmaException(Errno.EINVAL, operation, missing);
            case LISTENING, REQUESTED, CONNECTING, ACCEPTING, CONNECTED, ENDED, REMOVED, CLOSED ->
                wrong(operation);
        };
    }

    /** {@return the refusal of a step that is out of order} */
    RdmaException wrong(String operation) {
        requireOpen();
        IdState now = now();
        return new RdmaException(now == IdState.REMOVED ? Errno.ENODEV : Errno.EINVAL, operation,
                now.hint());
    }
}
