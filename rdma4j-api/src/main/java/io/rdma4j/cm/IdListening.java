package io.rdma4j.cm;

import io.rdma4j.spi.CmConnection;
import io.rdma4j.spi.CmListener;
import io.rdma4j.spi.ListenCall;
import io.rdma4j.spi.WaitingRoom;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;

/** The devices an id listens on: one, or for a wildcard address all that can be opened. */
final class IdListening {
    private static final System.Logger LOG = System.getLogger(IdListening.class.getName());
    private final List<CmListener> listeners = new ArrayList<>();
    private final List<DeviceLease> leases = new ArrayList<>();
    private final CmId id;

    IdListening(CmId id) {
        this.id = id;
    }

    /** Hears of a request, with the device it came by. */
    interface Handler {
        /** As {@link CmListener.Handler#onRequest}. */
        CmConnection.Handler onRequest(DeviceLease via, CmConnection request,
                InetSocketAddress local, InetSocketAddress peer, ConnectionParameters parameters);
    }

    /**
     * Starts to listen; after a failure {@link #stop} undoes what has been done.
     *
     * @param single the device of the bound address, null for all devices
     * @param call what is offered, on each device
     */
    void start(@Nullable DeviceLease single, ListenCall call, Handler handler)
            throws RdmaException {
        List<DeviceLease> taken = single == null
                ? DeviceLease.forAll("listen")
                : List.of(single.share());
        synchronized (this) {
            leases.addAll(taken);
        }
        for (DeviceLease lease : taken) {
            id.events.addRoom(lease.context().waitingRoom());
            CmListener started = lease.context().listen(call,
                    (request, to, from, parameters) -> handler.onRequest(lease, request, to, from,
                            parameters));
            synchronized (this) {
                listeners.add(started);
            }
        }
        LOG.log(System.Logger.Level.DEBUG, () -> "listening on " + call + " of "
                + taken.size() + (taken.size() == 1 ? " device" : " devices"));
    }

    /**
     * {@return where it can be reached, at the port of the bound address}
     *
     * @param isFamilyOnly whether the wildcard address stands for its own IP version alone
     */
    synchronized List<InetSocketAddress> addresses(InetSocketAddress bound, boolean isFamilyOnly) {
        InetAddress wanted = bound.getAddress();
        List<InetSocketAddress> addresses = new ArrayList<>();
        for (DeviceLease lease : leases) {
            for (InetAddress address : lease.context().addresses()) {
                boolean isOfFamily = !isFamilyOnly || address.getClass() == wanted.getClass();
                if (isOfFamily && (wanted.isAnyLocalAddress() || wanted.equals(address))) {
                    addresses.add(new InetSocketAddress(address, bound.getPort()));
                }
            }
        }
        return List.copyOf(addresses);
    }

    /** Stops on all devices and gives them back; the devices are called without a lock held. */
    void stop() {
        List<CmListener> stopped;
        List<DeviceLease> released;
        synchronized (this) {
            stopped = List.copyOf(listeners);
            released = List.copyOf(leases);
            listeners.clear();
            leases.clear();
        }
        stopped.forEach(CmListener::close);
        for (DeviceLease lease : released) {
            WaitingRoom room = lease.context().waitingRoom();
            lease.release();
            id.events.removeRoom(room);
        }
    }
}
