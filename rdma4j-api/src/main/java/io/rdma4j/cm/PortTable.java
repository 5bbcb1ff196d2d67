package io.rdma4j.cm;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/** The ports that ids of this process hold, per port space. */
final class PortTable {
    private static final int FIRST_EPHEMERAL = 32768;
    private static final int LAST_EPHEMERAL = 60999;

    private static final List<Entry> ENTRIES = new ArrayList<>();

    private PortTable() {}

    /** A port held; two holders may have equal entries if both allow it. */
    private record Entry(PortSpace space, InetAddress address, int port, boolean isShared,
            boolean isFamilyOnly) {
        boolean conflictsWith(Entry other) {
            if (space != other.space || port != other.port || (isShared && other.isShared)) {
                return false;
            }
            if (isFamilyOnly && other.isFamilyOnly
                    && address.getClass() != other.address.getClass()) {
                return false;
            }
            return address.isAnyLocalAddress() || other.address.isAnyLocalAddress()
                    || address.equals(other.address);
        }
    }

    /**
     * Takes a port.
     *
     * @param wanted its port is 0 for any
     * @param options whether others that say the same may share the port, and whether the other IP version
     *        is left alone
     * @return the address with the port taken
     * @throws RdmaException EADDRINUSE if another id holds it
     */
    static synchronized InetSocketAddress take(PortSpace space, InetSocketAddress wanted,
            IdOptions options) throws RdmaException {
        InetAddress address = wanted.getAddress();
        if (wanted.getPort() != 0) {
            Entry entry = new Entry(space, address, wanted.getPort(), options.reuseAddress,
                    options.addressFamilyOnly);
            if (conflict(entry) != null) {
                throw new RdmaException(Errno.EADDRINUSE, "bind address", "port " + wanted.getPort()
                        + " is held by another id of this process; close that one, choose another port, or allow both to share it");
            }
            ENTRIES.add(entry);
            return wanted;
        }
        int count = LAST_EPHEMERAL - FIRST_EPHEMERAL + 1;
        int start = ThreadLocalRandom.current().nextInt(count);
        for (int i = 0; i < count; i++) {
            Entry entry = new Entry(space, address, FIRST_EPHEMERAL + (start + i) % count, false,
                    options.addressFamilyOnly);
            if (conflict(entry) == null) {
                ENTRIES.add(entry);
                return new InetSocketAddress(address, entry.port);
            }
        }
        throw new RdmaException(Errno.EADDRINUSE, "bind address", "all ports from "
                + FIRST_EPHEMERAL + " to " + LAST_EPHEMERAL + " are taken");
    }

    /** Gives a port back. */
    static synchronized void release(PortSpace space, InetSocketAddress taken) {
        for (Entry entry : ENTRIES) {
            if (entry.space == space && entry.port == taken.getPort()
                    && entry.address.equals(taken.getAddress())) {
                ENTRIES.remove(entry);
                return;
            }
        }
    }

    private static @Nullable Entry conflict(Entry entry) {
        for (Entry other : ENTRIES) {
            if (entry.conflictsWith(other)) {
                return other;
            }
        }
        return null;
    }
}
