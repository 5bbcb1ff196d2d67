package io.rdma4j.spi;

import io.rdma4j.cm.PortSpace;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.util.List;

/**
 * The connection manager of one open device: what {@code CmId} drives.
 *
 * <p>Handlers are called by the thread that drives the device, one call at a time; they must not block
 * and may call back into the device.
 */
public interface CmContext extends DeviceContext {
    /** {@return the addresses this device sends from and answers to} */
    List<InetAddress> addresses();

    /**
     * Holds one more address.
     *
     * @throws RdmaException EADDRINUSE if another process holds it, EADDRNOTAVAIL if the device does not
     *         host it
     */
    void claim(InetAddress address) throws RdmaException;

    /**
     * Listens for connection requests.
     *
     * @param address one of {@link #addresses}, or null for all
     * @param backlog requests that may wait unanswered; further ones are rejected
     * @throws RdmaException EADDRINUSE if somebody listens there already
     */
    CmListener listen(PortSpace space, int port, @Nullable InetAddress address, int backlog,
            CmListener.Handler handler) throws RdmaException;

    /** Asks a listener for a connection; the answer comes to the handler. */
    CmConnection connect(ConnectCall call, CmConnection.Handler handler) throws RdmaException;
}
