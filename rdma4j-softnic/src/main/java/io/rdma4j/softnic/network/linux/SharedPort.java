package io.rdma4j.softnic.network.linux;

import io.rdma4j.softnic.network.PortHolder;
import io.rdma4j.softnic.network.PortSharing;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/**
 * This process's share of UDP port 4791: a number prefix that no other process of the user has, its sockets in the
 * groups that share an address, and the BPF programs by which the kernel selects a socket.
 *
 * <p>The kernel keeps the sockets of a group in an array: a new one is appended, and when one is closed the last takes its
 * place. {@link SharedTable} has the place of each socket. When a process has died, the table is out of date, and packets
 * may reach the wrong process. A process that receives such a packet, joins or leaves updates the table
 * ({@link #mend}): it sends a {@link PlaceProbe} to each place to find out which process is there.
 *
 * <p>Thread safe. One process at a time has the lock, and never for long.
 */
final class SharedPort implements PortSharing, AutoCloseable {
    private static final System.Logger LOG = System.getLogger(SharedPort.class.getName());
    /** Packets are on their way when the groups are mended; and strangers may send what is nobody's. */
    private static final long MIN_REST_NS = 1_000_000;
    private static final long MAX_REST_NS = 50_000_000;
    /** Longer than a new process takes to run its program. */
    private static final long MAX_STRANGER_NS = 500_000_000;
    private static final long STRANGER_LOOK_NS = 1_000_000;
    /** Longer than others have the lock, if they run. */
    private static final long AT_ONCE_NS = 2_000_000;
    static final String OPERATION = "share UDP port 4791";

    private final Path file;
    private final Arena arena;
    private final TableLocks locks;
    private final SharedTable table;
    private final PlaceFinder finder;
    private final MailboxTable mailboxes;
    /** The socket of this process in each group. Changed under the lock. */
    private final Map<Integer, LinuxSocket> sockets = new ConcurrentHashMap<>();
    /** What is to be given up as soon as others let go of the lock. */
    private final Queue<LinuxSocket> leaving = new ConcurrentLinkedQueue<>();
    private final Queue<MailboxTable.Entry> withdrawn = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean isMending = new AtomicBoolean();
    private volatile long lastMendNs = System.nanoTime() - MAX_REST_NS;
    private volatile long restNs = MIN_REST_NS;
    private volatile boolean wasMended;
    private final Prefixes prefixes;
    private final ServicePorts services;
    private final int prefix;

    private static @Nullable SharedPort ofProcess;

    /** {@return this process's share, taken by the first call; null where there is no folder to meet in} */
    static synchronized @Nullable SharedPort ofProcess() throws RdmaException {
        SharedPort present = ofProcess;
        Path folder = present == null ? SharedFolder.ofUser() : null;
        if (folder != null) {
            String name = SharedFile.name();
            present = open(folder, name);
            ofProcess = present;
            SharedFile.deleteUnused(folder, name);
        }
        return present;
    }

    /** Makes a socket a member of a group: it may be bound beside others from now on, and is. */
    interface Binding {
        void bind(LinuxSocket socket) throws LinuxSocket.Refused;
    }

    /**
     * Takes part in what the processes that use a folder share.
     *
     * @param name of the file, which tells apart what has nothing to do with each other
     * @throws RdmaException EACCES if the file cannot be used, EBUSY if processes of another version use it, EAGAIN if all
     *         prefixes are taken, ENOMEM if there is no room for the file
     */
    static SharedPort open(Path folder, String name) throws RdmaException {
        Arena arena = Arena.ofShared();
        try {
            return new SharedPort(folder.resolve(name), arena);
        } catch (RdmaException e) {
            arena.close();
            throw e;
        } catch (IOException | LinuxSocket.Refused e) {
            arena.close();
            throw new RdmaException(Errno.EACCES, OPERATION,
                    folder.resolve(name) + " cannot be used: " + e.getMessage(), e);
        }
    }

    private SharedPort(Path file, Arena arena)
            throws IOException, LinuxSocket.Refused, RdmaException {
        this.file = file;
        this.arena = arena;
        locks = SharedFile.locked(file, arena);
        PlaceFinder probing = null;
        boolean hasBegun = false;
        try {
            table = SharedTable.map(file, arena);
            prefixes = new Prefixes(locks, table);
            probing = new PlaceFinder(table, prefixes, arena);
            finder = probing;
            beginIfUnused();
            mailboxes = table.mailboxes();
            prefix = prefixes.take(0);
            forgetPredecessor(prefix);
            services = new ServicePorts(locks, table, prefixes, prefix, this::attachAll);
            hasBegun = true;
        } finally {
            locks.unlock();
            if (!hasBegun) {
                locks.close();
                if (probing != null) {
                    probing.close();
                }
            }
        }
    }

    /** What dead processes have left behind is nobody's, once nobody lives. */
    private void beginIfUnused() throws LinuxSocket.Refused, RdmaException {
        int present = locks.anyOthers();
        if (present == SharedTable.NOBODY) {
            table.clear();
        } else if (table.version() != SharedTable.VERSION) {
            throw new RdmaException(Errno.EBUSY, OPERATION, "process "
                    + table.process(present) + " shares it by the rules of another version of"
                    + " rdma4j (" + table.version() + ", not " + SharedTable.VERSION
                    + "): end it, or use the same version");
        }
    }

    // ---------------------------------------------------------------- prefixes

    @Override
    public boolean isShared() {
        return true;
    }

    @Override
    public int prefix() {
        return prefix;
    }

    @Override
    public boolean isOwn(int queuePair) {
        return prefixes.isOwn(queuePair);
    }

    @Override
    public boolean isOthers(int other) {
        return other != 0 && !isOwn(other << QUEUE_PAIR_BITS) && prefixes.mayBeAlive(other);
    }

    @Override
    public int otherListener(Gid address, int service) {
        return services.otherListener(address, service);
    }

    @Override
    public int takePrefix() throws RdmaException {
        locks.lock();
        try {
            int taken = prefixes.take(prefix);
            forgetPredecessor(taken);
            attachAll();
            return taken;
        } catch (LinuxSocket.Refused e) {
            throw locks.unusable(e);
        } finally {
            locks.unlock();
        }
    }

    // ---------------------------------------------------------------- groups

    /**
     * Binds a socket to an address beside those of other processes.
     *
     * @param scope of an address of the link, else 0
     * @throws LinuxSocket.Refused if the address cannot be bound to; with EADDRINUSE if this process has a socket there
     */
    void join(Gid address, int scope, LinuxSocket socket, Binding binding)
            throws LinuxSocket.Refused, RdmaException {
        locks.lock();
        try {
            giveUp();
            int found = table.find(address, scope);
            int group = found < 0 ? table.begin(address, scope) : found;
            if (group < 0 || table.places(group).size() >= SharedTable.MAX_PLACES) {
                throw new RdmaException(Errno.EAGAIN, OPERATION,
                        "no more sockets can share it on this machine");
            }
            if (sockets.containsKey(group)) {
                throw new LinuxSocket.Refused(LinuxCalls.EADDRINUSE, "bind");
            }
            boolean isUncertain = table.isChanging(group);
            table.changing(group, true);
            List<Integer> before = table.places(group);
            boolean isBound = false;
            try {
                binding.bind(socket);
                isUncertain |= hadStrangers(address, table.sockets(address) + 1);
                isBound = true;
            } finally {
                if (!isBound) {
                    socket.close();
                    table.changing(group, isUncertain);
                }
            }
            sockets.put(group, socket);
            List<Integer> members = prefixes.alive(before);
            members.removeIf(each -> each == prefix);
            isUncertain |= members.size() < before.size();
            members.add(prefix);
            settle(group, isUncertain ? finder.inOrder(group, members) : members);
        } finally {
            locks.unlock();
        }
    }

    /**
     * {@return whether there were sockets that are not in the table, for a moment} A process that starts another one, which has
     * copies of all its files until it runs its own program, keeps a socket alive so long that it has closed.
     *
     * @throws RdmaException EADDRINUSE if they are there for longer
     */
    private boolean hadStrangers(Gid address, int known) throws RdmaException {
        InetAddress local = address.address();
        long untilNs = System.nanoTime() + MAX_STRANGER_NS;
        boolean hadAny = false;
        while (PortHolder.count(local, io.rdma4j.protocol.roce.wire.Path.UDP_PORT) > known) {
            hadAny = true;
            if (System.nanoTime() - untilNs > 0) {
                throw new RdmaException(Errno.EADDRINUSE, "open device", "UDP port 4791 of "
                        + local.getHostAddress() + " is shared by processes that are not in "
                        + file + ", which this one uses: start all of them with the same"
                        + " XDG_RUNTIME_DIR");
            }
            LockSupport.parkNanos(STRANGER_LOOK_NS);
        }
        return hadAny;
    }

    /**
     * Closes a socket, and lets the others know who takes its place if it has joined them. Does not wait: while others have
     * the lock it is done behind the caller's back, for who drives an engine shall not stand still because a process does.
     */
    void leave(LinuxSocket socket) {
        if (!sockets.containsValue(socket)) {
            socket.close();
            return;
        }
        leaving.add(socket);
        try {
            giveUpSoon();
        } catch (IllegalStateException closed) {
            // Others can be told no longer, and see it as they see that a process has died.
            leaving.remove(socket);
            forget(socket);
            throw closed;
        }
    }

    private void giveUpSoon() {
        if (locks.tryLock(AT_ONCE_NS)) {
            try {
                giveUp();
            } finally {
                locks.unlock();
            }
        } else {
            Thread.ofPlatform().daemon().name("rdma4j-share").start(this::giveUpLater);
        }
    }

    private void giveUpLater() {
        try {
            locks.lock();
        } catch (RdmaException e) {
            LOG.log(System.Logger.Level.WARNING,
                    "packets of others may go astray, and they look for mailboxes in vain: {0}",
                    e.getMessage());
            leaving.forEach(this::forget);
            leaving.clear();
            return;
        }
        try {
            giveUp();
        } finally {
            locks.unlock();
        }
    }

    /** Under the lock, and before anything is taken again. */
    private void giveUp() {
        for (LinuxSocket socket = leaving.poll(); socket != null; socket = leaving.poll()) {
            try {
                leaveGroup(socket);
            } catch (LinuxSocket.Refused e) {
                LOG.log(System.Logger.Level.WARNING, "packets of others may go astray: {0}",
                        e.getMessage());
            } finally {
                forget(socket);
            }
        }
        for (MailboxTable.Entry mailbox = withdrawn.poll(); mailbox != null; mailbox = withdrawn
                .poll()) {
            mailboxes.remove(mailbox);
        }
    }

    /** What could not be written down shows when packets go astray: the socket is asked for its place, and is not there. */
    private void forget(LinuxSocket socket) {
        sockets.values().remove(socket);
        socket.close();
    }

    private void leaveGroup(LinuxSocket socket) throws LinuxSocket.Refused {
        int group = groupOf(socket);
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
        attach(group, places);
        sockets.remove(group);
        socket.close();
        table.places(group, places);
        table.changing(group, isUncertain && !places.isEmpty());
    }

    /** The places of a group are known. */
    private void settle(int group, List<Integer> places) throws LinuxSocket.Refused {
        table.places(group, places);
        attach(group, places);
        table.changing(group, false);
    }

    private int groupOf(LinuxSocket socket) {
        for (Map.Entry<Integer, LinuxSocket> each : sockets.entrySet()) {
            if (each.getValue() == socket) {
                return each.getKey();
            }
        }
        return -1;
    }

    private void attach(int group, List<Integer> places) throws LinuxSocket.Refused {
        LinuxSocket socket = sockets.get(group);
        if (socket == null) {
            return;
        }
        int[] placeOf = new int[SharedTable.LAST_PREFIX + 2];
        Arrays.fill(placeOf, -1);
        for (int place = places.size() - 1; place >= 0; place--) {
            placeOf[places.get(place)] = place;
        }
        placeOf[SharedTable.NOBODY] = -1;
        Map<Integer, Integer> byPrefix = new HashMap<>();
        for (int each = SharedTable.FIRST_PREFIX; each <= SharedTable.LAST_PREFIX; each++) {
            int place = placeOf[table.first(each)];
            if (place >= 0) {
                byPrefix.put(each, place);
            }
        }
        socket.steer(SteeringProgram.of(byPrefix, table.services()));
    }

    private void attachAll() throws LinuxSocket.Refused {
        for (int group : sockets.keySet()) {
            attach(group, table.places(group));
        }
    }

    // ---------------------------------------------------------------- mailboxes

    /** {@return which devices have memory to meet in; to be looked at without the lock} */
    MailboxTable mailboxes() {
        return mailboxes;
    }

    /** Lets other processes know the mailbox of the device that has an address. {@return false if there is no room} */
    boolean publish(MailboxTable.Entry mailbox) throws RdmaException {
        locks.lock();
        try {
            giveUp();
            forgetMailboxesOfTheDead();
            return mailboxes.add(mailbox);
        } catch (LinuxSocket.Refused e) {
            throw locks.unusable(e);
        } finally {
            locks.unlock();
        }
    }

    /** An address is not the device's any more, and not to be reached by its mailbox. Does not wait, as {@link #leave}. */
    void withdraw(MailboxTable.Entry mailbox) {
        withdrawn.add(mailbox);
        giveUpSoon();
    }

    private void forgetMailboxesOfTheDead() throws LinuxSocket.Refused {
        List<MailboxTable.Entry> all = mailboxes.all();
        BitSet dead = prefixes.dead(all.stream().map(MailboxTable.Entry::prefix).toList());
        for (MailboxTable.Entry each : all) {
            if (dead.get(each.prefix())) {
                mailboxes.remove(each);
            }
        }
    }

    /** Whoever had the prefix before is dead, and what it has left behind is not to be taken for its successor's. */
    private void forgetPredecessor(int prefixTaken) {
        table.forgetServicesOf(prefixTaken);
        for (MailboxTable.Entry each : mailboxes.all()) {
            if (each.prefix() == prefixTaken) {
                mailboxes.remove(each);
            }
        }
    }

    /** {@return which processes live} */
    Prefixes prefixes() {
        return prefixes;
    }

    /** {@return the prefix that the process of a queue pair's number began with} */
    int firstPrefix(int queuePair) {
        return table.first(Prefixes.of(queuePair));
    }

    // ---------------------------------------------------------------- services

    @Override
    public void listen(int service) throws RdmaException {
        services.listen(service);
    }

    @Override
    public void stopListening(int service) {
        services.stopListening(service);
    }

    @Override
    public Reservation reserve(int service) throws RdmaException {
        return services.reserve(service);
    }

    // ---------------------------------------------------------------- after a process has died

    @Override
    public void onAstray(int queuePair) {
        if (System.nanoTime() - lastMendNs > restNs && isMending.compareAndSet(false, true)) {
            Thread.ofPlatform().daemon().name("rdma4j-share")
                    .start(() -> mendQuietly(queuePair >>> QUEUE_PAIR_BITS));
        }
    }

    /** @param wanted the prefix of what came here */
    private void mendQuietly(int wanted) {
        try {
            boolean isMended = mend(false);
            // Peers of a process that has ended go on for a while to send to it, and nobody is to be looked for.
            if (!isMended && !wasMended && !isOwn(wanted << QUEUE_PAIR_BITS)
                    && prefixes.isAlive(wanted)) {
                mend(true);
            }
            wasMended = isMended;
            restNs = isMended ? MIN_REST_NS : Math.min(2 * restNs, MAX_REST_NS);
        } catch (LinuxSocket.Refused | IOException e) {
            LOG.log(System.Logger.Level.WARNING, "packets may go astray: {0}", e.getMessage());
        } finally {
            lastMendNs = System.nanoTime();
            isMending.set(false);
        }
    }

    /**
     * A packet of another process has reached this one: brings the groups of this process up to date.
     *
     * @param isDoubtful whether to ask although all seem to be alive
     * @return whether any process had died, or had left a change unfinished
     */
    boolean mend(boolean isDoubtful) throws LinuxSocket.Refused, RdmaException {
        locks.lock();
        try {
            giveUp();
            boolean isMended = false;
            for (int group : sockets.keySet()) {
                List<Integer> places = table.places(group);
                List<Integer> members = prefixes.alive(places);
                if (!members.contains(prefix)) {
                    members.add(prefix);
                }
                boolean isWrong = table.isChanging(group) || !members.equals(places);
                if (isWrong || isDoubtful) {
                    settle(group, finder.inOrder(group, members));
                }
                isMended |= isWrong;
            }
            return isMended;
        } finally {
            locks.unlock();
        }
    }

    /** A probe has reached a socket of this process. For the thread that receives; takes no lock. */
    void onProbe(int place, long nonce) {
        if (nonce == table.nonce()) {
            table.answer(place, prefix);
        }
    }

    /** Gives up the prefixes; the sockets are closed already. */
    @Override
    public void close() {
        locks.close();
        finder.close();
        arena.close();
    }
}
