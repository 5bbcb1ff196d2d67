// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.sharing;

import io.rdma4j.softnic.network.linux.calls.ByteLocks;
import io.rdma4j.softnic.network.linux.calls.LinuxSocket;
import io.rdma4j.softnic.network.linux.calls.ProcessFiles;
import io.rdma4j.softnic.network.linux.calls.ProcessIdentity;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;

import java.nio.file.Path;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The locks on the file that processes share: the one for changes, which one thread of all processes has at a time, and one
 * for each prefix, which its process has for as long as it lives. Thread safe.
 */
class TableLocks implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(TableLocks.class.getName());
    private static final long CHANGE = 0;
    private static final long PREFIXES = 1 << 20;
    private static final long SHORTEST_REST_NS = 100_000;
    /** A machine on which two hundred processes start at once shall not be busy with asking for the lock. */
    private static final long LONGEST_REST_NS = 20_000_000;

    /**
     * How long to wait for the lock for changes.
     *
     * @param stoppedNs after this time the holder is checked, which must not be a stopped process
     * @param mostNs the maximum time that one process may have it
     */
    record Patience(long stoppedNs, long mostNs) {
        static final Patience USUAL = new Patience(5_000_000_000L, 60_000_000_000L);
    }

    private static final String NOT_COUNTED = "the inner of two calls would end the lock of the file";

    private final ByteLocks bytes;
    private final Patience patience;
    /** For the threads of this process, because the file locks only distinguish processes. */
    private final ReentrantLock threads = new ReentrantLock();

    TableLocks(Path file) throws LinuxSocket.Refused {
        this(file, Patience.USUAL);
    }

    TableLocks(Path file, Patience patience) throws LinuxSocket.Refused {
        this.patience = patience;
        bytes = new ByteLocks(file);
    }

    /**
     * Waits for the lock for changes.
     *
     * @throws RdmaException ETIMEDOUT if a stopped process has it, or its holder makes no progress, EACCES if it cannot be
     *         locked
     */
    void lock() throws RdmaException {
        assert !threads.isHeldByCurrentThread() : NOT_COUNTED;
        threads.lock();
        boolean isLocked = false;
        try {
            waitForOthers();
            // The system does not report the holder of an open-file lock.
            bytes.put(SharedTable.HOLDER_AT, ProcessIdentity.own());
            isLocked = true;
        } catch (LinuxSocket.Refused e) {
            throw e.during(SharedTable.OPERATION, SharedTable.NAME + " cannot be locked");
        } finally {
            if (!isLocked) {
                threads.unlock();
            }
        }
    }

    /**
     * As {@link #lock}, for callers that cannot wait for long.
     *
     * @return whether it is locked now
     */
    boolean tryLock(long patienceNs) {
        long untilNs = System.nanoTime() + patienceNs;
        while (!tryLock()) {
            if (System.nanoTime() - untilNs > 0) {
                return false;
            }
            LockSupport.parkNanos(SHORTEST_REST_NS);
        }
        return true;
    }

    private boolean tryLock() {
        assert !threads.isHeldByCurrentThread() : NOT_COUNTED;
        if (!threads.tryLock()) {
            return false;
        }
        boolean isLocked = false;
        try {
            isLocked = bytes.tryLock(CHANGE);
            if (isLocked) {
                bytes.put(SharedTable.HOLDER_AT, ProcessIdentity.own());
            }
        } catch (LinuxSocket.Refused e) {
            LOG.log(System.Logger.Level.DEBUG, SharedTable.NAME + " cannot be locked", e);
        } finally {
            if (!isLocked) {
                threads.unlock();
            }
        }
        return isLocked;
    }

    /** {@return the process that had the lock last, as {@link ProcessIdentity} names it; 0 if that is not known} */
    long holder() {
        return bytes.get(SharedTable.HOLDER_AT);
    }

    private void waitForOthers() throws LinuxSocket.Refused, RdmaException {
        long sinceNs = System.nanoTime();
        long restNs = SHORTEST_REST_NS;
        long other = 0;
        while (!bytes.tryLock(CHANGE)) {
            long waitedNs = System.nanoTime() - sinceNs;
            if (waitedNs > patience.stoppedNs) {
                long process = holder();
                requireProgress(process, process == other ? waitedNs : 0);
                if (process != other) {
                    // The holder has changed, so this process will get its turn.
                    other = process;
                    sinceNs = System.nanoTime();
                }
            }
            LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(restNs / 2, restNs));
            restNs = Math.min(2 * restNs, LONGEST_REST_NS);
        }
    }

    /** Many processes that start at once make slow progress, but they make it. */
    private void requireProgress(long process, long waitedNs) throws RdmaException {
        if (ProcessFiles.isStopped(process)) {
            throw new RdmaException(Errno.ETIMEDOUT, SharedTable.OPERATION,
                    ProcessIdentity.text(process) + " is stopped while it changes "
                            + SharedTable.NAME + ": let it go on, or end it");
        }
        if (waitedNs > patience.mostNs) {
            throw new RdmaException(Errno.ETIMEDOUT, SharedTable.OPERATION,
                    ProcessIdentity.text(process) + " has been changing " + SharedTable.NAME
                            + " for too long: end it");
        }
    }

    /** {@return whether this thread has the lock for changes} */
    boolean isLocked() {
        return threads.isHeldByCurrentThread();
    }

    void unlock() {
        try {
            bytes.unlock(CHANGE);
        } catch (LinuxSocket.Refused e) {
            LOG.log(System.Logger.Level.ERROR,
                    "the lock of " + SharedTable.NAME + " cannot be released", e);
        } finally {
            threads.unlock();
        }
    }

    /** Takes a prefix for as long as this process lives. {@return false if another one has it} */
    boolean take(int prefix) throws LinuxSocket.Refused {
        return bytes.tryLock(PREFIXES + prefix);
    }

    /** {@return whether a process that lives, and is not this one, has a prefix} */
    boolean isOthers(int prefix) throws LinuxSocket.Refused {
        return bytes.isLockedByOther(PREFIXES + prefix);
    }

    /** {@return the lowest prefix of another live process, 0 if there is none} */
    int anyOthers() throws LinuxSocket.Refused {
        for (int prefix = SharedTable.FIRST_PREFIX; prefix <= SharedTable.LAST_PREFIX; prefix++) {
            if (isOthers(prefix)) {
                return prefix;
            }
        }
        return SharedTable.NOBODY;
    }

    /** {@return the error for a failed system call on the file} */
    RdmaException unusable(LinuxSocket.Refused cause) {
        return cause.during(SharedTable.OPERATION, SharedTable.NAME + " cannot be used");
    }

    /** Releases all locks. */
    @Override
    public void close() {
        threads.lock();
        try {
            bytes.close();
        } finally {
            threads.unlock();
        }
    }
}
