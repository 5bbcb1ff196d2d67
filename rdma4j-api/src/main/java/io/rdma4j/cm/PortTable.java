// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.connection.PortSpace;
import io.rdma4j.spi.AddressScope;
import io.rdma4j.spi.PortAuthority;
import io.rdma4j.spi.PortReservation;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The ports that ids of this process have reserved, per port space. Each device's {@link PortAuthority} knows which ports
 * other processes use; it is called without the lock of the table.
 */
final class PortTable {
    private static final int FIRST_EPHEMERAL = 32768;
    private static final int LAST_EPHEMERAL = 60999;

    private static final List<Held> HELD = new ArrayList<>();

    private PortTable() {}

    /** A port held by an id; two ids may hold equal ones if both allow it. */
    static final class Held {
        private final PortSpace space;
        private final InetSocketAddress address;
        private final boolean isAny;
        private volatile boolean isShared;
        private volatile boolean isFamilyOnly;
        /** Guarded by itself. */
        private final Map<PortAuthority, PortReservation> reservations = new HashMap<>();
        /** Guarded by the reservations. */
        private boolean isReleased;

        private Held(PortSpace space, InetSocketAddress address, boolean isAny,
                IdOptions options) {
            this.space = space;
            this.address = address;
            this.isAny = isAny;
            apply(options);
        }

        private void apply(IdOptions options) {
            isShared = options.reuseAddress();
            isFamilyOnly = options.addressFamilyOnly();
        }

        InetSocketAddress address() {
            return address;
        }

        /** {@return whether the id has not asked for this port, so that another one does as well} */
        boolean isAny() {
            return isAny;
        }

        /**
         * {@return the reservation of the port by an authority, made by the first call}
         *
         * @throws RdmaException EADDRINUSE if another process has the port
         * @throws IllegalStateException if the port was given back: its id is closed
         */
        PortReservation reservation(PortAuthority authority) throws RdmaException {
            synchronized (reservations) {
                if (isReleased) {
                    throw IdStateMachine.closed();
                }
                PortReservation present = reservations.get(authority);
                if (present == null) {
                    present = authority.reserve(space, address, isShared);
                    reservations.put(authority, present);
                }
                return present;
            }
        }

        private void releaseReservations() {
            synchronized (reservations) {
                isReleased = true;
                reservations.values().forEach(PortReservation::release);
                reservations.clear();
            }
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
            return own.isAnyLocalAddress() || others.isAnyLocalAddress()
                    || AddressScope.isSame(own, others);
        }
    }

    /**
     * Takes a port.
     *
     * @param wanted its port is 0 for any
     * @param options whether others that say the same may share the port, and whether the other IP version
     *        is left alone
     * @param authorities what allocates the ports of the devices it may be used with, that of the best device first; at the
     *        wildcard address a port that is asked for by number is taken if that one gives it
     * @return the port taken
     * @throws RdmaException EADDRINUSE if another id or another process holds it
     */
    static Held take(PortSpace space, InetSocketAddress wanted, IdOptions options,
            Set<PortAuthority> authorities) throws RdmaException {
        if (wanted.getPort() != 0) {
            Held held = new Held(space, wanted, false, options);
            if (!add(held, true)) {
                throw new RdmaException(Errno.EADDRINUSE, "bind address", "port " + wanted.getPort()
                        + " is held by another id of this process; close that one, choose another port, or allow both to share it");
            }
            reserve(held, authorities, wanted.getAddress().isAnyLocalAddress());
            return held;
        }
        int count = LAST_EPHEMERAL - FIRST_EPHEMERAL + 1;
        int start = ThreadLocalRandom.current().nextInt(count);
        for (int i = 0; i < count; i++) {
            Held held = new Held(space, new InetSocketAddress(wanted.getAddress(),
                    FIRST_EPHEMERAL + (start + i) % count), true, options);
            if (add(held, false) && isGiven(held, authorities)) {
                return held;
            }
        }
        throw new RdmaException(Errno.EADDRINUSE, "bind address", "all ports from "
                + FIRST_EPHEMERAL + " to " + LAST_EPHEMERAL + " are taken");
    }

    private static boolean isGiven(Held held, Set<PortAuthority> authorities)
            throws RdmaException {
        try {
            reserve(held, authorities, false);
            return true;
        } catch (RdmaException e) {
            if (e.errno() != Errno.EADDRINUSE) {
                throw e;
            }
            return false;
        }
    }

    /** Asks the authorities; after a failure the port is given back. */
    private static void reserve(Held held, Set<PortAuthority> authorities, boolean isFirstEnough)
            throws RdmaException {
        boolean isEnough = false;
        for (PortAuthority authority : authorities) {
            try {
                held.reservation(authority);
                isEnough = isFirstEnough;
            } catch (RdmaException e) {
                if (!isEnough) {
                    release(held);
                    throw e;
                }
                // The devices of this one are left out: another program uses the port for something else.
            }
        }
    }

    private static synchronized boolean add(Held wanted, boolean maySharePort) {
        for (Held other : HELD) {
            if (wanted.conflictsWith(other, maySharePort)) {
                return false;
            }
        }
        HELD.add(wanted);
        return true;
    }

    /** The options of an id that holds a port have changed; those who share it already go on. */
    static synchronized void change(Held held, IdOptions options) {
        held.apply(options);
    }

    /** Gives a port back. */
    static void release(Held held) {
        held.releaseReservations();
        synchronized (PortTable.class) {
            HELD.remove(held);
        }
    }
}
