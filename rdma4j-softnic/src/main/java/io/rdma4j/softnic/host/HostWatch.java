// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.host;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * The present network interfaces, and who is notified of changes. While somebody is, one thread sleeps until the system
 * reports a change; it ends when it wakes and nobody does any more. Thread safe.
 */
public final class HostWatch {
    /** That of the process. */
    public static final HostWatch OF_PROCESS = new HostWatch(HostSource::ofSystem);

    private static final System.Logger LOG = System.getLogger(HostWatch.class.getName());
    /** How long after a failure the system is asked again. */
    private static final long RETRY_NS = 1_000_000_000;

    private final Supplier<HostSource> sources;
    /** Guarded by this. */
    private final List<Runnable> listeners = new ArrayList<>();
    /** Null before it is needed. Then it stays, because to open one takes as long as to open a device. Guarded by this. */
    private @Nullable Sight sight;
    /** Whether the thread runs. Guarded by this. */
    private boolean isWatching;

    /** @param sources opens what tells the interfaces; used once */
    public HostWatch(Supplier<HostSource> sources) {
        this.sources = sources;
    }

    /**
     * {@return the present interfaces} A change that was complete before the call is in it, whether the listeners were
     * notified or not.
     *
     * @throws IOException if the system cannot be asked now
     */
    public Host now() throws IOException {
        return sight().now();
    }

    private synchronized Sight sight() {
        Sight present = sight;
        if (present == null) {
            present = new Sight(sources.get());
            sight = present;
        }
        return present;
    }

    /**
     * Adds a listener: it is called after each change from now on, by a thread that it must not keep for long. It may be
     * called without a change.
     */
    public synchronized void watch(Runnable listener) {
        if (!isWatching) {
            Watcher watcher = new Watcher(sight());
            try {
                Thread.ofPlatform().daemon().name("rdma4j-host").start(watcher);
                isWatching = true;
            } catch (OutOfMemoryError noThread) {
                // Who asks for the interfaces gets the present ones; the next listener tries again.
                logFailure(noThread);
            }
        }
        listeners.add(listener);
    }

    /** Removes a listener. A call that has begun goes on. */
    public synchronized void forget(Runnable listener) {
        listeners.remove(listener);
    }

    /** {@return whether the thread has to go on} A device that is opened and closed again and again starts it once. */
    private synchronized boolean goesOn() {
        isWatching = !listeners.isEmpty();
        return isWatching;
    }

    private synchronized List<Runnable> listeners() {
        return List.copyOf(listeners);
    }

    private void notifyListeners() {
        for (Runnable listener : listeners()) {
            try {
                listener.run();
            } catch (RuntimeException | Error failed) {
                // The others wait for this change.
                LOG.log(System.Logger.Level.ERROR, "who watches the network interfaces failed",
                        failed);
            }
        }
    }

    /** What was last seen. Thread safe. */
    private static final class Sight {
        private final HostSource source;
        /** Null until the system has answered. Guarded by this. */
        private @Nullable Host last;
        /** The system could not be asked, so there may be more than was seen. Guarded by this. */
        private boolean isStale;

        Sight(HostSource source) {
            this.source = source;
        }

        /** {@return the present interfaces} For any other thread than that of the watcher. */
        synchronized Host now() throws IOException {
            Host before = last;
            try {
                Host now = look();
                if (!now.equals(before)) {
                    // What would have woken the thread was taken here.
                    source.wake();
                }
                return now;
            } catch (IOException e) {
                source.wake();
                throw e;
            }
        }

        synchronized Host look() throws IOException {
            Host known = last;
            if (source.mayHaveChanged() || isStale || known == null) {
                isStale = true;
                known = source.look();
                last = known;
                isStale = false;
            }
            return known;
        }

        /** Waits for a change, or after a failure until the system can be asked again. */
        void await() {
            boolean isToBeRepeated;
            synchronized (this) {
                isToBeRepeated = isStale;
            }
            source.await(isToBeRepeated ? RETRY_NS : Long.MAX_VALUE);
        }
    }

    /** Looks after each change, and tells what is new. */
    private final class Watcher implements Runnable {
        private final Sight seen;
        /** What the listeners know. Of the thread, once it runs. */
        private @Nullable Host reported;

        Watcher(Sight seen) {
            this.seen = seen;
            try {
                // So that the thread has nothing to tell before there is a change.
                reported = seen.look();
            } catch (IOException unknown) {
                logFailure(unknown);
            }
        }

        @Override
        public void run() {
            do {
                seen.await();
                try {
                    reportChange();
                } catch (IOException | RuntimeException | Error failed) {
                    // Such as without memory or file descriptors: a later look may succeed.
                    logFailure(failed);
                }
            } while (goesOn());
        }

        private void reportChange() throws IOException {
            Host now = seen.look();
            boolean isNew = !now.equals(reported);
            reported = now;
            if (isNew) {
                notifyListeners();
            }
        }
    }

    private static void logFailure(Throwable failed) {
        try {
            LOG.log(System.Logger.Level.DEBUG, "the network interfaces could not be looked at",
                    failed);
        } catch (RuntimeException | Error notEvenLogged) {
            // As above.
        }
    }
}
