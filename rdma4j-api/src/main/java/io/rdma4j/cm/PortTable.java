package io.rdma4j.cm;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/** The ports that ids of this process hold, per port space. */
final class PortTable {
    private static final int FIRST_EPHEMERAL = 32768;
    private static final int LAST_EPHEMERAL = 60999;

    private static final List<Held> HELD = new ArrayList<>();

    private PortTable() {}

    /** A port held by an id; two ids may hold equal ones if both allow it. */
    static final class Held {
        private final PortSpace space;
        private final InetSocketAddress address;
        private boolean isShared;
        private boolean isFamilyOnly;

        private Held(PortSpace space, InetSocketAddress address, IdOptions options) {
            this.space = space;
            this.address = address;
            heed(options);
        }

        private void heed(IdOptions options) {
            isShared = options.reuseAddress;
            isFamilyOnly = options.addressFamilyOnly;
        }

        InetSocketAddress address() {
            return address;
        }

        /** @param maySharePort whether that both allow it is enough */
        private boolean conflictsWith(Held other, boolean maySharePort) {
            if (space != other.space || address.getPort() != other.address.getPort()
                    || (maySharePort && isShared && other.isShared)) {
                return false;
            }
            InetAddress own = address.getAddress();
            InetAddress others = other.address.getAddress();
            if (isFamilyOnly && other.isFamilyOnly && own.getClass() != others.getClass()) {
                return false;
            }
            return own.isAnyLocalAddress() || others.isAnyLocalAddress() || own.equals(others);
        }
    }

    /**
     * Takes a port.
     *
     * @param wanted its port is 0 for any
     * @param options whether others that say the same may share the port, and whether the other IP version
     *        is left alone
     * @return the port taken
     * @throws RdmaException EADDRINUSE if another id holds it
     */
    static synchronized Held take(PortSpace space, InetSocketAddress wanted, IdOptions options)
            throws RdmaException {
        if (wanted.getPort() != 0) {
            Held held = new Held(space, wanted, options);
            if (isTaken(held, true)) {
                throw new RdmaException(Errno.EADDRINUSE, "bind address", "port " + wanted.getPort()
                        + " is held by another id of this process; close that one, choose another port, or allow both to share it");
            }
            HELD.add(held);
            return held;
        }
        int count = LAST_EPHEMERAL - FIRST_EPHEMERAL + 1;
        int start = ThreadLocalRandom.current().nextInt(count);
        for (int i = 0; i < count; i++) {
            Held held = new Held(space, new InetSocketAddress(wanted.getAddress(),
                    FIRST_EPHEMERAL + (start + i) % count), options);
            if (!isTaken(held, false)) {
                HELD.add(held);
                return held;
            }
        }
        throw new RdmaException(Errno.EADDRINUSE, "bind address", "all ports from "
                + FIRST_EPHEMERAL + " to " + LAST_EPHEMERAL + " are taken");
    }

    private static boolean isTaken(Held wanted, boolean maySharePort) {
        for (Held other : HELD) {
            if (wanted.conflictsWith(other, maySharePort)) {
                return true;
            }
        }
        return false;
    }

    /** The id that holds a port thinks otherwise of sharing it; those who share it already go on. */
    static synchronized void change(Held held, IdOptions options) {
        held.heed(options);
    }

    /** Gives a port back. */
    static synchronized void release(Held held) {
        HELD.remove(held);
    }
}
