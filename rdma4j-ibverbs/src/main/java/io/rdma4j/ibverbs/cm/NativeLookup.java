// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.cm;

import io.rdma4j.connection.DatagramParameters;
import io.rdma4j.connection.SidrStatus;
import io.rdma4j.observe.jfr.FlightEvents;
import io.rdma4j.spi.CmLookup;
import io.rdma4j.spi.ConnectRequest;
import io.rdma4j.spi.Refusal;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.util.concurrent.atomic.AtomicReference;

/** A datagram service that is looked up by an id. */
final class NativeLookup
        implements
            CmLookup,
            NativeId.EventHandler,
            CmServices.Open,
            Route.Outcome {
    private final CmServices device;
    private final NativeId id;
    private final ConnectRequest request;
    private final Route route;
    /** Empty after the outcome was reported. */
    private final AtomicReference<@Nullable Handler> handler;

    private NativeLookup(CmServices device, NativeId id, ConnectRequest request,
            Handler handler) {
        this.device = device;
        this.id = id;
        this.request = request;
        this.handler = new AtomicReference<>(handler);
        route = new Route(device, id, this);
    }

    /** Begins to look it up. */
    static NativeLookup ask(CmServices device, ConnectRequest request, Handler handler)
            throws RdmaException {
        NativeLookup lookup = new NativeLookup(device, device.bound(request), request, handler);
        lookup.id.eventHandler(lookup);
        device.keep(lookup);
        try {
            lookup.route.find(request);
        } catch (RdmaException e) {
            lookup.close();
            throw e;
        }
        return lookup;
    }

    @Override
    public void onRoute() {
        try {
            id.connect(request.parameters(), request.queuePairNumber());
        } catch (RdmaException e) {
            onNoRoute(e.errno());
        }
    }

    @Override
    public void onNoRoute(Errno reason) {
        answer(to -> unreachable(reason, to));
    }

    @Override
    public void onEvent(IdEvent event, @Nullable NativeId none) {
        if (device.takeDeviceEvent(id, event)) {
            return;
        }
        switch (event.type()) {
            case ADDR_RESOLVED, ADDR_ERROR, ROUTE_RESOLVED, ROUTE_ERROR -> route.onEvent(event);
            case ESTABLISHED -> answer(to -> found(event.service(), to));
            case UNREACHABLE, REJECTED, CONNECT_ERROR -> answer(to -> failed(event, to));
            case OTHER -> event.reportTo(handler.get());
            case CONNECT_REQUEST, CONNECT_RESPONSE, DISCONNECTED, DEVICE_REMOVAL, MULTICAST_JOIN,
                    MULTICAST_ERROR, ADDR_CHANGE, TIMEWAIT_EXIT -> {
                // Not of a look-up.
            }
        }
    }

    private void found(DatagramParameters service, Handler to) {
        record(FlightEvents.Lookup.FOUND, service.queuePairNumber(), 0);
        to.onService(service);
    }

    /** The kernel has one event for a service that refused, with a status of SIDR, and for silence, with an error. */
    private void failed(IdEvent event, Handler to) {
        if (event.status() > 0) {
            record(FlightEvents.Lookup.REFUSED, 0, event.status());
            to.onRefused(new Refusal(event.status(), SidrStatus.text(event.status()),
                    event.privateData()));
        } else {
            unreachable(event.reason(), to);
        }
    }

    private void unreachable(Errno reason, Handler to) {
        record(FlightEvents.Lookup.UNREACHABLE, 0, 0);
        to.onUnreachable(reason);
    }

    private void record(FlightEvents.Lookup outcome, int queuePair, int status) {
        FlightEvents.serviceLookup(outcome, true, request.source(), request.destination(),
                queuePair, status);
    }

    /** A call of the handler. */
    private interface Report {
        void to(Handler handler);
    }

    private void answer(Report report) {
        Handler present = handler.getAndSet(null);
        if (present != null) {
            report.to(present);
        }
    }

    @Override
    public void close() {
        handler.set(null);
        id.destroy();
        device.forget(this);
    }
}
