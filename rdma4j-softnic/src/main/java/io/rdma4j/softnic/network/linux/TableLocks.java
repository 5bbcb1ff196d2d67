package io.rdma4j.softnic.network.linux;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The locks on the file that processes share: the one for changes, which one thread of all processes has at a time, and one
 * for each prefix, which its process has for as long as it lives. Thread safe.
 */
final class TableLocks implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(TableLocks.class.getName());
    private static final long CHANGE = 0;
    private static final long PREFIXES = 1 << 20;
    private static final long TIMEOUT_NS = 5_000_000_000L;
    private static final long RETRY_NS = 100_000;

    private final Path file;
    private final ByteLocks bytes;
    /** Among the threads of this process: the system's locks know the process alone. */
    private final ReentrantLock threads = new ReentrantLock();

    TableLocks(Path file, Arena arena) throws LinuxSocket.Refused {
        this.file = file;
        bytes = new ByteLocks(file, arena);
    }

    /**
     * Waits for the lock for changes.
     *
     * @throws RdmaException ETIMEDOUT if another process, which may be stopped, has it for 5 s, EACCES if it cannot be
     *         locked
     */
    void lock() throws RdmaException {
        threads.lock();
        boolean isLocked = false;
        try {
            long untilNs = System.nanoTime() + TIMEOUT_NS;
            while (!bytes.tryLock(CHANGE)) {
                if (System.nanoTime() - untilNs > 0) {
                    throw new RdmaException(Errno.ETIMEDOUT, SharedPort.OPERATION,
                            "another process holds " + file + " for more than 5 s; it may be"
                                    + " stopped: let it go on, or end it");
                }
                LockSupport.parkNanos(RETRY_NS);
            }
            isLocked = true;
        } catch (LinuxSocket.Refused e) {
            throw new RdmaException(Errno.EACCES, SharedPort.OPERATION,
                    file + " cannot be locked: " + e.getMessage(), e);
        } finally {
            if (!isLocked) {
                threads.unlock();
            }
        }
    }

    void unlock() {
        try {
            bytes.unlock(CHANGE);
        } catch (LinuxSocket.Refused e) {
            LOG.log(System.Logger.Level.ERROR, "the lock of " + file + " cannot be released", e);
        } finally {
            threads.unlock();
        }
    }

    /** {@return whether the file is still where it was opened} Who has the lock can rely on it. */
    boolean isInPlace() throws IOException {
        return bytes.isAt(file);
    }

    /** Deletes the file, if no process uses it. */
    void deleteIfUnused() throws LinuxSocket.Refused, IOException {
        if (!bytes.tryLock(CHANGE)) {
            return;
        }
        try {
            for (int prefix = SharedTable.FIRST_PREFIX; prefix <= SharedTable.LAST_PREFIX; prefix++) {
                if (isOthers(prefix)) {
                    return;
                }
            }
            // Whoever has opened it meanwhile waits for the lock, and then sees that it is gone.
            if (isInPlace()) {
                Files.delete(file);
            }
        } finally {
            bytes.unlock(CHANGE);
        }
    }

    /** Keeps the other threads of this process out, for what is of no other process's concern. */
    void lockWithinProcess() {
        threads.lock();
    }

    void unlockWithinProcess() {
        threads.unlock();
    }

    /** Takes a prefix for as long as this process lives. {@return false if another one has it} */
    boolean take(int prefix) throws LinuxSocket.Refused {
        return bytes.tryLock(PREFIXES + prefix);
    }

    /** {@return whether a process that lives, and is not this one, has a prefix} */
    boolean isOthers(int prefix) throws LinuxSocket.Refused {
        return bytes.isLockedByOther(PREFIXES + prefix);
    }

    /** {@return what to say if the system refuses something that concerns the file} */
    RdmaException unusable(LinuxSocket.Refused cause) {
        return new RdmaException(Errno.EACCES, SharedPort.OPERATION,
                file + " cannot be used: " + cause.getMessage(), cause);
    }

    /** Lets go of all. */
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
