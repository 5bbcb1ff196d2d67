// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.state.Transitions;

import java.util.EnumSet;

/** What changes the state of an id. */
enum IdStep {
    /** It is bound to a local address. */
    BIND,
    /** That failed. */
    UNBIND,
    /** An address is resolved. */
    RESOLVE_ADDRESS,
    /** That failed, and the id is not bound. */
    ADDRESS_FAILED,
    /** That failed, and the id stays bound. */
    ADDRESS_FAILED_BOUND,
    /** The route is resolved. */
    RESOLVE_ROUTE,
    /** That failed. */
    ROUTE_FAILED,
    /** It listens. */
    LISTEN,
    /** That failed. */
    LISTEN_FAILED,
    /** It is made for a peer's request. */
    TAKE_REQUEST,
    /** A request is sent, or a service is looked up. */
    CONNECT,
    /** That failed before anything was sent. */
    CONNECT_FAILED,
    /** The request is accepted. */
    ACCEPT,
    /** That failed before anything was sent. */
    ACCEPT_FAILED,
    /** The peer has accepted, and this side has confirmed; or it has named its service. */
    ESTABLISH,
    /** The peer has confirmed; or the answer to its look-up is sent. */
    CONFIRM,
    /** The request is refused, the peer is not reached, or the connection ends. */
    END,
    /** The device is removed. */
    REMOVE,
    /** The application closes the id. */
    CLOSE;

    /** The edges. A step that is missing in a state is refused, or changes nothing: see {@link IdStateMachine}. */
    static final Transitions<IdState, IdStep> TRANSITIONS = Transitions
            .between(IdState.class, IdStep.class)
            .on(BIND, IdState.BOUND, IdState.IDLE)
            .on(UNBIND, IdState.IDLE, IdState.BOUND)
            .on(RESOLVE_ADDRESS, IdState.ADDRESS_RESOLVED,
                    EnumSet.of(IdState.IDLE, IdState.BOUND))
            .on(ADDRESS_FAILED, IdState.IDLE, IdState.ADDRESS_RESOLVED)
            .on(ADDRESS_FAILED_BOUND, IdState.BOUND, IdState.ADDRESS_RESOLVED)
            .on(RESOLVE_ROUTE, IdState.ROUTE_RESOLVED, IdState.ADDRESS_RESOLVED)
            .on(ROUTE_FAILED, IdState.ADDRESS_RESOLVED, IdState.ROUTE_RESOLVED)
            .on(LISTEN, IdState.LISTENING, IdState.BOUND)
            .on(LISTEN_FAILED, IdState.BOUND, IdState.LISTENING)
            .on(TAKE_REQUEST, IdState.REQUESTED, IdState.IDLE)
            .on(CONNECT, IdState.CONNECTING, IdState.ROUTE_RESOLVED)
            .on(CONNECT_FAILED, IdState.ROUTE_RESOLVED, IdState.CONNECTING)
            .on(ACCEPT, IdState.ACCEPTING, IdState.REQUESTED)
            .on(ACCEPT_FAILED, IdState.REQUESTED, IdState.ACCEPTING)
            .on(ESTABLISH, IdState.CONNECTED, IdState.CONNECTING)
            .on(CONFIRM, IdState.CONNECTED, IdState.ACCEPTING)
            // A device may report the end to a connect that fails at the same time.
            .on(END, IdState.ENDED,
                    EnumSet.of(IdState.ROUTE_RESOLVED, IdState.REQUESTED, IdState.CONNECTING,
                            IdState.ACCEPTING, IdState.CONNECTED))
            .on(REMOVE, IdState.REMOVED,
                    EnumSet.complementOf(EnumSet.of(IdState.REMOVED, IdState.CLOSED)))
            .on(CLOSE, IdState.CLOSED, EnumSet.complementOf(EnumSet.of(IdState.CLOSED))).build();
}
