package io.rdma4j.tools.perftest;

import io.rdma4j.cm.CmId;
import io.rdma4j.cm.PortSpace;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;

/** How a server and its one client get in touch by the connection manager. */
final class ManagedMeeting implements AutoCloseable {
    private final InetAddress own;
    private final @Nullable InetSocketAddress server;
    private final @Nullable CmId listener;
    private final Duration patience;

    private ManagedMeeting(InetAddress own, @Nullable InetSocketAddress server,
            @Nullable CmId listener, Duration patience) {
        this.own = own;
        this.server = server;
        this.listener = listener;
        this.patience = patience;
    }

    /**
     * {@return a server, which listens from now on}
     *
     * @param port 0 for any
     * @param connections how many may be asked for at once
     */
    static ManagedMeeting listen(InetAddress own, int port, int connections, Duration patience)
            throws RdmaException {
        CmId listener = CmId.create(PortSpace.TCP);
        try {
            listener.bindAddress(new InetSocketAddress(own, port));
            listener.listen(connections);
        } catch (RdmaException | RuntimeException e) {
            listener.close();
            throw e;
        }
        return new ManagedMeeting(own, null, listener, patience);
    }

    /** {@return a client of a server} */
    static ManagedMeeting with(String host, int port, InetAddress own, Duration patience)
            throws IOException {
        return new ManagedMeeting(own, new InetSocketAddress(address(host, own), port), null,
                patience);
    }

    private static InetAddress address(String host, InetAddress own) throws IOException {
        try {
            for (InetAddress address : InetAddress.getAllByName(host)) {
                if (address.getClass() == own.getClass()) {
                    return address;
                }
            }
        } catch (UnknownHostException e) {
            throw new IOException("unknown host '" + host + "'", e);
        }
        throw new IOException(host + " has no address of the IP version of " + own.getHostAddress()
                + "; choose another GID with -x");
    }

    /** {@return the port of a server} */
    int port() {
        return listener == null ? 0 : listener.localAddress().getPort();
    }

    /** {@return the conversation with the peer; a server waits for its client for ever} */
    Talk talk(Plan plan) throws IOException {
        if (listener != null) {
            return ManagedTalk.accept(listener.awaitRequest(), patience);
        }
        InetSocketAddress towards = requireServer();
        try {
            return ManagedTalk.connect(ManagedPairs.resolve(new InetSocketAddress(own, 0), towards,
                    plan.timeout()), patience);
        } catch (RdmaException e) {
            throw new IOException("Couldn't connect to " + towards.getHostString() + ":"
                    + towards.getPort() + ": " + e.getMessage(), e);
        }
    }

    /** {@return queue pairs that will be connected with those of the peer} */
    ManagedPairs pairs(Plan plan) {
        return listener != null
                ? ManagedPairs.of(plan, listener, patience)
                : ManagedPairs.towards(plan, requireServer(), new InetSocketAddress(own, 0),
                        patience);
    }

    private InetSocketAddress requireServer() {
        InetSocketAddress known = server;
        if (known == null) {
            throw new IllegalStateException("a server asks nobody for a connection");
        }
        return known;
    }

    @Override
    public void close() throws RdmaException {
        if (listener != null) {
            listener.close();
        }
    }
}
