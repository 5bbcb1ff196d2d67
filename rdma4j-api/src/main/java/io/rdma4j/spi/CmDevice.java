// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.spi;

import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.net.InetSocketAddress;
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

    /** {@return the authority that allocates its ports; by default this process, which then shares them with no other} */
    default PortAuthority portAuthority() {
        return PortAuthority.PROCESS;
    }

    /**
     * {@return whether a program listens at a destination for connections of this device's transport, as far as that shows
     * without a request} Called after a request of another device has found nobody there; takes two seconds at most. A
     * transport whose listeners answer nothing but requests says no.
     *
     * @param space the port space of the destination's port
     * @param source a local address that the device {@link #hosts}
     */
    default boolean seesListener(PortSpace space, InetAddress source,
            InetSocketAddress destination) {
        return false;
    }

    /**
     * Opens the device and makes it use an address.
     *
     * @param address one that the device {@link #hosts}, or null for those that it uses by default
     * @throws RdmaException EADDRINUSE if another process uses it, EADDRNOTAVAIL if the device does not host it
     */
    CmContext open(@Nullable InetAddress address) throws RdmaException;
}
