// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.net.InetSocketAddress;
import java.time.Duration;

/** The steps that resolve an id's address and route, and their outcomes. */
final class IdRoute {
    private final IdStateMachine states;
    private final IdEvents events;
    private final IdAddresses addresses;

    IdRoute(IdStateMachine states, IdEvents events, IdAddresses addresses) {
        this.states = states;
        this.events = events;
        this.addresses = addresses;
    }

    void bind(InetSocketAddress address) throws RdmaException {
        bind(address, null);
    }

    private void bind(InetSocketAddress address, @Nullable InetSocketAddress destination)
            throws RdmaException {
        checkResolved(address, "bind address");
        states.require(IdStep.BIND, "bind address");
        try {
            addresses.bind(address, destination);
        } catch (RdmaException | RuntimeException e) {
            states.take(IdStep.UNBIND);
            throw e;
        }
    }

    void resolveAddress(@Nullable InetSocketAddress source, InetSocketAddress destination,
            Duration timeout) throws RdmaException {
        checkResolved(destination, "resolve address");
        checkTimeout(timeout);
        // An id that is bound keeps its address, as Linux has it.
        boolean isBoundHere = false;
        if (source != null && !states.is(IdState.BOUND)) {
            bind(source, destination);
            isBoundHere = true;
        }
        IdState from = states.is(IdState.BOUND) ? IdState.BOUND : IdState.IDLE;
        states.require(IdStep.RESOLVE_ADDRESS, "resolve address");
        try {
            addresses.resolve(destination);
            states.requireOpen();
            events.publish(CmEventType.ADDR_RESOLVED, EventDetails.NONE);
        } catch (RdmaException e) {
            unresolve(isBoundHere, from);
            failed(CmEventType.ADDR_ERROR, e);
            return;
        } catch (RuntimeException e) {
            unresolve(isBoundHere, from);
            throw e;
        }
        events.complete("resolve address", CmEventType.ADDR_RESOLVED);
    }

    private void unresolve(boolean isBoundHere, IdState from) {
        if (isBoundHere) {
            // The caller may try again with the same source.
            addresses.unbind();
        }
        states.take(isBoundHere || from == IdState.IDLE
                ? IdStep.ADDRESS_FAILED
                : IdStep.ADDRESS_FAILED_BOUND);
    }

    void resolveRoute(Duration timeout) throws RdmaException {
        checkTimeout(timeout);
        states.require(IdStep.RESOLVE_ROUTE, "resolve route");
        try {
            addresses.checkRoute();
            states.requireOpen();
            events.publish(CmEventType.ROUTE_RESOLVED, EventDetails.NONE);
        } catch (RdmaException e) {
            states.take(IdStep.ROUTE_FAILED);
            failed(CmEventType.ROUTE_ERROR, e);
            return;
        }
        events.complete("resolve route", CmEventType.ROUTE_RESOLVED);
    }

    /** A step failed: a synchronous id throws, an asynchronous one reports. */
    private void failed(CmEventType type, RdmaException failure) throws RdmaException {
        if (events.isSynchronous()) {
            throw failure;
        }
        events.publish(type, EventDetails.failure(failure));
    }

    private static void checkResolved(InetSocketAddress address, String operation)
            throws RdmaException {
        if (address.isUnresolved()) {
            throw new RdmaException(Errno.EHOSTUNREACH, operation,
                    "unknown host '" + address.getHostString() + "'");
        }
    }

    private static void checkTimeout(Duration timeout) {
        if (timeout.isNegative()) {
            throw new IllegalArgumentException("a time-out cannot be " + timeout);
        }
    }
}
