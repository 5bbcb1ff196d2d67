// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.route;

import io.rdma4j.softnic.network.linux.route.RouteQuery.Route;
import io.rdma4j.verbs.Gid;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * By which interface packets from one address of a device leave. The system's routing decides by the destination, and where
 * another interface of this host leads there as well, packets of the device would leave by that one. Then, and only then, the
 * interface is named with the packets: not if the system knows no route by the device's interface, or a more specific one by
 * another, or if the destination is an address of this host, which the loopback interface reaches.
 *
 * <p>The first packet to a destination asks the system; whether the answer still holds is asked by {@link #lookAgain}, in a
 * thread that sends nothing.
 */
public final class Ways {
    private static final int MAX_KNOWN = 4096;

    /** The way to one destination. */
    public static final class Way {
        private volatile int interfaceIndex;
        private volatile boolean isUsed = true;

        private Way(int interfaceIndex) {
            this.interfaceIndex = interfaceIndex;
        }

        /** A packet takes it. {@return the interface to name, 0 for that which the system chooses} */
        public int use() {
            if (!isUsed) {
                isUsed = true;
            }
            return interfaceIndex;
        }
    }

    /** Asks the system. */
    @FunctionalInterface
    public interface Routing {
        /** {@return the interface to name with packets to a destination, 0 for none} */
        public int interfaceTo(Gid destination);
    }

    private static final Way OF_LINK = new Way(0);

    private final Routing routing;
    private final Map<Gid, Way> known = new ConcurrentHashMap<>();

    public Ways(Routing routing) {
        this.routing = routing;
    }

    /** {@return those of packets from a local address of a device on an interface} */
    public static Ways from(Gid local, int interfaceIndex) {
        return new Ways(destination -> interfaceTo(local, destination, interfaceIndex));
    }

    /** {@return the interface to name with packets, 0 if the system finds the right one} */
    public static int interfaceTo(Gid local, Gid destination, int interfaceIndex) {
        Integer named = RouteQuery.ask(routes -> {
            Route usual = routes.find(local, destination, 0);
            if (usual == null || !usual.isToHost() || usual.interfaceIndex() == interfaceIndex) {
                return 0;
            }
            Route own = routes.find(local, destination, interfaceIndex);
            return own != null && isBy(own, interfaceIndex)
                    && own.prefixLength() >= usual.prefixLength() ? interfaceIndex : 0;
        });
        return named == null ? 0 : named;
    }

    private static boolean isBy(Route route, int interfaceIndex) {
        return route.isToHost()
                && (route.interfaceIndex() == interfaceIndex || route.interfaceIndex() == 0);
    }

    /** {@return the way to a destination} */
    public Way to(Gid destination) {
        if (destination.isMulticast() || destination.isLinkLocal() || destination.isLoopback()) {
            // Groups and link-local addresses have their interface already.
            return OF_LINK;
        }
        Way way = known.get(destination);
        if (way == null) {
            if (known.size() >= MAX_KNOWN) {
                known.clear();
            }
            way = new Way(routing.interfaceTo(destination));
            known.put(destination, way);
        }
        return way;
    }

    /** Asks again about the destinations that packets were sent to since the last look. */
    public void lookAgain() {
        known.forEach((destination, way) -> {
            if (way.isUsed) {
                way.isUsed = false;
                way.interfaceIndex = routing.interfaceTo(destination);
            }
        });
    }
}
