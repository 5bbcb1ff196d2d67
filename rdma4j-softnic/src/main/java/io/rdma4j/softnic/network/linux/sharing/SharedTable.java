// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.sharing;

import io.rdma4j.softnic.network.linux.calls.MemoryCalls;
import io.rdma4j.verbs.Gid;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The memory with the common state of the processes of one user that share UDP port 4791: the process
 * of each prefix, the places of the sockets of each address, the owner of each service port. The holder of the lock of
 * {@link SharedPort} reads and changes it; only the answers to probes are written without the lock, each by one process.
 *
 * <p>Other processes write its contents: numbers out of range are ignored.
 */
final class SharedTable {
    /** Longer than processes take to notice that the table is damaged. */
    static final long MAX_RESTORING_NS = 3_000_000_000L;
    /** How long to rest between two looks whether they have restored it. */
    static final long RESTORED_LOOK_NS = 20_000_000;
    /** The version of the layout, and of the rules by which processes use it. */
    static final int VERSION = 5;
    /** What to call it in a text. */
    static final String NAME = "the table of shared addresses";
    /** What errors of sharing are about. */
    static final String OPERATION = "share UDP port 4791";
    /** The entry of a place without a process, or whose process is not known. */
    static final int NOBODY = 0;
    /** 0 and 255 are left out: in them lie the queue pairs 0 and 1 and the one of multicast. */
    static final int FIRST_PREFIX = 1;
    static final int LAST_PREFIX = 254;
    static final int MAX_PLACES = 254;
    static final int MAX_GROUPS = 512;
    /** The maximum number that a steering program can distinguish. */
    static final int MAX_SERVICES = 1350;

    private static final long MAGIC = 0x7264_6d61_346a_7031L; // "rdma4jp1"
    private static final long MAGIC_AT = 0;
    private static final long VERSION_AT = 8;
    private static final long NONCE_AT = 16;
    private static final long LAST_TAKEN_AT = 24;
    /** Which process has had the lock last: see {@link TableLocks}. */
    static final long HOLDER_AT = 32;
    private static final long KEY_AT = 40;
    /** In a cache line of its own: each packet looks there. */
    private static final long CHANGES_AT = 128;
    private static final long ANSWERS_AT = 256;
    private static final long FIRSTS_AT = 512;
    private static final long PROCESSES_AT = 1024;
    private static final long GROUPS_AT = 4096;
    private static final long GROUP_CHANGING = 0;
    private static final long GROUP_SCOPE = 4;
    private static final long GROUP_ADDRESS = 8;
    /**
     * How often the list of places was replaced; the lowest bit is the index of the valid one of the two lists. Changes are
     * written to the other list, which then becomes valid.
     */
    private static final long GROUP_LIST = 24;
    private static final long GROUP_LISTS = 32;
    /** After so many attempts a list is taken as it was read; a damaged table shall stop nobody. */
    private static final int MOST_READS = 1000;
    /** A list is the number of places, and the prefix of each. */
    private static final long LIST_PLACES = 4;
    private static final long LIST_LENGTH = 260;
    private static final long GROUP_LENGTH = GROUP_LISTS + 2 * LIST_LENGTH + 8;
    private static final long OWNERS_AT = GROUPS_AT + MAX_GROUPS * GROUP_LENGTH;
    private static final int PORTS = 1 << 16;
    private static final int SPACES = 3;
    /** In how many parts {@link #owners} divides the ports. */
    static final int OWNER_PARTS = 16;
    private static final long SERVICES_AT = OWNERS_AT + SPACES * PORTS;
    private static final long SERVICE_LENGTH = 8;
    /** In the entry of a service whose listener is closed, for as long as requests of it are not answered. */
    private static final long ONLY_REPETITIONS = 1L << 40;
    private static final long MAILBOXES_AT = SERVICES_AT + 8 + MAX_SERVICES * SERVICE_LENGTH;
    static final long LENGTH = MAILBOXES_AT + MailboxTable.LENGTH;

    private final TableMemory memory;

    /** @param memory zeros at first */
    SharedTable(MemorySegment memory) {
        this.memory = new TableMemory(memory);
    }

    /** {@return whether it was begun} It is new otherwise, or was damaged. */
    boolean isBegun() {
        return memory.longAt(MAGIC_AT) == MAGIC && memory.intAt(VERSION_AT) == VERSION;
    }

    /**
     * Clears the table, except for the last prefix taken, the holder of the lock and the number of changes. A process that is
     * killed meanwhile leaves a table that is not begun.
     */
    void clear() {
        memory.longAt(MAGIC_AT, 0);
        memory.clear(ANSWERS_AT, LENGTH);
        memory.longAt(KEY_AT, MemoryCalls.random());
        memory.intAt(VERSION_AT, VERSION);
        memory.longAt(MAGIC_AT, MAGIC);
    }

    // ---------------------------------------------------------------- processes

    /** {@return the prefix that was given out last} */
    int lastTaken() {
        return memory.intAt(LAST_TAKEN_AT) & 0xff;
    }

    /**
     * Begins with any prefix: packets may still be on their way to a process that had a prefix of a table before.
     */
    void beginAnywhere() {
        memory.intAt(LAST_TAKEN_AT,
                (int) Long.remainderUnsigned(MemoryCalls.random(), LAST_PREFIX));
    }

    /** @param first the first prefix of the process, which identifies it in groups */
    void taken(int prefix, int first, long pid) {
        belongs(prefix, first, pid);
        memory.intAt(LAST_TAKEN_AT, prefix);
    }

    /** Enters whose a prefix is. */
    void belongs(int prefix, int first, long pid) {
        memory.byteAt(FIRSTS_AT + prefix, first);
        memory.longAt(PROCESSES_AT + prefix * 8L, pid);
    }

    /** {@return the prefix that the process of a prefix began with} */
    int first(int prefix) {
        return memory.byteAt(FIRSTS_AT + prefix);
    }

    /** {@return the first prefix of the process of each prefix} */
    byte[] firsts() {
        return memory.copy(FIRSTS_AT, 256).array();
    }

    /** {@return the process that took a prefix last} */
    long process(int prefix) {
        return memory.longAt(PROCESSES_AT + prefix * 8L);
    }

    /** Marks a table that was damaged as begun, without clearing it. */
    void begin() {
        memory.intAt(VERSION_AT, VERSION);
        memory.longAt(MAGIC_AT, MAGIC);
    }

    /** {@return a number that only readers of the table know, by which processes recognize messages of each other} */
    long key() {
        return memory.longAt(KEY_AT);
    }

    // ---------------------------------------------------------------- groups of sockets

    /** {@return the index of the group of an address, -1 if it has none} */
    int find(Gid address, int scope) {
        for (int group : used()) {
            if (isOf(group, address, scope)) {
                return group;
            }
        }
        return -1;
    }

    /** {@return whether a group has sockets, and is that of an address} */
    boolean isOf(int group, Gid address, int scope) {
        long at = group(group);
        return count(group) > 0 && memory.intAt(at + GROUP_SCOPE) == scope
                && memory.longAt(at + GROUP_ADDRESS) == address.high()
                && memory.longAt(at + GROUP_ADDRESS + 8) == address.low();
    }

    /** {@return the groups that have sockets, in order} They are few, so all are looked through at once. */
    List<Integer> used() {
        ByteBuffer all = memory.copy(GROUPS_AT, (int) (MAX_GROUPS * GROUP_LENGTH));
        List<Integer> used = new ArrayList<>();
        for (int group = 0; group < MAX_GROUPS; group++) {
            int at = (int) (group * GROUP_LENGTH);
            int list = all.getInt(at + (int) GROUP_LIST) & 1;
            int count = all.getInt(at + (int) (GROUP_LISTS + list * LIST_LENGTH));
            if (count > 0 && count <= MAX_PLACES) {
                used.add(group);
            }
        }
        return used;
    }

    /** {@return whether a prefix has a socket at an address, on whichever interface} */
    boolean has(int prefix, Gid address) {
        for (int group : used()) {
            if (address(group).equals(address)
                    && places(group).contains(prefix)) {
                return true;
            }
        }
        return false;
    }

    /** {@return a new, empty group for an address that has none; -1 if there is no room} */
    int begin(Gid address, int scope) {
        for (int group = 0; group < MAX_GROUPS; group++) {
            if (count(group) == 0) {
                long at = group(group);
                changing(group, false);
                memory.intAt(at + GROUP_SCOPE, scope);
                memory.longAt(at + GROUP_ADDRESS, address.high());
                memory.longAt(at + GROUP_ADDRESS + 8, address.low());
                return group;
            }
        }
        return -1;
    }

    /** {@return how many sockets are bound to an address, on whichever interface} */
    int sockets(Gid address) {
        int sockets = 0;
        for (int group : used()) {
            sockets += address(group).equals(address) ? count(group) : 0;
        }
        return sockets;
    }

    /** {@return the address that the sockets of a group are bound to} */
    Gid address(int group) {
        return new Gid(memory.longAt(group(group) + GROUP_ADDRESS),
                memory.longAt(group(group) + GROUP_ADDRESS + 8));
    }

    /** {@return the interface that an address of the link belongs to, 0 for other addresses} */
    int scope(int group) {
        return memory.intAt(group(group) + GROUP_SCOPE);
    }

    private static long group(int group) {
        return GROUPS_AT + group * GROUP_LENGTH;
    }

    private static long list(int group, int list) {
        return group(group) + GROUP_LISTS + list * LIST_LENGTH;
    }

    private int count(int group) {
        return count(list(group, listNumber(group) & 1));
    }

    private int count(long list) {
        int count = memory.intAt(list);
        return count < 0 || count > MAX_PLACES ? 0 : count;
    }

    /** {@return whether a prefix is in one of the places of a group} */
    boolean hasPlace(int group, int prefix) {
        for (byte place : valid(group)) {
            if ((place & 0xff) == prefix) {
                return true;
            }
        }
        return false;
    }

    /** {@return the prefixes of a group's sockets in the order of their places} */
    List<Integer> places(int group) {
        byte[] valid = valid(group);
        List<Integer> places = new ArrayList<>(valid.length);
        for (byte place : valid) {
            places.add(place & 0xff);
        }
        return places;
    }

    /**
     * {@return a copy of the valid list} Who reads without the lock may be interrupted until the list has been replaced twice, and
     * would read the beginning of one and the end of another: it reads again.
     */
    private byte[] valid(int group) {
        for (int again = MOST_READS; true; again--) {
            int number = listNumber(group);
            long list = list(group, number & 1);
            byte[] places = memory.copy(list + LIST_PLACES, count(list)).array();
            VarHandle.loadLoadFence();
            if (number == listNumber(group) || again == 0) {
                return places;
            }
        }
    }

    /** {@return how often the list was replaced; the lowest bit says which of the two is valid} */
    private int listNumber(int group) {
        return memory.intAt(group(group) + GROUP_LIST);
    }

    /** Replaces the list of places. If the process is killed meanwhile, either the old or the new list is valid. */
    void places(int group, List<Integer> prefixes) {
        int next = listNumber(group) + 1;
        writeList(group, next & 1, prefixes);
        memory.intAt(group(group) + GROUP_LIST, next);
    }

    private void writeList(int group, int which, List<Integer> prefixes) {
        long list = list(group, which);
        for (int place = 0; place < prefixes.size(); place++) {
            memory.byteAt(list + LIST_PLACES + place, prefixes.get(place));
        }
        memory.intAt(list, prefixes.size());
    }

    /**
     * {@return whether the sockets of a group are being changed} If no live process does that, the one that did has died.
     */
    boolean isChanging(int group) {
        return memory.intAt(group(group) + GROUP_CHANGING) != 0;
    }

    void changing(int group, boolean isChanging) {
        memory.intAt(group(group) + GROUP_CHANGING, isChanging ? 1 : 0);
    }

    // ---------------------------------------------------------------- mailboxes

    /** {@return which devices have memory to meet in} */
    MailboxTable mailboxes() {
        return new MailboxTable(memory, MAILBOXES_AT, CHANGES_AT);
    }

    // ---------------------------------------------------------------- probes

    /** {@return the nonce of the present probes} */
    long nonce() {
        return memory.longAt(NONCE_AT);
    }

    /** Forgets the answers to earlier probes. */
    void beginProbes(long nonce) {
        memory.clear(ANSWERS_AT, FIRSTS_AT);
        memory.longAt(NONCE_AT, nonce);
    }

    /** For any thread, without the lock. */
    void answer(int place, int prefix) {
        memory.byteAt(ANSWERS_AT + place, prefix);
    }

    /** {@return the prefix that has answered from a place, 0 if none has yet} */
    int answer(int place) {
        return memory.byteAt(ANSWERS_AT + place);
    }

    // ---------------------------------------------------------------- ports of services

    /** {@return the prefix that owns a port, 0 for none} */
    int owner(int space, int port) {
        return memory.byteAt(owners(space, port));
    }

    void owner(int space, int port, int prefix) {
        memory.byteAt(owners(space, port), prefix);
    }

    /**
     * {@return the owners of the ports in one of {@value #OWNER_PARTS} parts, by space and port (space · 65536 + port)} Most
     * ports have none.
     *
     * @param part its remainder counts
     */
    Map<Integer, Integer> owners(int part) {
        int length = SPACES * PORTS / OWNER_PARTS;
        int from = Math.floorMod(part, OWNER_PARTS) * length;
        ByteBuffer owners = memory.copy(OWNERS_AT + from, length);
        Map<Integer, Integer> found = new HashMap<>();
        for (int at = 0; at < length; at += Long.BYTES) {
            if (owners.getLong(at) != 0) {
                for (int each = at; each < at + Long.BYTES; each++) {
                    if (owners.get(each) != 0) {
                        found.put(from + each, owners.get(each) & 0xff);
                    }
                }
            }
        }
        return found;
    }

    private static long owners(int space, int port) {
        return OWNERS_AT + (long) space * PORTS + port;
    }

    /** {@return the prefix that each service's requests are for} One that listens precedes one that only did. */
    Map<Integer, Integer> services() {
        Map<Integer, Integer> services = new TreeMap<>();
        Map<Integer, Integer> listening = new TreeMap<>();
        for (int i = 0; i < serviceCount(); i++) {
            long entry = memory.longAt(service(i));
            (isListening(entry) ? listening : services).put((int) entry, prefixOf(entry));
        }
        services.putAll(listening);
        return services;
    }

    /**
     * {@return the prefixes entered for a service, those that listen first; all except one may be of dead processes} From the
     * last entry to the first: an entry only moves to the place of an earlier one, so who reads without the lock misses none.
     */
    List<Integer> listeners(int service) {
        List<Integer> prefixes = new ArrayList<>();
        int listening = 0;
        for (int i = serviceCount() - 1; i >= 0; i--) {
            long entry = memory.longAt(service(i));
            if ((int) entry == service) {
                prefixes.add(isListening(entry) ? listening++ : prefixes.size(), prefixOf(entry));
            }
        }
        return prefixes;
    }

    /** {@return whether a prefix is entered for a service} */
    boolean hasService(int service, int prefix, boolean isListening) {
        for (int i = 0; i < serviceCount(); i++) {
            long entry = memory.longAt(service(i));
            if (isOf(entry, service, prefix)) {
                return isListening(entry) == isListening;
            }
        }
        return false;
    }

    /** {@return the services that a prefix is entered for} */
    Set<Integer> servicesOf(int prefix) {
        Set<Integer> services = new TreeSet<>();
        for (int i = 0; i < serviceCount(); i++) {
            long entry = memory.longAt(service(i));
            if (prefixOf(entry) == prefix) {
                services.add((int) entry);
            }
        }
        return services;
    }

    /** {@return the prefixes entered for any service} */
    Set<Integer> servers() {
        Set<Integer> prefixes = new TreeSet<>();
        for (int i = 0; i < serviceCount(); i++) {
            prefixes.add(prefixOf(memory.longAt(service(i))));
        }
        return prefixes;
    }

    /**
     * Enters a listener of a service, or changes its entry. The count is updated last, so that a process that dies meanwhile
     * leaves all other entries intact.
     *
     * @param isListening false if it only wants repetitions of requests that it has
     * @return false if there is no room
     */
    boolean enterService(int service, int prefix, boolean isListening) {
        int count = serviceCount();
        long entry = entry(service, prefix) | (isListening ? 0 : ONLY_REPETITIONS);
        for (int i = 0; i < count; i++) {
            if (isOf(memory.longAt(service(i)), service, prefix)) {
                memory.longAt(service(i), entry);
                return true;
            }
        }
        if (count == MAX_SERVICES) {
            return false;
        }
        memory.longAt(service(count), entry);
        memory.intAt(SERVICES_AT, count + 1);
        return true;
    }

    /** Removes a listener of a service: the last entry replaces it, and may be in the table twice for a moment. */
    void removeService(int service, int prefix) {
        for (int i = serviceCount() - 1; i >= 0; i--) {
            if (isOf(memory.longAt(service(i)), service, prefix)) {
                int last = serviceCount() - 1;
                memory.longAt(service(i), memory.longAt(service(last)));
                memory.intAt(SERVICES_AT, last);
            }
        }
    }

    /** Forgets all ports and services of a prefix. */
    void forgetServicesOf(int prefix) {
        for (int i = serviceCount() - 1; i >= 0; i--) {
            long entry = memory.longAt(service(i));
            if (prefixOf(entry) == prefix) {
                removeService((int) entry, prefix);
            }
        }
        // Copied as a whole: most ports have no owner, and single reads are slow in a JVM that has just started.
        ByteBuffer owners = memory.copy(OWNERS_AT, SPACES * PORTS);
        for (int at = 0; at < owners.capacity(); at += Long.BYTES) {
            if (owners.getLong(at) != 0) {
                forgetOwners(OWNERS_AT + at, prefix);
            }
        }
    }

    private void forgetOwners(long at, int prefix) {
        for (long each = at; each < at + Long.BYTES; each++) {
            if (memory.byteAt(each) == prefix) {
                memory.byteAt(each, 0);
            }
        }
    }

    private static long entry(int service, int prefix) {
        return ((long) prefix << Integer.SIZE) | (service & 0xffff_ffffL);
    }

    private static boolean isOf(long entry, int service, int prefix) {
        return (entry & ~ONLY_REPETITIONS) == entry(service, prefix);
    }

    private static boolean isListening(long entry) {
        return (entry & ONLY_REPETITIONS) == 0;
    }

    private static int prefixOf(long entry) {
        return (int) (entry >>> Integer.SIZE) & 0xff;
    }

    private int serviceCount() {
        int count = memory.intAt(SERVICES_AT);
        return count < 0 || count > MAX_SERVICES ? 0 : count;
    }

    private static long service(int i) {
        return SERVICES_AT + 8 + i * SERVICE_LENGTH;
    }
}
