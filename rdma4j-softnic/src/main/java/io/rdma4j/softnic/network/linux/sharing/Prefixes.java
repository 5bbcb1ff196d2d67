// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.sharing;

import io.rdma4j.softnic.network.PortSharing;
import io.rdma4j.softnic.network.linux.calls.LinuxSocket;
import io.rdma4j.softnic.network.linux.calls.ProcessIdentity;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.List;

/**
 * The prefixes of the processes. A process holds a lock on each of its prefixes, which the system releases when the process
 * ends in any way.
 */
final class Prefixes {
    private static final System.Logger LOG = System.getLogger(Prefixes.class.getName());

    private final TableLocks locks;
    private final SharedTable table;
    /** Replaced, not changed, for packets look here without the lock. */
    private volatile boolean[] own = new boolean[SharedTable.LAST_PREFIX + 2];

    Prefixes(TableLocks locks, SharedTable table) {
        this.locks = locks;
        this.table = table;
    }

    /**
     * Takes the next prefix after the last one taken, so that packets to a process that has died do not reach a new one.
     * Under the lock.
     *
     * @param first the first prefix of this process, 0 if it has none yet
     */
    int take(int first) throws LinuxSocket.Refused, RdmaException {
        BitSet inUse = forgetTheDead();
        int candidate = table.lastTaken();
        for (int i = SharedTable.FIRST_PREFIX; i <= SharedTable.LAST_PREFIX; i++) {
            candidate = candidate >= SharedTable.LAST_PREFIX
                    ? SharedTable.FIRST_PREFIX
                    : candidate + 1;
            if (!inUse.get(candidate) && !own[candidate]
                    && locks.take(candidate)) {
                table.taken(candidate, first == 0 ? candidate : first,
                        ProcessIdentity.own());
                boolean[] more = own.clone();
                more[candidate] = true;
                own = more;
                return candidate;
            }
        }
        throw new RdmaException(Errno.EAGAIN, SharedTable.OPERATION, "all "
                + SharedTable.LAST_PREFIX
                + " shares are taken, by processes and by further class loaders"
                + " that have loaded rdma4j; end some");
    }

    /**
     * Removes dead processes from the places of their sockets, and ends groups without a live process, because perhaps no
     * process will ever join at their addresses again. The process in an unnamed place is found by a probe when a packet
     * goes to another process.
     *
     * @return the prefixes that have sockets
     */
    private BitSet forgetTheDead() throws LinuxSocket.Refused {
        BitSet named = new BitSet();
        List<Integer> groups = table.used();
        for (int group : groups) {
            table.places(group).forEach(named::set);
        }
        named.clear(SharedTable.NOBODY);
        BitSet dead = dead(named.stream().boxed().toList());
        for (int group : groups) {
            List<Integer> places = table.places(group);
            if (places.stream().anyMatch(dead::get)) {
                places.replaceAll(each -> dead.get(each) ? SharedTable.NOBODY : each);
                boolean isOver = places.stream().allMatch(each -> each == SharedTable.NOBODY);
                table.places(group, isOver ? List.of() : places);
            }
        }
        named.andNot(dead);
        return named;
    }

    /** {@return whether a queue pair number or a communication identifier belongs to this process} For any thread. */
    boolean isOwn(int number) {
        return own[of(number)];
    }

    /** {@return the prefixes of this process} */
    List<Integer> own() {
        List<Integer> all = new ArrayList<>();
        for (int prefix = 0; prefix < own.length; prefix++) {
            if (own[prefix]) {
                all.add(prefix);
            }
        }
        return all;
    }

    /** {@return the prefix of a queue pair's number} */
    static int of(int queuePair) {
        return (queuePair >>> PortSharing.QUEUE_PAIR_BITS) & 0xff;
    }

    /** {@return whether the process of a prefix lives} */
    boolean isAlive(int prefix) throws LinuxSocket.Refused {
        return own[prefix & 0xff] || locks.isOthers(prefix);
    }

    /** {@return whether the process of a prefix lives, as far as is known} */
    boolean mayBeAlive(int prefix) {
        try {
            return isAlive(prefix);
        } catch (LinuxSocket.Refused e) {
            LOG.log(System.Logger.Level.DEBUG, "whether a process lives is not known", e);
            return true;
        }
    }

    /** {@return the prefixes whose processes live, each once} */
    List<Integer> alive(List<Integer> places) throws LinuxSocket.Refused {
        List<Integer> alive = new ArrayList<>();
        BitSet dead = dead(places);
        for (int each : places) {
            if (!dead.get(each) && !alive.contains(each)) {
                alive.add(each);
            }
        }
        return alive;
    }

    /** {@return the prefixes whose processes have died} Each is checked once, even if it is named several times. */
    BitSet dead(Collection<Integer> some) throws LinuxSocket.Refused {
        BitSet dead = new BitSet();
        BitSet asked = new BitSet();
        for (int each : some) {
            if (!asked.get(each)) {
                asked.set(each);
                dead.set(each, !isAlive(each));
            }
        }
        return dead;
    }
}
