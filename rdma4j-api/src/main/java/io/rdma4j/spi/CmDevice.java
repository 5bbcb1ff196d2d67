package io.rdma4j.spi;

import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.util.List;

/** A device that the connection manager can use. */
public interface CmDevice extends RdmaDevice {
    /**
     * {@return whether an address was one of this device's network interface when the device was listed} A
     * loopback device hosts all of {@code 127.0.0.0/8}, whichever of them it holds.
     */
    boolean hosts(InetAddress address);

    /** {@return the addresses it hosts, for people} */
    List<InetAddress> hostedAddresses();

    /**
     * {@return why no id can use the device, though its verbs can be used, in one line that says what to do; null if ids
     * can} Asked for each id.
     */
    default @Nullable String obstacle() {
        return null;
    }

    /** {@return what allocates its ports; the process, unless others have ports of the same} */
    default PortAuthority portAuthority() {
        return PortAuthority.PROCESS;
    }

    /**
     * Opens the device with an address held.
     *
     * @param address one that the device {@link #hosts}, or null for those it takes by itself
     * @throws RdmaException EADDRINUSE if another process holds it, EADDRNOTAVAIL if it is not hosted
     */
    CmContext open(@Nullable InetAddress address) throws RdmaException;
}
