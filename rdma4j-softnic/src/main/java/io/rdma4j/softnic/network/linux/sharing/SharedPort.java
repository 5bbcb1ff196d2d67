// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.sharing;

import io.rdma4j.softnic.network.PortSharing;
import io.rdma4j.softnic.network.ReceivedDatagram;
import io.rdma4j.softnic.network.linux.calls.LinuxSocket;
import io.rdma4j.softnic.network.linux.calls.ProcessIdentity;
import io.rdma4j.softnic.network.linux.calls.SocketAddress;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

import static io.rdma4j.softnic.network.linux.calls.SocketOption.SOL_SOCKET;
import static io.rdma4j.softnic.network.linux.calls.SocketOption.SO_REUSEPORT;

/**
 * This process's share of UDP port 4791: a number prefix that no other process of the user has, its sockets in the
 * groups that share an address, and the BPF programs by which the kernel selects a socket.
 *
 * <p>The kernel keeps the sockets of a group in an array: a new one is appended, and when one is closed the last takes its
 * place. {@link SharedTable} has the place of each socket. When a process has died, the table is out of date, and packets
 * may reach the wrong process. A process that receives such a packet, joins or leaves updates the table
 * ({@link #mend}): it sends a {@link ReuseportProbe} to each place to find out which process is there.
 *
 * <p>Thread safe. One process at a time has the lock, and never for long.
 */
public final class SharedPort implements PortSharing, AutoCloseable {
    private static final System.Logger LOG = System.getLogger(SharedPort.class.getName());
    /**
     * The minimum pause between two repairs of the groups: packets to old places are still on their way, and other senders
     * may send packets for no process.
     */
    private static final long MIN_REST_NS = 1_000_000;
    private static final long MAX_REST_NS = 50_000_000;

    private final TableSocket tableSocket;
    private final Arena arena = Arena.ofShared();
    private final TableLocks locks;
    private final SharedTable table;
    private final ReuseportOrder finder;
    private final PublishedMailboxes mailboxes;
    private final UnknownSockets unknown;
    private final ReuseportGroups groups;
    /** Sockets to close as soon as the lock is free. */
    private final Queue<LinuxSocket> leaving = new ConcurrentLinkedQueue<>();
    private final TableLockTask givingUp;
    private final ThreadFactory threads;
    private final DatagramPassers passers;
    private final AtomicBoolean isMending = new AtomicBoolean();
    private volatile long lastMendNs = System.nanoTime() - MAX_REST_NS;
    private volatile long restNs = MIN_REST_NS;
    private volatile boolean wasMended;
    private final Prefixes prefixes;
    private final ServicePorts services;
    private final int prefix;
    private volatile Firsts firsts = new Firsts(0, new byte[0]);
    /** The table was restored: once the other processes have restored their part too, the programs are set. */
    private volatile boolean isProgramDue;
    private volatile boolean isLossReported;

    /**
     * The first prefix of the process of each prefix, for each packet that looks for a mailbox.
     *
     * @param count the changes until then
     */
    private record Firsts(int count, byte[] of) {}

    /**
     * What this process has of the port.
     *
     * @param port null if it cannot share
     * @param obstacle why not
     */
    private record Share(@Nullable SharedPort port, @Nullable String obstacle) {}

    /** Null until it is tried. A process that could not share keeps to that, for its numbers have no prefix then. */
    private static @Nullable Share ofProcess;

    /**
     * {@return this process's share, which the first call takes; null if it cannot share, which is logged once}
     *
     * @throws RdmaException if it could, but another process has the lock for too long, all prefixes are taken, or there are
     *         no more descriptors: ETIMEDOUT, EAGAIN, EMFILE, ENFILE, ENOBUFS
     */
    public static @Nullable SharedPort ofProcess() throws RdmaException {
        return share().port;
    }

    /** {@return why this process cannot share, null if it can} */
    public static @Nullable String obstacle() throws RdmaException {
        return share().obstacle;
    }

    private static synchronized Share share() throws RdmaException {
        Share present = ofProcess;
        if (present == null) {
            present = tried();
            ofProcess = present;
        }
        return present;
    }

    private static Share tried() throws RdmaException {
        try {
            return new Share(open(TableSocket.nameOfUser()), null);
        } catch (RdmaException e) {
            if (mayPass(e.errno())) {
                throw e;
            }
            return unshared(e.detail());
        } catch (LinuxSocket.Refused | LinkageError e) {
            return unshared(String.valueOf(e.getMessage()));
        }
    }

    /** {@return whether sharing may succeed a moment later} Then it is no reason to do without it for good. */
    static boolean mayPass(Errno error) {
        return switch (error) {
            case ETIMEDOUT, EAGAIN, EMFILE, ENFILE, ENOBUFS, EINTR -> true;
            default -> false;
        };
    }

    private static Share unshared(String why) {
        LOG.log(System.Logger.Level.WARNING, "RoCE shares no address with other processes: {0}",
                why);
        return new Share(null, why);
    }

    /**
     * Joins the processes that meet at a name.
     *
     * @throws RdmaException EACCES if the system or another user does not let this process share, EBUSY if processes of
     *         another version do or nobody answers, EAGAIN if all prefixes are taken, ENOMEM if there is no room for the
     *         table, ETIMEDOUT as {@link TableLocks#lock}
     */
    public static SharedPort open(String name) throws RdmaException {
        return open(name, ReuseportOrder.ANSWER_TIMEOUT_NS);
    }

    /** As above, with another time to wait for the answers of other processes. */
    public static SharedPort open(String name, long answerTimeoutNs) throws RdmaException {
        return open(name, answerTimeoutNs,
                Thread.ofPlatform().daemon().name("rdma4j-share").factory());
    }

    /** As above, with another source of the threads that change the table while others must not wait for that. */
    static SharedPort open(String name, long answerTimeoutNs, ThreadFactory threads)
            throws RdmaException {
        try {
            requireSteering();
            TableSocket joined = TableSocket.join(name);
            boolean isOpen = false;
            try {
                SharedPort port = new SharedPort(joined, answerTimeoutNs, threads);
                isOpen = true;
                return port;
            } finally {
                if (!isOpen) {
                    joined.close();
                }
            }
        } catch (LinuxSocket.Refused e) {
            throw e.during(SharedTable.OPERATION,
                    "the system does not let this process share addresses");
        }
    }

    /** Sandboxes may refuse what sharing needs, and a socket that is bound could not be taken back. */
    private static void requireSteering() throws LinuxSocket.Refused {
        try (Arena call = Arena.ofConfined()) {
            LinuxSocket trial = LinuxSocket.open(SocketAddress.AF_INET, call);
            try {
                trial.set(SOL_SOCKET, SO_REUSEPORT, 1);
                SteeringProgram.of(Map.of(), Map.of()).steer(trial);
            } finally {
                trial.close();
            }
        }
    }

    private SharedPort(TableSocket tableSocket, long answerTimeoutNs, ThreadFactory threads)
            throws LinuxSocket.Refused, RdmaException {
        this.tableSocket = tableSocket;
        this.threads = threads;
        table = new SharedTable(tableSocket.pages().map(0, SharedTable.LENGTH));
        // Opened once more, for locks belong to an opening, and the one that is passed on is the same in all processes.
        locks = new TableLocks(tableSocket.path());
        givingUp = new TableLockTask(locks, this::giveUp, this::onRefused, threads);
        ReuseportOrder probing = null;
        boolean wasDamaged;
        boolean isLocked = false;
        boolean hasBegun = false;
        try {
            locks.lock();
            isLocked = true;
            prefixes = new Prefixes(locks, table);
            probing = new ReuseportOrder(table, prefixes, arena, answerTimeoutNs);
            finder = probing;
            wasDamaged = beginIfUnused();
            prefix = prefixes.take(0);
            mailboxes = new PublishedMailboxes(table.mailboxes(), prefixes, prefix);
            forgetPredecessor(prefix);
            unknown = new UnknownSockets(locks, table);
            groups = new ReuseportGroups(table, prefixes, prefix, finder, unknown);
            passers = new DatagramPassers(table, prefix);
            services = new ServicePorts(locks, table, prefixes, prefix, groups::attachAll);
            hasBegun = true;
        } finally {
            if (isLocked) {
                locks.unlock();
            }
            if (!hasBegun) {
                locks.close();
                if (probing != null) {
                    probing.close();
                }
                arena.close();
            }
        }
        if (wasDamaged) {
            awaitRestored();
        }
    }

    /**
     * Clears the table if no other process lives: it then is new, or has only entries of dead processes.
     *
     * @return whether the table is damaged, and the other processes have to restore it
     */
    private boolean beginIfUnused() throws LinuxSocket.Refused {
        boolean isAlone = locks.anyOthers() == SharedTable.NOBODY;
        boolean isBegun = table.isBegun();
        if (isAlone && !isBegun) {
            table.beginAnywhere();
        }
        if (isAlone || !isBegun) {
            table.clear();
            return !isAlone;
        }
        return false;
    }

    /**
     * Waits until the other processes have entered again what they need, as far as they run: whoever joins sets a program by
     * what the table has.
     */
    private void awaitRestored() throws LinuxSocket.Refused {
        long untilNs = System.nanoTime() + SharedTable.MAX_RESTORING_NS;
        while (System.nanoTime() - untilNs < 0 && isAnyMissing()) {
            LockSupport.parkNanos(SharedTable.RESTORED_LOOK_NS);
        }
    }

    private boolean isAnyMissing() throws LinuxSocket.Refused {
        for (int each = SharedTable.FIRST_PREFIX; each <= SharedTable.LAST_PREFIX; each++) {
            if (table.process(each) == 0 && locks.isOthers(each)) {
                return true;
            }
        }
        return false;
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
            mailboxes.table().announce();
            groups.attachAll();
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
    public void join(Gid address, int scope, LinuxSocket socket, SocketBinding binding)
            throws LinuxSocket.Refused, RdmaException {
        boolean hadUnknown = unknown.lockWhenAllAreKnown(address, binding);
        try {
            giveUp();
            groups.join(address, scope, socket, binding, hadUnknown);
        } finally {
            locks.unlock();
        }
    }

    /**
     * Closes a socket, and if it is a member of a group, updates the table, because another takes its place. Does not wait:
     * if another process has the lock, this happens later in another thread, because the thread that drives an engine must
     * not stop with a stopped process.
     */
    public void leave(LinuxSocket socket) {
        if (!groups.has(socket)) {
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
            groups.forget(socket);
            throw closed;
        }
    }

    /**
     * Waits until the sockets that left are closed, so that other programs can bind to their addresses; not long if a stopped
     * process has the lock.
     */
    public void awaitLeft() {
        givingUp.await();
    }

    private void onRefused(RdmaException refusal) {
        LOG.log(System.Logger.Level.WARNING,
                "packets of others may be misdirected, and they look for mailboxes in vain: {0}",
                refusal.getMessage());
        for (LinuxSocket socket = leaving.poll(); socket != null; socket = leaving.poll()) {
            groups.forget(socket);
        }
    }

    /** Closes the sockets that are leaving. Under the lock, before anything new is taken. */
    private void giveUp() {
        for (LinuxSocket socket = leaving.poll(); socket != null; socket = leaving.poll()) {
            try {
                groups.leave(socket);
            } catch (LinuxSocket.Refused e) {
                LOG.log(System.Logger.Level.WARNING, "packets of others may be misdirected: {0}",
                        e.getMessage());
            } finally {
                groups.forget(socket);
            }
        }
        mailboxes.enterChanges();
        services.enterChanges();
    }

    // ---------------------------------------------------------------- mailboxes

    /** {@return which devices have memory to meet in; to be looked at without the lock} */
    public MailboxTable mailboxes() {
        return mailboxes.table();
    }

    /** Publishes the mailbox of the device of an address to other processes. {@return false if there is no room} */
    public boolean publish(MailboxTable.Entry mailbox) throws RdmaException {
        locks.lock();
        try {
            giveUp();
            return mailboxes.add(mailbox);
        } catch (LinuxSocket.Refused e) {
            throw locks.unusable(e);
        } finally {
            locks.unlock();
        }
    }

    /** An address is not the device's any more, and not to be reached by its mailbox. Does not wait, as {@link #leave}. */
    public void withdraw(MailboxTable.Entry mailbox) {
        mailboxes.withdraw(mailbox);
        givingUp.doSoon();
    }

    /**
     * Removes the entries of the dead process that had the prefix before, so that they are not mistaken for its successor's.
     */
    private void forgetPredecessor(int prefixTaken) {
        table.forgetServicesOf(prefixTaken);
        mailboxes.forgetPredecessor(prefixTaken);
    }

    /** {@return whether the process of a prefix lives, as far as is known} */
    public boolean mayBeAlive(int other) {
        return prefixes.mayBeAlive(other);
    }

    /** {@return the prefix that the process of a queue pair's number began with} */
    public int firstPrefix(int queuePair) {
        int count = mailboxes.table().changes();
        Firsts known = firsts;
        if (known.count != count || known.of.length == 0) {
            known = new Firsts(count, table.firsts());
            firsts = known;
        }
        return known.of[Prefixes.of(queuePair)] & 0xff;
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
        for (ReuseportGroups.Places each : groups.at(datagram.local())) {
            if (each.places().size() > 1) {
                hasOthers = true;
                passers.passOn(datagram, each.scope(), each.places());
            }
        }
        return hasOthers;
    }

    /** {@return whether a message was passed on by a process of this table} For the thread that receives; takes no lock. */
    public boolean isKey(long key) {
        return key == table.key();
    }

    // ---------------------------------------------------------------- after a process has died

    @Override
    public void onMisdirected(int queuePair) {
        if (System.nanoTime() - lastMendNs > restNs && isMending.compareAndSet(false, true)) {
            try {
                threads.newThread(() -> mendQuietly(queuePair >>> QUEUE_PAIR_BITS)).start();
            } catch (OutOfMemoryError noThread) {
                // The next packet that is misdirected tries again.
                lastMendNs = System.nanoTime();
                isMending.set(false);
            }
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
        } catch (LinuxSocket.Refused | RdmaException e) {
            LOG.log(System.Logger.Level.WARNING, "packets may be misdirected: {0}", e.getMessage());
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
            return groups.mend(isDoubtful);
        } finally {
            locks.unlock();
        }
    }

    // ---------------------------------------------------------------- after the table was damaged

    @Override
    public void check() {
        try {
            String missing = missing();
            if (missing != null) {
                restoreIfMissing();
            } else if (isProgramDue) {
                attachLocked();
            }
            givingUp.doLeft();
            if (!isLossReported && !tableSocket.check()) {
                isLossReported = true;
                LOG.log(System.Logger.Level.WARNING,
                        "processes that start from now on cannot share addresses with this one"
                                + " until it ends: they find another table");
            }
        } catch (LinuxSocket.Refused | RdmaException e) {
            LOG.log(System.Logger.Level.DEBUG, "the shared table was not checked", e);
        }
    }

    /**
     * {@return what the table should have of this process and seems not to have, null if it has all} Without the lock, so only
     * probably.
     */
    private @Nullable String missing() {
        if (!table.isBegun()) {
            return "it is not one";
        }
        if (!services.isIntact()) {
            return "ports or services of this process are wrong in it";
        }
        if (!mailboxes.isIntact()) {
            return "a mailbox of this process was missing";
        }
        for (int each : prefixes.own()) {
            if (table.first(each) != prefix || table.process(each) != ProcessIdentity.own()) {
                return "a prefix of this process was missing";
            }
        }
        return groups.isIntact() ? null : "a socket of this process was missing";
    }

    /**
     * Enters again what the table should have of this process, unless it only was about to change. The programs stay as they
     * are, because the sockets do, until the other processes have done the same.
     */
    private void restoreIfMissing() throws LinuxSocket.Refused, RdmaException {
        locks.lock();
        try {
            giveUp();
            String missing = missing();
            if (missing != null) {
                restore();
                LOG.log(System.Logger.Level.WARNING,
                        "{0} was damaged by another program and is restored: {1}", SharedTable.NAME,
                        missing);
            }
        } finally {
            locks.unlock();
        }
    }

    /** Under the lock. */
    private void restore() throws LinuxSocket.Refused {
        if (!table.isBegun()) {
            table.clear();
        }
        table.begin();
        for (int each : prefixes.own()) {
            table.belongs(each, prefix, ProcessIdentity.own());
            // Also what the damage has entered for this process: a port of another one, for example.
            table.forgetServicesOf(each);
        }
        services.restore();
        mailboxes.restore();
        groups.restore();
        isProgramDue = true;
    }

    private void attachLocked() throws LinuxSocket.Refused, RdmaException {
        locks.lock();
        try {
            giveUp();
            groups.attachAll();
            isProgramDue = false;
        } finally {
            locks.unlock();
        }
    }

    /** A probe has reached a socket of this process. For the thread that receives; takes no lock. */
    public void onProbe(int place, long nonce) {
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
        tableSocket.close();
        passers.close();
        arena.close();
    }
}
