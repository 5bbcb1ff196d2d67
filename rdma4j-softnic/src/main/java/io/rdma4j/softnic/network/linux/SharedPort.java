package io.rdma4j.softnic.network.linux;

import io.rdma4j.softnic.network.PortHolder;
import io.rdma4j.softnic.network.PortSharing;
import io.rdma4j.softnic.network.ReceivedDatagram;
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
    /**
     * The minimum pause between two repairs of the groups: packets to old places are still on their way, and other senders
     * may send packets for no process.
     */
    private static final long MIN_REST_NS = 1_000_000;
    private static final long MAX_REST_NS = 50_000_000;
    /** Longer than a new process takes from fork to exec. */
    private static final long MAX_STRANGER_NS = 500_000_000;
    private static final long STRANGER_LOOK_NS = 1_000_000;
    static final String OPERATION = "share UDP port 4791";

    private final Path file;
    private final Arena arena;
    private final TableLocks locks;
    private final SharedTable table;
    private final PlaceFinder finder;
    private final MailboxTable mailboxes;
    /** The socket of this process in each group. Changed under the lock. */
    private final Map<Integer, LinuxSocket> sockets = new ConcurrentHashMap<>();
    /** Sockets to close as soon as the lock is free. */
    private final Queue<LinuxSocket> leaving = new ConcurrentLinkedQueue<>();
    private final Queue<MailboxTable.Entry> withdrawn = new ConcurrentLinkedQueue<>();
    private final LockedWork givingUp;
    /** Those that were needed, by address family. */
    private final Map<Integer, DatagramPasser> passers = new HashMap<>();
    private final AtomicBoolean isMending = new AtomicBoolean();
    private volatile long lastMendNs = System.nanoTime() - MAX_REST_NS;
    private volatile long restNs = MIN_REST_NS;
    private volatile boolean wasMended;
    private final Prefixes prefixes;
    private final ServicePorts services;
    private final int prefix;

    private static @Nullable SharedPort ofProcess;

    /** {@return this process's share, which the first call takes; null if there is no shared folder} */
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

    /** Makes a socket a member of a group: allows sharing and binds it. */
    interface Binding {
        void bind(LinuxSocket socket) throws LinuxSocket.Refused;
    }

    /**
     * Joins the processes that share a file in a folder.
     *
     * @param name the name of the file; files of different names are independent
     * @throws RdmaException EACCES if the file cannot be used, EBUSY if processes of another version use it, EAGAIN if all
     *         prefixes are taken, ENOMEM if there is no room for the file
     */
    static SharedPort open(Path folder, String name) throws RdmaException {
        return open(folder, name, PlaceFinder.ANSWER_TIMEOUT_NS);
    }

    /** As above, with another time to wait for the answers of other processes. */
    static SharedPort open(Path folder, String name, long answerTimeoutNs) throws RdmaException {
        Arena arena = Arena.ofShared();
        try {
            return new SharedPort(folder.resolve(name), arena, answerTimeoutNs);
        } catch (RdmaException e) {
            arena.close();
            throw e;
        } catch (IOException | LinuxSocket.Refused e) {
            arena.close();
            throw new RdmaException(Errno.EACCES, OPERATION,
                    folder.resolve(name) + " cannot be used: " + e.getMessage(), e);
        }
    }

    private SharedPort(Path file, Arena arena, long answerTimeoutNs)
            throws IOException, LinuxSocket.Refused, RdmaException {
        this.file = file;
        this.arena = arena;
        locks = SharedFile.locked(file);
        givingUp = new LockedWork(locks, this::giveUp, this::onRefused);
        PlaceFinder probing = null;
        boolean hasBegun = false;
        try {
            table = SharedTable.map(file, arena);
            prefixes = new Prefixes(locks, table);
            probing = new PlaceFinder(table, prefixes, arena, answerTimeoutNs);
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

    /** Clears the table if no other process lives: it then has only entries of dead processes. */
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
     * @param scope the interface of a link-local address, else 0
     * @throws LinuxSocket.Refused if the address cannot be bound; with EADDRINUSE if this process has a socket there
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
     * {@return whether there were, for a moment, sockets that are not in the table} A process that starts another one can
     * cause this: between fork and exec the child has copies of all its files, including sockets that the parent has closed
     * since.
     *
     * @throws RdmaException EADDRINUSE if they stay longer
     */
    private boolean hadStrangers(Gid address, int known) throws RdmaException {
        InetAddress local = address.address();
        long untilNs = System.nanoTime() + MAX_STRANGER_NS;
        boolean hadAny = false;
        while (PortHolder.count(local, io.rdma4j.protocol.roce.wire.Path.UDP_PORT) > known) {
            hadAny = true;
            if (System.nanoTime() - untilNs > 0) {
                throw new RdmaException(Errno.EADDRINUSE, "open device", "UDP port 4791 of "
                        + local.getHostAddress() + " (shared by " + file + ") is taken");
            }
            LockSupport.parkNanos(STRANGER_LOOK_NS);
        }
        return hadAny;
    }

    /**
     * Closes a socket, and if it is a member of a group, updates the table, because another takes its place. Does not wait:
     * if another process has the lock, this happens later in another thread, because the thread that drives an engine must
     * not stop with a stopped process.
     */
    void leave(LinuxSocket socket) {
        if (!sockets.containsValue(socket)) {
            socket.close();
            return;
        }
        leaving.add(socket);
        try {
            givingUp.doSoon();
        } catch (IllegalStateException closed) {
            // The table cannot be updated any more; other processes notice the change as they notice that a process has
            // died.
            leaving.remove(socket);
            forget(socket);
            throw closed;
        }
    }

    /**
     * Waits until the sockets that left are closed, so that other programs can bind to their addresses; not long if a stopped
     * process has the lock.
     */
    void awaitLeft() {
        givingUp.await();
    }

    private void onRefused(RdmaException refusal) {
        LOG.log(System.Logger.Level.WARNING,
                "packets of others may go astray, and they look for mailboxes in vain: {0}",
                refusal.getMessage());
        for (LinuxSocket socket = leaving.poll(); socket != null; socket = leaving.poll()) {
            forget(socket);
        }
    }

    /** Closes the sockets that are leaving. Under the lock, before anything new is taken. */
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
        services.enterChanges();
    }

    /**
     * Closes a socket. If the table could not be updated, the next astray packet starts a probe, which finds that the
     * socket is gone.
     */
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

    /** Publishes the mailbox of the device of an address to other processes. {@return false if there is no room} */
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
        givingUp.doSoon();
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

    /**
     * Removes the entries of the dead process that had the prefix before, so that they are not mistaken for its successor's.
     */
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
    public void listenOnlyForRepetitions(int service) {
        services.listenOnlyForRepetitions(service);
        givingUp.doSoon();
    }

    @Override
    public void stopListening(int service) {
        services.stopListening(service);
        givingUp.doSoon();
    }

    @Override
    public Reservation reserve(int service) throws RdmaException {
        return services.reserve(service);
    }

    // ---------------------------------------------------------------- messages for an unknown process

    @Override
    public boolean passOn(ReceivedDatagram datagram) {
        boolean hasOthers = false;
        for (int group : sockets.keySet()) {
            if (table.address(group).equals(datagram.local())) {
                List<Integer> places = table.places(group);
                if (places.size() > 1) {
                    hasOthers = true;
                    passOn(datagram, group, places);
                }
            }
        }
        return hasOthers;
    }

    /** A thread of each device may do this. */
    private void passOn(ReceivedDatagram datagram, int group, List<Integer> places) {
        synchronized (passers) {
            DatagramPasser passer = passer(SocketAddress.family(datagram.local()));
            if (passer == null || !passer.mayPass(places.size())) {
                return;
            }
            for (int place = 0; place < places.size(); place++) {
                if (places.get(place) != prefix) {
                    passer.send(datagram, datagram.local(), table.scope(group), place, table.key());
                }
            }
        }
    }

    private @Nullable DatagramPasser passer(int family) {
        DatagramPasser known = passers.get(family);
        if (known != null) {
            return known;
        }
        try {
            DatagramPasser made = new DatagramPasser(family);
            passers.put(family, made);
            return made;
        } catch (LinuxSocket.Refused e) {
            LOG.log(System.Logger.Level.DEBUG, "messages for other processes are lost", e);
            return null;
        }
    }

    /** {@return whether a message was passed on by a process of this table} For the thread that receives; takes no lock. */
    boolean isKey(long key) {
        return key == table.key();
    }

    // ---------------------------------------------------------------- after a process has died

    @Override
    public void onAstray(int queuePair) {
        if (System.nanoTime() - lastMendNs > restNs && isMending.compareAndSet(false, true)) {
            Thread.ofPlatform().daemon().name("rdma4j-share")
                    .start(() -> mendQuietly(queuePair >>> QUEUE_PAIR_BITS));
        }
    }

    /** @param wanted the prefix of the packet that arrived here */
    private void mendQuietly(int wanted) {
        try {
            boolean isMended = mend(false);
            // Peers of a process that has ended continue to send to it for a while; no probe is needed for that.
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
     * @param isDoubtful whether to probe although all processes seem to be alive
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

    /** Gives up the prefixes; the sockets have left already. */
    @Override
    public void close() {
        awaitLeft();
        locks.close();
        finder.close();
        synchronized (passers) {
            passers.values().forEach(DatagramPasser::close);
            passers.clear();
        }
        arena.close();
    }
}
