// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.memory;

import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.protocol.work.Registration;
import io.rdma4j.softnic.memory.LendableMemory;
import io.rdma4j.softnic.memory.Withdrawal;
import io.rdma4j.softnic.network.MemoryPath;
import io.rdma4j.softnic.network.SharedMemory;
import io.rdma4j.softnic.network.linux.calls.CoarseClock;
import io.rdma4j.softnic.network.linux.calls.LinuxSocket;
import io.rdma4j.softnic.network.linux.calls.MemoryCalls;
import io.rdma4j.softnic.network.linux.calls.ProcessIdentity;
import io.rdma4j.softnic.network.linux.calls.SharedPages;
import io.rdma4j.softnic.network.linux.calls.SocketPoller;
import io.rdma4j.softnic.network.linux.sharing.MailboxTable;
import io.rdma4j.softnic.network.linux.sharing.SharedPort;
import io.rdma4j.softnic.network.ring.LentSection;
import io.rdma4j.softnic.network.ring.Mailbox;
import io.rdma4j.softnic.network.ring.MailboxSystem;
import io.rdma4j.softnic.network.ring.RingPath;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The shared memory between a device and other devices of this user on this machine: its own {@link Mailbox}, which they
 * find in the {@link MailboxTable}, and the paths to theirs. A path is set up when the first packet needs it, and given up
 * when the other device leaves the table or turns out to be dead.
 */
public final class HostMemory implements SharedMemory, MailboxSystem, AutoCloseable {
    private static final System.Logger LOG = System.getLogger(HostMemory.class.getName());
    /** The maximum number of processes, each with one device that sends to this one. */
    private static final int RINGS = 256;
    private static final long LENGTH = Mailbox.length(RINGS);
    /** What was not read for so long is unmapped. */
    private static final long SECTIONS_NS = 1_000_000_000;

    private final SharedPort shared;
    private final boolean isForOwn;
    private final long process = ProcessIdentity.own();
    private final long nonce = newNonce();
    private final SharedPages pages;
    private final WakePipe pipe;
    private final ProcessWatch processes;
    private final Mailbox mailbox;
    private final LendablePages lendable;
    private final BorrowedPages borrowed = new BorrowedPages();
    /** Those of this device. Any thread opens and gives up addresses, while the owner of the engine looks here. */
    private final Map<Gid, MailboxTable.Entry> published = new ConcurrentHashMap<>();
    private final PeerDevices devices;
    private final List<RingPath> unannounced = new ArrayList<>();
    private final Wakers wakers = new Wakers();
    private long restDueNs = Long.MAX_VALUE;
    private long sectionsDueNs = Long.MAX_VALUE;
    private long nowNs = System.nanoTime();
    private final CoarseClock ticks = new CoarseClock();
    private boolean isReceiving;
    private volatile boolean isClosed;

    /**
     * @param interfaceIndex of the interface that the device is on
     * @param isForOwn whether packets of the device to itself go through the memory as well
     */
    public HostMemory(SharedPort shared, int interfaceIndex, boolean isForOwn)
            throws LinuxSocket.Refused {
        this.shared = shared;
        this.isForOwn = isForOwn;
        devices = new PeerDevices(shared.mailboxes(), interfaceIndex, this::open);
        lendable = new LendablePages(nonce, new Withdrawal() {
            @Override
            public void ended(Registration registration) {
                for (RingPath path : devices.paths()) {
                    path.withdraw(registration);
                }
            }

            @Override
            public void ends(long place, long byteSize) {
                for (RingPath path : devices.paths()) {
                    path.withdraw(place, byteSize);
                }
            }
        });
        pages = SharedPages.create("rdma4j-mailbox", LENGTH);
        try {
            mailbox = new Mailbox(pages.map(0, LENGTH), nonce, this);
            pipe = WakePipe.create();
        } catch (LinuxSocket.Refused | OutOfMemoryError e) {
            pages.close();
            throw e;
        }
        try {
            processes = new ProcessWatch();
        } catch (LinuxSocket.Refused e) {
            pipe.close();
            pages.close();
            throw e;
        }
    }

    private static long newNonce() {
        // Neither 0 nor negative, which have other meanings.
        return Math.max(1, MemoryCalls.random() >>> 1);
    }

    /** {@return what wakes a thread that waits for this device: packets of other processes, and their ends} */
    public SocketPoller.Source[] wakeSources() {
        return new SocketPoller.Source[]{pipe, processes};
    }

    // ---------------------------------------------------------------- being found

    /**
     * Publishes the mailbox of an address of the device, so that other processes find it; without that they use the
     * network.
     */
    public void publish(Gid address, int scope) {
        MailboxTable.Entry entry = new MailboxTable.Entry(address, scope, shared.prefix(), process,
                nonce, pages.descriptor(), pipe.readable(), pipe.inode());
        // First, for a thread that sees that the table has changed looks for its own address as well.
        published.put(address, entry);
        boolean isPublished = false;
        try {
            isPublished = shared.publish(entry);
        } catch (RdmaException e) {
            LOG.log(System.Logger.Level.WARNING,
                    "other processes reach this one by the network: {0}",
                    e.getMessage());
        } finally {
            if (!isPublished) {
                published.remove(address, entry);
            }
        }
    }

    /** The device has an address no longer. */
    public void withdraw(Gid address) {
        MailboxTable.Entry entry = published.remove(address);
        if (entry != null) {
            shared.withdraw(entry);
        }
    }

    // ---------------------------------------------------------------- finding others

    @Override
    public long tick() {
        long tickNs = ticks.nowNs();
        return tickNs == Long.MIN_VALUE ? NO_TICK : tickNs;
    }

    @Override
    public int version() {
        refresh();
        return devices.seenChanges();
    }

    @Override
    public @Nullable MemoryPath path(Path path, int queuePair) {
        PeerDevices.PeerDevice device = device(path, queuePair);
        return device != null && (isForOwn || device.entry.nonce() != nonce)
                ? devices.pathTo(device)
                : null;
    }

    private PeerDevices.@Nullable PeerDevice device(Path path, int queuePair) {
        // A lost address sends nothing, like a closed port.
        if (isClosed || !published.containsKey(path.source())) {
            return null;
        }
        refresh();
        return devices.find(path.destination(), shared.firstPrefix(queuePair));
    }

    /** Looks at the table, if anything in it has changed. */
    private void refresh() {
        if (isClosed || !devices.refresh()) {
            return;
        }
        borrowed.keepThoseOf(devices.nonces());
        if (!wakers.isEmpty()) {
            wakers.keep(devices.wakeInodes());
        }
    }

    private @Nullable RingPath open(MailboxTable.Entry entry) {
        try {
            PeerMailbox peer = new PeerMailbox(entry, LENGTH, shared);
            RingPath path = Mailbox.is(peer.head(), entry.nonce())
                    ? RingPath.claim(peer.head(), new RingPath.Owner(nonce,
                            shared.prefix(), process, pipe.readable(), pipe.inode()),
                            mailbox, peer, unannounced, this::isDead, nowNs)
                    : null;
            if (path == null) {
                peer.close();
            } else {
                path.lendFrom(lendable);
            }
            return path;
        } catch (LinuxSocket.Refused e) {
            // Another container's: it has its own processes, and is reached by the network.
            LOG.log(System.Logger.Level.DEBUG, () -> "no memory is shared with process "
                    + entry.process() + ": " + e.getMessage());
            return null;
        }
    }

    // ---------------------------------------------------------------- the ends of others

    @Override
    public void watch(Path path, int queuePair) {
        PeerDevices.PeerDevice device = device(path, queuePair);
        if (device == null || device.entry.process() == process) {
            return;
        }
        int first = device.entry.prefix();
        long watched = device.entry.process();
        boolean isNew = processes.watch(watched,
                ProcessWatch.Peer.of(path.destination(), first, queuePair));
        if (isNew && isDead(first)) {
            processes.end(watched);
        }
    }

    @Override
    public boolean hasEnded() {
        if (isClosed) {
            return false;
        }
        processes.look(nowNs);
        return !processes.ended().isEmpty();
    }

    @Override
    public void reportEnded(EndHandler handler) {
        // Those alone that had ended before packets were received.
        List<ProcessWatch.Peer> ended = processes.ended();
        for (int i = ended.size() - 1; i >= 0 && !isClosed; i--) {
            ProcessWatch.Peer next = ended.get(i);
            if (!mailbox.holdsPacketsOf(next.first())) {
                ended.remove(i);
                giveUp(next.first());
                handler.onProcessEnded(next.address(), next::had);
            }
        }
    }

    /** Gives back what this process has of an ended one; its entry may stay in the table until another process comes or goes. */
    private void giveUp(int prefix) {
        if (!isDead(prefix)) {
            // Another process has it by now, and then the table has changed; or that could not be found out.
            return;
        }
        devices.closePaths(prefix).forEach(wakers::forget);
    }

    @Override
    public boolean isDead(int prefix) {
        return !shared.mayBeAlive(prefix);
    }

    @Override
    public void release(MemorySegment memory) {
        MemoryCalls.remove(memory);
    }

    // ---------------------------------------------------------------- lending

    @Override
    public LendableMemory lendable() {
        return lendable;
    }

    @Override
    public void withdrawRequests(int queuePair) {
        for (RingPath path : devices.paths()) {
            path.withdrawRequests(queuePair);
        }
    }

    @Override
    public @Nullable LentSection lentSection(long owner, int descriptor, long number) {
        PeerDevices.PeerDevice lending = devices.find(owner);
        if (isClosed || lending == null) {
            return LentSection.gone();
        }
        if (sectionsDueNs == Long.MAX_VALUE) {
            sectionsDueNs = nowNs + SECTIONS_NS;
        }
        return borrowed.section(lending.entry, descriptor, number);
    }

    // ---------------------------------------------------------------- packets

    @Override
    public int receive(Handler handler, int budget) {
        if (isClosed) {
            return 0;
        }
        // It has to know whose memory is lent.
        refresh();
        isReceiving = true;
        try {
            return mailbox.receive(handler, budget);
        } finally {
            isReceiving = false;
            if (isClosed) {
                free();
            }
        }
    }

    @Override
    public boolean isQuiet() {
        try {
            return !isClosed && mailbox.isQuiet();
        } catch (IllegalStateException closedMeanwhile) {
            return false;
        }
    }

    @Override
    public void flush() {
        if (unannounced.isEmpty()) {
            return;
        }
        // A thread that goes to sleep first announces it and then checks for packets.
        VarHandle.fullFence();
        for (int i = 0; i < unannounced.size(); i++) {
            RingPath path = unannounced.get(i);
            path.announce();
            restDueNs = Math.min(restDueNs, path.restDueNs());
        }
        unannounced.clear();
    }

    @Override
    public void wake(long sleeper, int descriptor, long inode) {
        if (isClosed) {
            return;
        }
        wakers.wake(sleeper, descriptor, inode);
    }

    // ---------------------------------------------------------------- time and sleeping

    /** {@return when {@link #onTime} is to be called, {@link Long#MAX_VALUE} for never} */
    public long nextDueNs() {
        if (!processes.ended().isEmpty()) {
            return nowNs;
        }
        return Math.min(Math.min(restDueNs, sectionsDueNs), mailbox.sweepDueNs(nowNs));
    }

    /** Gives memory back that was not used for a while. */
    public void onTime(long newNowNs) {
        nowNs = newNowNs;
        if (isClosed) {
            return;
        }
        mailbox.sweepIfDue(newNowNs);
        if (newNowNs >= sectionsDueNs) {
            borrowed.unmapUnused();
            sectionsDueNs = borrowed.isEmpty() ? Long.MAX_VALUE : newNowNs + SECTIONS_NS;
        }
        if (newNowNs >= restDueNs) {
            restDueNs = Long.MAX_VALUE;
            for (RingPath path : devices.paths()) {
                path.restIfDue(newNowNs);
                restDueNs = Math.min(restDueNs, path.restDueNs());
            }
        }
    }

    /**
     * Announces to other processes that they have to wake a thread that waits for this device. For any thread, one at a
     * time.
     *
     * @return whether it may sleep
     */
    public boolean beginSleep() {
        try {
            if (isClosed || !mailbox.beginSleep()) {
                return isClosed;
            }
            for (RingPath path : devices.paths()) {
                if (!path.sleeps()) {
                    mailbox.endSleep();
                    return false;
                }
            }
            return true;
        } catch (IllegalStateException closedMeanwhile) {
            return false;
        }
    }

    /** The sleep is over. */
    public void endSleep() {
        try {
            if (!isClosed) {
                mailbox.endSleep();
            }
        } catch (IllegalStateException closedMeanwhile) {
            // The mailbox was closed meanwhile, so there is nothing to clear.
        }
    }

    @Override
    public void close() {
        if (isClosed) {
            return;
        }
        List.copyOf(published.keySet()).forEach(this::withdraw);
        devices.close();
        wakers.close();
        isClosed = true;
        // A received packet may close this device.
        if (!isReceiving) {
            free();
        }
    }

    private void free() {
        lendable.close();
        borrowed.close();
        processes.close();
        pipe.close();
        pages.close();
    }
}
