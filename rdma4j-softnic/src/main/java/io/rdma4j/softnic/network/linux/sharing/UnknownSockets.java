// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.sharing;

import io.rdma4j.softnic.network.AddressRefusal;
import io.rdma4j.softnic.network.PortHolder;
import io.rdma4j.softnic.network.linux.calls.LinuxSocket;
import io.rdma4j.softnic.network.linux.calls.SocketAddress;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.RdmaException;

import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.util.concurrent.locks.LockSupport;

import static io.rdma4j.protocol.roce.wire.Path.UDP_PORT;

/**
 * The sockets at an address that the {@link SharedTable} does not have: those of programs that do not share by it, of processes that have
 * not restored their part of a damaged table, and copies in processes that are being started. Whoever joins waits for them.
 */
final class UnknownSockets {
    /** Longer than a new process takes from fork to exec, or a socket to go that a thread still waits in, on a busy machine. */
    private static final long MAX_STRANGER_NS = 2_000_000_000;
    private static final long STRANGER_LOOK_NS = 1_000_000;

    private final TableLocks locks;
    private final SharedTable table;

    UnknownSockets(TableLocks locks, SharedTable table) {
        this.locks = locks;
        this.table = table;
    }

    /**
     * Waits for the lock, and until the table has all sockets of an address: those of the other processes are missing in a
     * table that was damaged, until they have entered them again. What stays unknown is a stranger's.
     *
     * @return whether there were any that the table did not have
     * @throws LinuxSocket.Refused EADDRINUSE if there is a stranger beside whom the system allows no other
     */
    boolean lockWhenAllAreKnown(Gid address, SocketBinding binding)
            throws RdmaException, LinuxSocket.Refused {
        long untilNs = System.nanoTime() + SharedTable.MAX_RESTORING_NS;
        locks.lock();
        boolean isReady = false;
        try {
            boolean hadUnknown = hasUnknown(address);
            if (hadUnknown) {
                tryToBind(address, binding);
            }
            for (boolean hasUnknown = hadUnknown; hasUnknown
                    && locks.anyOthers() != SharedTable.NOBODY
                    && System.nanoTime() - untilNs < 0; hasUnknown = hasUnknown(address)) {
                locks.unlock();
                LockSupport.parkNanos(SharedTable.RESTORED_LOOK_NS);
                locks.lock();
            }
            isReady = true;
            return hadUnknown;
        } finally {
            if (!isReady && locks.isLocked()) {
                locks.unlock();
            }
        }
    }

    private boolean hasUnknown(Gid address) {
        return PortHolder.count(address.address(), UDP_PORT) > table.sockets(address);
    }

    private static void tryToBind(Gid address, SocketBinding binding) throws LinuxSocket.Refused {
        try (Arena call = Arena.ofConfined()) {
            LinuxSocket trial = LinuxSocket.open(SocketAddress.family(address), call);
            try {
                binding.bind(trial);
            } finally {
                trial.close();
            }
        }
    }

    /**
     * {@return whether there were, for a moment, sockets that are not in the table} A process that starts another one can
     * cause this: between fork and exec the child has copies of all its files, including sockets that the parent has closed
     * since.
     *
     * @param more how many the table does not have yet
     * @throws RdmaException EADDRINUSE if they stay longer
     */
    boolean hadStrangers(Gid address, int more) throws RdmaException {
        InetAddress local = address.address();
        int known = table.sockets(address) + more;
        long untilNs = System.nanoTime() + MAX_STRANGER_NS;
        boolean hadAny = false;
        while (PortHolder.count(local, UDP_PORT) > known) {
            hadAny = true;
            if (System.nanoTime() - untilNs > 0) {
                throw AddressRefusal.taken(local, null);
            }
            LockSupport.parkNanos(STRANGER_LOOK_NS);
        }
        return hadAny;
    }
}
