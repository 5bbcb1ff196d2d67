// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.spi;

import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.GidEntry;
import io.rdma4j.verbs.PortState;
import io.rdma4j.verbs.RdmaException;

import java.net.InetAddress;

/** The GID table of a device whose GIDs are its IP addresses, as those of RoCE v2 are. */
public final class IpGids {
    private IpGids() {}

    /**
     * {@return the entry of a local address}
     *
     * @throws RdmaException ENETUNREACH if the device has lost the address
     */
    public static GidEntry entry(DeviceContext context, InetAddress local) throws RdmaException {
        Gid wanted = Gid.of(local);
        for (GidEntry entry : context.queryGidTable()) {
            if (entry.gid().equals(wanted)) {
                return entry;
            }
        }
        throw new RdmaException(Errno.ENETUNREACH, "find GID", local.getHostAddress()
                + " is no address of " + context.device().name() + " any more");
    }

    /**
     * {@return the entry of a local address, for packets to a destination} A device sends by its own interface: a link-local
     * destination of another one would be another host there.
     *
     * @throws RdmaException ENETUNREACH if the device has lost the address, or the destination names another interface
     */
    public static GidEntry entry(DeviceContext context, InetAddress local,
            InetAddress destination) throws RdmaException {
        GidEntry entry = entry(context, local);
        requireLink(context, entry.interfaceIndex(), destination);
        return entry;
    }

    /**
     * Checks that a destination, if it is link-local, is on the link of a device.
     *
     * @param interfaceIndex of the interface of the device
     * @throws RdmaException ENETUNREACH if the destination names another interface
     */
    public static void requireLink(DeviceContext context, int interfaceIndex,
            InetAddress destination) throws RdmaException {
        if (!AddressScope.isCompatible(interfaceIndex, AddressScope.of(destination))) {
            throw new RdmaException(Errno.ENETUNREACH, "find route", destination.getHostAddress()
                    + " is on another link than " + context.device().name());
        }
    }

    /**
     * Checks that packets can leave from a local address for a destination.
     *
     * @throws RdmaException ENETUNREACH if its port is down, or as {@link #entry(DeviceContext, InetAddress, InetAddress)}
     */
    public static void checkRoute(DeviceContext context, InetAddress local, InetAddress destination,
            int port)
            throws RdmaException {
        if (context.queryPort(port).state() != PortState.ACTIVE) {
            throw new RdmaException(Errno.ENETUNREACH, "resolve route",
                    "port " + port + " of " + context.device().name() + " is down");
        }
        entry(context, local, destination);
    }
}
