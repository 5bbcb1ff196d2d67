// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network;

import io.rdma4j.verbs.Gid;
import org.jspecify.annotations.Nullable;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * The ports of a network, in the order of opening and by address. There is one for each multicast group too, and sending
 * a packet looks up its port more than once. A look-up allocates nothing. Thread safe.
 */
public final class Ports {
    private final List<PacketPort> inOrder = new CopyOnWriteArrayList<>();
    private volatile Map<Gid, PacketPort> byAddress = Map.of();

    /** Creates an empty set of ports. */
    public Ports() {}

    /** {@return the ports, in the order they were added} */
    public List<PacketPort> inOrder() {
        return inOrder;
    }

    /** {@return the port of a local address, or null} */
    public @Nullable PacketPort find(Gid local) {
        return byAddress.get(local);
    }

    /** Adds a port. {@return the port} */
    public synchronized PacketPort add(PacketPort port) {
        Map<Gid, PacketPort> more = new HashMap<>(byAddress);
        more.put(port.local(), port);
        byAddress = more;
        inOrder.add(port);
        return port;
    }

    /** Removes the port of an address. {@return the port, null if there was none} */
    public synchronized @Nullable PacketPort remove(Gid local) {
        PacketPort port = byAddress.get(local);
        if (port != null) {
            Map<Gid, PacketPort> fewer = new HashMap<>(byAddress);
            fewer.remove(local);
            byAddress = fewer;
            inOrder.remove(port);
        }
        return port;
    }

    /** Removes all. */
    public synchronized void clear() {
        byAddress = Map.of();
        inOrder.clear();
    }
}
