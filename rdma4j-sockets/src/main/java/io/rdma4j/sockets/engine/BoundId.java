// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.engine;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.TransportType;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.net.InetSocketAddress;

/** An id with the options of a channel, bound to a local address if there is one. Not thread safe. */
public final class BoundId {
    private final SocketEngine engine;
    private @Nullable CmId id;
    private final @Nullable InetSocketAddress localAddress;

    BoundId(SocketEngine engine, SocketSettings settings, @Nullable InetSocketAddress local)
            throws RdmaException {
        this.engine = engine;
        CmId made = engine.newId(BoundId::ignore);
        try {
            String device = settings.device();
            if (device != null) {
                made.device(device);
            }
            if (settings.avoidsPortsOfTcp()) {
                made.excludedTransport(TransportType.IWARP);
            }
            made.reuseAddress(settings.reuseAddress());
            made.typeOfService(settings.typeOfService());
            if (local != null) {
                made.bindAddress(local);
            }
        } catch (RdmaException | RuntimeException e) {
            made.close();
            throw e;
        }
        id = made;
        localAddress = local == null ? null : made.localAddress();
    }

    /**
     * {@return an id that is bound}
     *
     * @param local the address; port 0 for any
     * @throws IOException a {@link java.net.BindException} if the address or the port cannot be had
     */
    public static BoundId bind(SocketEngine engine, SocketSettings settings,
            InetSocketAddress local) throws IOException {
        try {
            return new BoundId(engine, settings, local);
        } catch (RdmaException e) {
            throw SocketConnector.ofBinding(e);
        }
    }

    private static void ignore(CmEvent event) {
        // Nothing that happens to an id without a step needs an answer.
    }

    /** {@return where it is bound, null if it is not} */
    public @Nullable InetSocketAddress localAddress() {
        return localAddress;
    }

    /** {@return the id, which belongs to the caller now} */
    CmId take() {
        CmId taken = id;
        if (taken == null) {
            throw new IllegalStateException("the id was taken");
        }
        id = null;
        return taken;
    }

    /** Frees it, unless it was taken. */
    public void close() {
        CmId left = id;
        id = null;
        if (left != null) {
            engine.execute(() -> Freeing.all(left::close));
        }
    }
}
