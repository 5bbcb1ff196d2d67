// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.options;

import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.GidEntry;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.Comparator;
import java.util.List;

/** Which local GID a tool uses. */
public final class GidChoice {
    /** RoCE over UDP first, which routers forward; a table may have an address once for each type. */
    private static final Comparator<GidEntry> BEST_TYPE_FIRST = Comparator
            .comparing(GidEntry::type, Comparator.reverseOrder());

    private GidChoice() {}

    /**
     * {@return the index of a port's GID: the chosen one, or the first of IPv4, or the first} RoCE has no address
     * without one, so there is a default.
     *
     * @throws IOException if there is no such port, or nothing at that index
     */
    public static int index(DeviceContext context, int port, @Nullable Long chosen)
            throws IOException {
        if (chosen != null) {
            return checked(context, port, chosen.intValue());
        }
        return requireAny(context, firstOfIpv4(tableOf(context, port))).index();
    }

    /**
     * {@return the index of a port's GID at a side that knows by which of its own addresses the peer is reached: that
     * address, or the nearest to it that the port has}
     *
     * @throws IOException if there is no such port, or it has no GID
     */
    public static int index(DeviceContext context, int port, InetAddress local)
            throws IOException {
        return requireAny(context, nearest(tableOf(context, port), local)).index();
    }

    private static int checked(DeviceContext context, int port, int index) throws IOException {
        context.queryPort(port); // Refuses a port there is not.
        Gid gid = context.queryGid(port, index);
        if (gid.isZero()) {
            throw new IOException("GID index " + index + " of " + context.device().name()
                    + " is empty; show_gids lists the others");
        }
        return index;
    }

    private static List<GidEntry> tableOf(DeviceContext context, int port) throws IOException {
        context.queryPort(port); // Refuses a port there is not.
        return context.queryGidTable().stream().filter(entry -> entry.port() == port).toList();
    }

    private static GidEntry requireAny(DeviceContext context, @Nullable GidEntry entry)
            throws IOException {
        if (entry == null) {
            throw new IOException(context.device().name() + " has no GID");
        }
        return entry;
    }

    private static @Nullable GidEntry firstOfIpv4(List<GidEntry> table) {
        return table.stream().filter(entry -> entry.gid().isIpv4()).findFirst()
                .or(() -> table.stream().findFirst()).orElse(null);
    }

    /**
     * {@return the entry of an address of this machine; null if the table is that of another interface} For any loopback
     * address it is one of loopback, whichever the table has: on some machines each process has its own.
     */
    static @Nullable GidEntry at(List<GidEntry> table, InetAddress local) {
        GidEntry exact = table.stream()
                .filter(entry -> entry.gid().address().equals(local) && isOfScope(entry, local))
                .min(BEST_TYPE_FIRST).orElse(null);
        if (exact != null || !local.isLoopbackAddress()) {
            return exact;
        }
        List<GidEntry> loopback = table.stream().filter(entry -> entry.gid().isLoopback())
                .toList();
        return loopback.stream()
                .filter(entry -> entry.gid().isIpv4() != local instanceof Inet6Address)
                .findFirst().or(() -> loopback.stream().findFirst()).orElse(null);
    }

    /** A link-local address may be that of several interfaces. */
    private static boolean isOfScope(GidEntry entry, InetAddress local) {
        return !local.isLinkLocalAddress() || !(local instanceof Inet6Address scoped)
                || scoped.getScopeId() == 0 || entry.interfaceIndex() == 0
                || scoped.getScopeId() == entry.interfaceIndex();
    }

    /**
     * {@return the entry of an address; if there is none, one of the same kind, for peers of different IP versions do not
     * meet; if there is none either, the first of IPv4, or the first; null if the table is empty}
     */
    static @Nullable GidEntry nearest(List<GidEntry> table, InetAddress local) {
        GidEntry exact = at(table, local);
        if (exact != null) {
            return exact;
        }
        return table.stream().filter(entry -> isOfSameKind(entry.gid(), local))
                .min(BEST_TYPE_FIRST).orElseGet(() -> firstOfIpv4(table));
    }

    private static boolean isOfSameKind(Gid gid, InetAddress local) {
        return gid.isIpv4() != local instanceof Inet6Address
                && gid.isLinkLocal() == (local instanceof Inet6Address
                        && local.isLinkLocalAddress());
    }
}
