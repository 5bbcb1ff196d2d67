// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.sharing;

import io.rdma4j.softnic.network.linux.calls.LinuxCalls;
import io.rdma4j.softnic.network.linux.calls.LinuxSocket;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The groups of sockets that this process has one in, and the places that the {@link SharedTable} has of them. The kernel selects a socket
 * of a group by the program that the last one to change the group has set.
 *
 * <p>Changed under the lock of the table, except by {@link #forget}.
 */
final class ReuseportGroups {
    private final SharedTable table;
    private final Prefixes prefixes;
    private final int prefix;
    private final ReuseportOrder finder;
    private final UnknownSockets unknown;
    /** The socket of this process at each address. */
    private final Map<Membership, LinuxSocket> sockets = new ConcurrentHashMap<>();
    /** Where the table had the groups last. */
    private final Map<Membership, Integer> groups = new ConcurrentHashMap<>();

    /**
     * A group of sockets that this process has one in.
     *
     * @param scope the interface of a link-local address, else 0
     */
    private record Membership(Gid address, int scope) {}

    /**
     * The sockets that share an address.
     *
     * @param scope the interface of a link-local address, else 0
     * @param places the prefix of the process of each
     */
    record Places(int scope, List<Integer> places) {}

    /** @param prefix that this process began with */
    ReuseportGroups(SharedTable table, Prefixes prefixes, int prefix, ReuseportOrder finder,
            UnknownSockets unknown) {
        this.table = table;
        this.prefixes = prefixes;
        this.prefix = prefix;
        this.finder = finder;
        this.unknown = unknown;
    }

    boolean has(LinuxSocket socket) {
        return sockets.containsValue(socket);
    }

    /** {@return the groups of an address of which this process has a socket} */
    List<Places> at(Gid address) {
        List<Places> found = new ArrayList<>();
        for (Membership each : sockets.keySet()) {
            int group = each.address.equals(address) ? groupOf(each) : -1;
            if (group >= 0) {
                found.add(new Places(each.scope, table.places(group)));
            }
        }
        return found;
    }

    // ---------------------------------------------------------------- joining and leaving

    /**
     * Binds a socket to an address beside those of other processes. Under the lock.
     *
     * @param hadUnknown as {@link UnknownSockets#lockWhenAllAreKnown} has returned
     * @throws LinuxSocket.Refused if the address cannot be bound; with EADDRINUSE if this process has a socket there
     */
    void join(Gid address, int scope, LinuxSocket socket, SocketBinding binding, boolean hadUnknown)
            throws LinuxSocket.Refused, RdmaException {
        int found = table.find(address, scope);
        int group = found < 0 ? table.begin(address, scope) : found;
        if (group < 0 || table.places(group).size() >= SharedTable.MAX_PLACES) {
            throw new RdmaException(Errno.EAGAIN, SharedTable.OPERATION,
                    "no more sockets can share it on this machine");
        }
        Membership membership = new Membership(address, scope);
        if (sockets.containsKey(membership)) {
            throw new LinuxSocket.Refused(LinuxCalls.EADDRINUSE, "bind");
        }
        boolean isUncertain = table.isChanging(group);
        if (hadUnknown) {
            // Before the socket is bound: who does not share by this table shall lose no packet.
            boolean _ = unknown.hadStrangers(address, 0);
            isUncertain = true;
        }
        table.changing(group, true);
        List<Integer> before = table.places(group);
        boolean isBound = false;
        try {
            binding.bind(socket);
            isUncertain |= unknown.hadStrangers(address, 1);
            isBound = true;
        } finally {
            if (!isBound) {
                socket.close();
                table.changing(group, isUncertain);
            }
        }
        sockets.put(membership, socket);
        List<Integer> members = prefixes.alive(before);
        members.removeIf(each -> each == prefix);
        isUncertain |= members.size() < before.size();
        members.add(prefix);
        settle(group, socket, isUncertain ? finder.inOrder(group, members) : members);
    }

    /**
     * Closes a socket. If the table could not be updated, the next misdirected packet starts a probe, which finds that the
     * socket is gone.
     */
    void forget(LinuxSocket socket) {
        sockets.values().remove(socket);
        groups.keySet().retainAll(sockets.keySet());
        socket.close();
    }

    /**
     * Closes a member of a group, and enters which socket has its place then; nothing if it is no member. Under the lock.
     */
    void leave(LinuxSocket socket) throws LinuxSocket.Refused {
        Membership membership = membershipOf(socket);
        int group = membership == null ? -1 : groupOf(membership);
        if (group < 0) {
            return;
        }
        List<Integer> places = new ArrayList<>(table.places(group));
        int place = places.indexOf(prefix);
        if (place >= 0) {
            int last = places.removeLast();
            if (place < places.size()) {
                places.set(place, last);
            }
        }
        boolean isUncertain = table.isChanging(group);
        table.changing(group, true);
        // While it can: afterwards it is no member any more.
        attach(socket, places);
        sockets.values().remove(socket);
        socket.close();
        table.places(group, places);
        table.changing(group, isUncertain && !places.isEmpty());
    }

    /** The places of a group are known. */
    private void settle(int group, LinuxSocket socket, List<Integer> places)
            throws LinuxSocket.Refused {
        table.places(group, places);
        attach(socket, places);
        table.changing(group, false);
    }

    private @Nullable Membership membershipOf(LinuxSocket socket) {
        for (Map.Entry<Membership, LinuxSocket> each : sockets.entrySet()) {
            if (each.getValue() == socket) {
                return each.getKey();
            }
        }
        return null;
    }

    /** {@return the group in the table, -1 if the table is damaged} */
    private int groupOf(Membership membership) {
        int known = groups.getOrDefault(membership, 0);
        if (table.isOf(known, membership.address, membership.scope)) {
            return known;
        }
        int group = table.find(membership.address, membership.scope);
        groups.put(membership, Math.max(group, 0));
        return group;
    }

    private void attach(LinuxSocket socket, List<Integer> places) throws LinuxSocket.Refused {
        int[] placeOf = new int[SharedTable.LAST_PREFIX + 2];
        Arrays.fill(placeOf, -1);
        for (int place = places.size() - 1; place >= 0; place--) {
            placeOf[places.get(place)] = place;
        }
        placeOf[SharedTable.NOBODY] = -1;
        Map<Integer, Integer> byPrefix = new HashMap<>();
        for (int each = SharedTable.FIRST_PREFIX; each <= SharedTable.LAST_PREFIX; each++) {
            int first = table.first(each);
            // A process that has not restored its part of the table has one prefix, as most do.
            int place = placeOf[first == SharedTable.NOBODY ? each : first];
            if (place >= 0) {
                byPrefix.put(each, place);
            }
        }
        SteeringProgram.of(byPrefix, table.services()).steer(socket);
    }

    /** Gives the group of each socket a program by what the table has now. Under the lock. */
    void attachAll() throws LinuxSocket.Refused {
        for (Map.Entry<Membership, LinuxSocket> each : sockets.entrySet()) {
            int group = groupOf(each.getKey());
            if (group >= 0) {
                attach(each.getValue(), table.places(group));
            }
        }
    }

    // ---------------------------------------------------------------- after a process has died, or the table was damaged

    /**
     * Brings the groups up to date. Under the lock.
     *
     * @param isDoubtful whether to probe although all processes seem to be alive
     * @return whether any process had died, or had left a change unfinished
     */
    boolean mend(boolean isDoubtful) throws LinuxSocket.Refused {
        boolean isMended = false;
        for (Map.Entry<Membership, LinuxSocket> each : sockets.entrySet()) {
            int group = groupOf(each.getKey());
            // One that is missing is restored by the next check.
            isMended |= group >= 0 && mend(group, each.getValue(), isDoubtful);
        }
        return isMended;
    }

    private boolean mend(int group, LinuxSocket socket, boolean isDoubtful)
            throws LinuxSocket.Refused {
        List<Integer> places = table.places(group);
        List<Integer> members = prefixes.alive(places);
        if (!members.contains(prefix)) {
            members.add(prefix);
        }
        boolean isWrong = table.isChanging(group) || !members.equals(places);
        if (isWrong || isDoubtful) {
            settle(group, socket, finder.inOrder(group, members));
        }
        return isWrong;
    }

    /** {@return whether the table has all sockets of this process} Without the lock, so only probably. */
    boolean isIntact() {
        for (Membership each : sockets.keySet()) {
            int group = groupOf(each);
            if (group < 0 || !table.hasPlace(group, prefix)) {
                return false;
            }
        }
        return true;
    }

    /** Enters again what the table should have; the programs stay as they are. Under the lock. */
    void restore() throws LinuxSocket.Refused {
        for (Membership each : sockets.keySet()) {
            restore(each);
        }
    }

    private void restore(Membership membership) throws LinuxSocket.Refused {
        int found = groupOf(membership);
        int group = found < 0 ? table.begin(membership.address, membership.scope) : found;
        if (group < 0 || table.places(group).contains(prefix)) {
            return;
        }
        List<Integer> members = prefixes.alive(table.places(group));
        members.add(prefix);
        // All sockets of the address are asked, as others may be missing, too.
        table.changing(group, true);
        table.places(group, finder.inOrder(group, members));
        table.changing(group, false);
    }
}
