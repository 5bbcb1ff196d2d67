// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.sharing;

import io.rdma4j.softnic.network.PortSharing;
import io.rdma4j.softnic.network.linux.calls.LinuxSocket;
import io.rdma4j.softnic.network.linux.calls.ProcessIdentity;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.RdmaException;

import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The connection manager's ports that this process holds, and the services that it listens at; no other process of the same
 * table has them. Entries of dead processes are ignored. Thread safe.
 */
final class ServicePorts {
    private static final System.Logger LOG = System.getLogger(ServicePorts.class.getName());

    /** Port spaces in service IDs. Source: IBTA annex A11.3, rdma_cma.h. */
    private static final int TCP = 0x0106;
    private static final int UDP = 0x0111;
    private static final int IB = 0x013f;

    /** A change that may fail. */
    interface Change {
        void run() throws LinuxSocket.Refused;
    }

    private final TableLocks locks;
    private final SharedTable table;
    private final Prefixes prefixes;
    private final int prefix;
    private final Change onChange;
    /** The uses of each service by this process. Any thread changes them. */
    private final Map<Integer, Uses> uses = new ConcurrentHashMap<>();
    /** The services whose entry in the table is out of date. */
    private final Set<Integer> changed = ConcurrentHashMap.newKeySet();
    /**
     * How often this process holds a port. It guards itself, and the owners that this process writes: a port is given back
     * although another thread waits for the lock of the table, perhaps for a stopped process.
     */
    private final Map<Integer, Integer> reserved = new HashMap<>();
    /** The part of the ports that is looked at next. */
    private final AtomicInteger nextPart = new AtomicInteger();

    /**
     * How often a service is listened at, and how often it was, with requests that are not answered.
     *
     * @param listening listeners
     * @param repeated closed listeners
     */
    private record Uses(int listening, int repeated) {
        static final Uses NONE = new Uses(0, 0);

        Uses plus(int more, int moreRepeated) {
            return new Uses(listening + more, repeated + moreRepeated);
        }
    }

    /**
     * @param prefix that this process began with
     * @param onChange called under the lock when other services are listened at
     */
    ServicePorts(TableLocks locks, SharedTable table, Prefixes prefixes, int prefix,
            Change onChange) {
        this.locks = locks;
        this.table = table;
        this.prefixes = prefixes;
        this.prefix = prefix;
        this.onChange = onChange;
    }

    /** As {@link PortSharing#listen}. */
    void listen(int service) throws RdmaException {
        locks.lock();
        try {
            enterChanges();
            if (usesOf(service).listening == 0) {
                forgetTheDead();
                if (!table.enterService(service, prefix, true)) {
                    throw new RdmaException(Errno.ENOMEM, "listen",
                            "the processes that share this machine's addresses listen at "
                                    + SharedTable.MAX_SERVICES + " ports, which is the most");
                }
                enterOrUndo(service);
            }
            change(service, 1, 0);
        } catch (LinuxSocket.Refused e) {
            throw locks.unusable(e);
        } finally {
            locks.unlock();
        }
    }

    /** The system may refuse a program with one more service. */
    private void enterOrUndo(int service) throws LinuxSocket.Refused {
        boolean isEntered = false;
        try {
            onChange.run();
            isEntered = true;
        } finally {
            if (!isEntered) {
                // The next change enters what was before.
                changed.add(service);
                enterChanges();
            }
        }
    }

    private Uses usesOf(int service) {
        return uses.getOrDefault(service, Uses.NONE);
    }

    private void change(int service, int listening, int repeated) {
        uses.compute(service, (_, before) -> {
            Uses now = (before == null ? Uses.NONE : before).plus(listening, repeated);
            return now.equals(Uses.NONE) ? null : now;
        });
    }

    /** As {@link PortSharing#listenOnlyForRepetitions}; {@link #enterChanges} follows. */
    void listenOnlyForRepetitions(int service) {
        changing(service, -1, 1);
    }

    /** As {@link PortSharing#stopListening}; {@link #enterChanges} follows. */
    void stopListening(int service) {
        changing(service, 0, -1);
    }

    private void changing(int service, int listening, int repeated) {
        // Before as well, so that who looks under the lock never takes the entry for damage.
        changed.add(service);
        change(service, listening, repeated);
        changed.add(service);
    }

    /** Enters into the table what has changed. Under the lock. */
    void enterChanges() {
        boolean isAny = false;
        for (Integer service : List.copyOf(changed)) {
            // First, so that a change from now on is entered next time.
            changed.remove(service);
            Uses now = usesOf(service);
            if (now.equals(Uses.NONE)) {
                table.removeService(service, prefix);
            } else {
                table.enterService(service, prefix, now.listening > 0);
            }
            isAny = true;
        }
        if (!isAny) {
            return;
        }
        try {
            onChange.run();
        } catch (LinuxSocket.Refused e) {
            LOG.log(System.Logger.Level.WARNING, "requests that nobody serves still come here: {0}",
                    e.getMessage());
        }
    }

    /**
     * {@return whether the table has all that it should have of this process, and nothing else} It looks at all services,
     * at all ports that this process holds, and at another part of the other ports each time. Only if the services seem to be
     * wrong it takes the lock of the table, if that is free, unless this thread has it: they may just be changing.
     */
    boolean isIntact() {
        return arePortsIntact() && (areServicesIntact() || areServicesIntactUnderLock());
    }

    private boolean arePortsIntact() {
        synchronized (reserved) {
            for (int place : reserved.keySet()) {
                if (isLost(table.owner(place >>> 16, place & 0xffff))) {
                    return false;
                }
            }
            for (Map.Entry<Integer, Integer> each : table.owners(nextPart.getAndIncrement())
                    .entrySet()) {
                int owner = each.getValue();
                if (isOwn(owner) && !(owner == prefix && reserved.containsKey(each.getKey()))) {
                    return false;
                }
            }
            return true;
        }
    }

    private boolean areServicesIntact() {
        for (Map.Entry<Integer, Uses> each : uses.entrySet()) {
            if (!changed.contains(each.getKey()) && !table.hasService(each.getKey(), prefix,
                    each.getValue().listening > 0)) {
                return false;
            }
        }
        for (int own : prefixes.own()) {
            for (int service : table.servicesOf(own)) {
                if (!(own == prefix && uses.containsKey(service)) && !changed.contains(service)) {
                    return false;
                }
            }
        }
        return true;
    }

    private boolean areServicesIntactUnderLock() {
        if (locks.isLocked()) {
            return areServicesIntact();
        }
        if (!locks.tryLock(0)) {
            return true;
        }
        try {
            return areServicesIntact();
        } finally {
            locks.unlock();
        }
    }

    private boolean isOwn(int owner) {
        return prefixes.isOwn(owner << PortSharing.QUEUE_PAIR_BITS);
    }

    /** {@return whether a port of this process is free for others} Another process may have taken it meanwhile. */
    private boolean isLost(int owner) {
        return owner != prefix && (owner == 0 || !prefixes.mayBeAlive(owner));
    }

    /** Enters into the table what it should have of this process. Under the lock. */
    void restore() {
        uses.forEach((service, each) -> {
            if (!table.enterService(service, prefix, each.listening > 0)) {
                LOG.log(System.Logger.Level.WARNING,
                        "the table has no room for a service that is listened at");
            }
        });
        synchronized (reserved) {
            for (int place : reserved.keySet()) {
                if (isLost(table.owner(place >>> 16, place & 0xffff))) {
                    table.owner(place >>> 16, place & 0xffff, prefix);
                }
            }
        }
    }

    /** As {@link PortSharing#otherListener}. Takes no lock, so it may miss a concurrent change. */
    int otherListener(Gid address, int service) {
        if (usesOf(service).listening > 0) {
            return 0;
        }
        for (int each : table.listeners(service)) {
            if (!isOwn(each) && table.has(table.first(each), address)
                    && prefixes.mayBeAlive(each)) {
                return each;
            }
        }
        return 0;
    }

    /** Removes the services of dead processes. */
    private void forgetTheDead() throws LinuxSocket.Refused {
        BitSet dead = prefixes.dead(table.servers());
        dead.stream().forEach(table::forgetServicesOf);
    }

    /** As {@link PortSharing#reserve}. */
    PortSharing.Reservation reserve(int service) throws RdmaException {
        int port = service & 0xffff;
        int row = switch (service >>> 16) {
            case TCP -> 0;
            case UDP -> 1;
            case IB -> 2;
            default -> throw new IllegalArgumentException(
                    "no port space has the number " + (service >>> 16));
        };
        locks.lock();
        try {
            take(row, port);
        } catch (LinuxSocket.Refused e) {
            throw locks.unusable(e);
        } finally {
            locks.unlock();
        }
        AtomicBoolean isReleased = new AtomicBoolean();
        return () -> {
            if (isReleased.compareAndSet(false, true)) {
                release(row, port);
            }
        };
    }

    /** Under the lock. */
    private void take(int row, int port) throws LinuxSocket.Refused, RdmaException {
        synchronized (reserved) {
            int owner = table.owner(row, port);
            if (owner != 0 && owner != prefix && prefixes.isAlive(owner)) {
                throw new RdmaException(Errno.EADDRINUSE, "bind address", "port " + port
                        + " is held by " + ProcessIdentity.text(table.process(owner))
                        + "; end that one, or choose another port");
            }
            table.owner(row, port, prefix);
            reserved.merge(row << 16 | port, 1, Integer::sum);
        }
    }

    /**
     * Several ids of this process may share a port. Only the owner writes the byte of a port, so this needs no lock of the
     * table.
     */
    private void release(int row, int port) {
        synchronized (reserved) {
            if (reserved.merge(row << 16 | port, -1, Integer::sum) == 0) {
                reserved.remove(row << 16 | port);
                table.owner(row, port, 0);
            }
        }
    }
}
