package io.rdma4j.softnic.network.linux;

import io.rdma4j.softnic.network.PortSharing;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.List;

/**
 * Which process has which prefix. A process holds a lock on each of its own, which the system releases when it ends, however it
 * ends.
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
     * Takes a prefix, the one after the last: what was sent to a process that has died shall not reach a new one. Under the
     * lock.
     *
     * @param first the prefix that this process began with, 0 if it begins now
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
                        ProcessHandle.current().pid());
                boolean[] more = own.clone();
                more[candidate] = true;
                own = more;
                return candidate;
            }
        }
        throw new RdmaException(Errno.EAGAIN, SharedPort.OPERATION, "all "
                + SharedTable.LAST_PREFIX + " shares are taken by other processes; end some");
    }

    /**
     * Takes the names of dead processes away from the places of their sockets, and ends groups in which nobody lives: nobody
     * may ever join at their addresses again. Who is in a place without a name is asked when a packet goes astray.
     *
     * @return the prefixes that have sockets
     */
    private BitSet forgetTheDead() throws LinuxSocket.Refused {
        BitSet named = new BitSet();
        for (int group = 0; group < SharedTable.MAX_GROUPS; group++) {
            table.places(group).forEach(named::set);
        }
        named.clear(SharedTable.NOBODY);
        BitSet dead = dead(named.stream().boxed().toList());
        for (int group = 0; group < SharedTable.MAX_GROUPS; group++) {
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

    /** {@return whether a queue pair's number, or a communication identifier, is of this process} Any thread may ask. */
    boolean isOwn(int number) {
        return own[of(number)];
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

    /** {@return those whose processes live, each once} */
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

    /** {@return those of some prefixes whose processes have died} Each is asked for once, however often it is named. */
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
