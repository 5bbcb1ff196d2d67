// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.cm;

import io.rdma4j.spi.ConnectRequest;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;

/**
 * Finds the path from an id to its peer in two steps: the address, then the route. For the thread that reads events,
 * except {@link #find}.
 */
final class Route {
    private final CmServices device;
    private final NativeId id;
    private final Outcome outcome;

    /** Is notified of the outcome. */
    interface Outcome {
        /** It was found: connecting can begin. */
        void onRoute();

        /** There is no route. */
        void onNoRoute(Errno reason);
    }

    Route(CmServices device, NativeId id, Outcome outcome) {
        this.device = device;
        this.id = id;
        this.outcome = outcome;
    }

    /**
     * Begins to resolve the address.
     *
     * @throws RdmaException ENETUNREACH if the system has no route
     */
    void find(ConnectRequest request) throws RdmaException {
        id.resolveAddress(request.destination(),
                SocketAddresses.scope(request.source().getAddress()));
    }

    void onEvent(IdEvent event) {
        try {
            switch (event.type()) {
                case ADDR_RESOLVED -> {
                    device.requireHere(id, "resolve address");
                    id.resolveRoute();
                }
                case ROUTE_RESOLVED -> outcome.onRoute();
                case ADDR_ERROR, ROUTE_ERROR -> outcome.onNoRoute(event.reason());
                case CONNECT_REQUEST, CONNECT_RESPONSE, CONNECT_ERROR, UNREACHABLE, REJECTED,
                        ESTABLISHED, DISCONNECTED, DEVICE_REMOVAL, MULTICAST_JOIN, MULTICAST_ERROR,
                        ADDR_CHANGE, TIMEWAIT_EXIT, OTHER -> {
                    // Not before it is found.
                }
            }
        } catch (RdmaException e) {
            outcome.onNoRoute(e.errno());
        }
    }
}
