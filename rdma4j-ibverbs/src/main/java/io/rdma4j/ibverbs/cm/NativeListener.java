// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.cm;

import io.rdma4j.spi.CmListener;
import io.rdma4j.spi.ListenRequest;
import io.rdma4j.spi.UnknownEvents;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.StandardProtocolFamily;
import java.util.ArrayList;
import java.util.List;

/**
 * A listener at a port of one address, or of all addresses of all native devices. Requests that the handler was
 * notified of belong to it, even after the listener is closed; the kernel rejects all later ones.
 */
final class NativeListener implements CmListener, NativeId.EventHandler, CmServices.Open {
    private static final System.Logger LOG = System.getLogger(NativeListener.class.getName());

    private final CmServices device;
    private final List<NativeId> ids;
    private final ListenRequest request;
    private final RequestReport requests;
    private final UnknownEvents others;
    /** For the thread that reads events. */
    private final List<Asked> unanswered = new ArrayList<>();
    private volatile boolean isClosed;

    /** A request that the handler was notified of. */
    interface Asked {
        /** {@return whether it was not answered} */
        boolean isUnanswered();
    }

    /** Notifies the application of a request. */
    interface RequestReport {
        /** @throws RdmaException EIO if the request is invalid */
        Asked report(CmServices device, NativeId request, IdEvent event)
                throws RdmaException;
    }

    private NativeListener(CmServices device, List<NativeId> ids, ListenRequest request,
            RequestReport requests, UnknownEvents others) {
        this.device = device;
        this.ids = ids;
        this.request = request;
        this.requests = requests;
        this.others = others;
    }

    /**
     * Begins to listen.
     *
     * @param others notified of events without a name here
     */
    static NativeListener start(CmServices device, ListenRequest request, RequestReport requests,
            UnknownEvents others) throws RdmaException {
        BoundIds bound = device.ids(request.space(), request.type(), request.reservation(),
                CmServices.place(request, Inet4Address.ofLiteral("0.0.0.0")));
        List<NativeId> ids = bound.all();
        NativeListener listener = new NativeListener(device, ids, request, requests, others);
        try {
            if (request.address() != null) {
                device.requireHere(bound.first(), "listen");
            }
            ids.forEach(each -> each.eventHandler(listener));
            device.keep(listener);
            for (NativeId each : ids) {
                each.listen(request.backlog());
            }
            return listener;
        } catch (RdmaException e) {
            listener.close();
            throw e;
        }
    }

    @Override
    public void onEvent(IdEvent event, @Nullable NativeId asking) {
        if (asking == null) {
            onEvent(event);
            return;
        }
        RdmaException obstacle = null;
        try {
            CmServices via = device.ofDevice(asking.deviceName(), request.devices());
            obstacle = obstacle(via, asking);
            if (via != null && obstacle == null) {
                unanswered.add(requests.report(via, asking, event));
                return;
            }
        } catch (RdmaException e) {
            obstacle = e;
        }
        LOG.log(System.Logger.Level.DEBUG, "a request was rejected: {0}",
                obstacle == null ? "" : obstacle.getMessage());
        asking.destroy();
    }

    /** An event of the listener itself. */
    private void onEvent(IdEvent event) {
        boolean isOfDevice = device.takeDeviceEvent(ids.getFirst(), event);
        if (!isOfDevice && event.type() == EventType.OTHER) {
            event.reportTo(others);
        }
    }

    /** {@return why a request is not reported, null if it is} */
    private @Nullable RdmaException obstacle(@Nullable CmServices via, NativeId asking)
            throws RdmaException {
        unanswered.removeIf(each -> !each.isUnanswered());
        if (isClosed) {
            return refusal("nobody listens any more");
        }
        if (via == null) {
            return refusal("it came by the device " + asking.deviceName()
                    + ", on which the id does not listen");
        }
        if (!isServed(asking.local("listen").getAddress())) {
            return refusal("it came by the other IP version");
        }
        return unanswered.size() >= request.backlog()
                ? refusal("as many as the backlog allows wait for an answer")
                : null;
    }

    private static RdmaException refusal(String why) {
        return new RdmaException(Errno.ECONNREFUSED, "listen", why);
    }

    private boolean isServed(InetAddress local) {
        StandardProtocolFamily family = request.family();
        return family == null || request.address() != null
                || (local instanceof Inet6Address) == (family == StandardProtocolFamily.INET6);
    }

    @Override
    public void close() {
        isClosed = true;
        ids.forEach(NativeId::destroy);
        device.forget(this);
    }
}
