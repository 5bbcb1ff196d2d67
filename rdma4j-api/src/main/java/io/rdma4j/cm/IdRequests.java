package io.rdma4j.cm;

import io.rdma4j.spi.CmConnection;
import io.rdma4j.spi.ListenCall;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** The requests that reach a listening id, from their arrival until somebody takes them. */
final class IdRequests {
    private final CmId id;
    private final IdListening listening;
    /** Requests that nobody has taken; also the lock of its changes. */
    private final Set<CmId> waiting = new HashSet<>();
    private volatile @Nullable IdRequestPlan plan;

    IdRequests(CmId id) {
        this.id = id;
        listening = new IdListening(id);
    }

    /** Each request that is handed out shall have a queue pair. */
    void plan(@Nullable IdRequestPlan wanted) {
        plan = wanted;
    }

    void listen(int backlog) throws RdmaException {
        if (backlog < 1) {
            throw new IllegalArgumentException("a backlog must be at least 1, not " + backlog);
        }
        if (id.progress.is(IdState.IDLE)) {
            id.bindAddress(new InetSocketAddress(0));
        }
        id.progress.move(IdState.BOUND, IdState.LISTENING, "listen");
        try {
            listening.start(id.addresses.lease(),
                    listenCall(id.addresses.local("listen"), backlog), this::onRequest);
        } catch (RdmaException e) {
            listening.stop();
            id.progress.replace(IdState.LISTENING, IdState.BOUND);
            throw e;
        }
    }

    private ListenCall listenCall(InetSocketAddress bound, int backlog) {
        InetAddress address = bound.getAddress();
        StandardProtocolFamily family = address instanceof Inet4Address
                ? StandardProtocolFamily.INET
                : StandardProtocolFamily.INET6;
        return new ListenCall(id.portSpace(), id.queuePairType(), bound.getPort(),
                address.isAnyLocalAddress() ? null : address,
                id.options.addressFamilyOnly ? family : null, backlog);
    }

    List<InetSocketAddress> addresses() {
        InetSocketAddress bound = id.addresses.local();
        return id.progress.is(IdState.LISTENING) && bound != null
                ? listening.addresses(bound, id.options.addressFamilyOnly)
                : List.of();
    }

    /** Runs in the thread that drives the device. */
    private CmConnection.Handler onRequest(DeviceLease via, CmConnection request,
            InetSocketAddress to, InetSocketAddress from, ConnectionParameters parameters) {
        synchronized (waiting) {
            CmId requested = id.requested();
            requested.addresses.adopt(to, from, via);
            requested.link.adopt(request, parameters);
            requested.progress.begin(IdState.REQUESTED);
            waiting.add(requested);
            id.events.publishRequest(requested, parameters);
            return requested.link;
        }
    }

    CmId await() throws RdmaException {
        requireSynchronousListener();
        return taken(id.channel().awaitEvent());
    }

    @Nullable
    CmId poll(Duration timeout) throws RdmaException {
        requireSynchronousListener();
        CmEvent event = id.channel().pollEvent(timeout);
        return event == null ? null : taken(event);
    }

    private CmId taken(CmEvent event) throws RdmaException {
        if (event.type() != CmEventType.CONNECT_REQUEST) {
            id.events.remember(event);
            throw new RdmaException(
                    event.type() == CmEventType.DEVICE_REMOVAL ? Errno.ENODEV : Errno.EINVAL,
                    "await request", event.description());
        }
        CmId requested = event.id();
        requested.events.remember(event);
        IdRequestPlan wanted = plan;
        if (wanted != null) {
            try {
                wanted.createFor(requested);
            } catch (RdmaException | RuntimeException e) {
                requested.close();
                throw e;
            }
        }
        return requested;
    }

    private void requireSynchronousListener() throws RdmaException {
        if (id.progress.is(IdState.REMOVED)) {
            throw id.progress.wrong("await request");
        }
        if (!id.events.isSynchronous() || !id.progress.is(IdState.LISTENING)) {
            throw new RdmaException(Errno.EINVAL, "await request",
                    "only a synchronous id that listens hands out requests; this one is "
                            + (id.events.isSynchronous()
                                    ? "in state " + id.progress.now()
                                    : "asynchronous"));
        }
    }

    /** The application has the request, or it is closed. */
    void forget(CmId requested) {
        synchronized (waiting) {
            waiting.remove(requested);
        }
    }

    /** Sends the listener's events elsewhere, and those of the requests that nobody has taken. */
    void migrate(@Nullable EventChannel channel) throws RdmaException {
        synchronized (waiting) {
            id.events.migrate(channel);
            for (CmId requested : waiting) {
                if (channel != null || !requested.events.isSynchronous()) {
                    requested.events.migrate(channel);
                }
            }
        }
    }

    /** Stops listening and rejects the requests that nobody has taken. */
    void close() throws RdmaException {
        listening.stop();
        List<CmId> rejected;
        synchronized (waiting) {
            rejected = List.copyOf(waiting);
            waiting.clear();
        }
        for (CmId requested : rejected) {
            requested.close();
        }
    }
}
