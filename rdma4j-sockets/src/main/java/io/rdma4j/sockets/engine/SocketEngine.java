package io.rdma4j.sockets.engine;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmEventChannel;
import io.rdma4j.cm.CmId;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.WaitSet;

import java.time.Duration;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Drives all connections and listeners of the process, so that none depends on what its application does. One daemon thread
 * waits for completions and for events of the connection manager, and hands them to whom they belong. It also
 * frees what has ended: nothing is freed while one of its events is handled.
 */
public final class SocketEngine {
    private static final System.Logger LOG = System.getLogger(SocketEngine.class.getName());
    private static final int BATCH = 64;
    private static final Duration FOREVER = Duration.ofNanos(Long.MAX_VALUE);

    private final WaitSet set = WaitSet.create();
    private final CompletionChannel completions = CompletionChannel.create(set);
    private final CmEventChannel events = CmEventChannel.create(set);
    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean isWoken = new AtomicBoolean();
    /** Of the thread alone. */
    private final PriorityQueue<Timer> timers = new PriorityQueue<>();
    private final Thread thread;
    /** Stands for no connection: its events wake the thread. */
    private final CmId waker;

    /** What is due at a time. */
    private record Timer(long atNs, Runnable task) implements Comparable<Timer> {
        @Override
        public int compareTo(Timer other) {
            return Long.signum(atNs - other.atNs);
        }
    }

    /** What handles completions; the user context of its queue. */
    interface CompletionUser {
        /** Its queue has an event. */
        void onCompletions();
    }

    /** What handles events; the user context of its id. */
    interface EventUser {
        /**
         * Something has happened to its id.
         *
         * @param event acknowledged by the caller
         */
        void onEvent(CmEvent event) throws RdmaException;
    }

    /** Made by the first use, with its thread. */
    private static final class OfProcess {
        static final SocketEngine ENGINE = new SocketEngine();
    }

    private SocketEngine() {
        try {
            waker = CmId.create(events, PortSpace.TCP);
        } catch (RdmaException e) {
            throw new IllegalStateException("a new channel takes ids", e);
        }
        thread = Thread.ofPlatform().daemon().name("rdma4j-sockets").unstarted(this::run);
        thread.start();
    }

    /** {@return the engine of the process} */
    public static SocketEngine ofProcess() {
        return OfProcess.ENGINE;
    }

    /** {@return where completion queues report, whose user context is a {@link CompletionUser}} */
    CompletionChannel completions() {
        return completions;
    }

    /** {@return a new id whose events go to a user} */
    CmId newId(EventUser user) throws RdmaException {
        CmId id = CmId.create(events, PortSpace.TCP);
        id.userContext(user);
        return id;
    }

    /** Runs something in the thread, soon. */
    void execute(Runnable task) {
        tasks.add(task);
        if (!Thread.currentThread().equals(thread) && isWoken.compareAndSet(false, true)) {
            waker.writeEvent(0, 0);
        }
    }

    /** Runs something in the thread after a time. */
    void schedule(Duration delay, Runnable task) {
        Timer timer = new Timer(System.nanoTime() + delay.toNanos(), task);
        execute(() -> timers.add(timer));
    }

    // ---------------------------------------------------------------- the thread

    private void run() {
        while (true) {
            isWoken.set(false);
            runTasks();
            Duration timeout = runTimers();
            if (tasks.isEmpty()) {
                await(timeout);
            }
        }
    }

    private void runTasks() {
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
            contain(task);
        }
    }

    /** {@return how long until the next is due} */
    private Duration runTimers() {
        for (Timer next = timers.peek(); next != null; next = timers.peek()) {
            long leftNs = next.atNs() - System.nanoTime();
            if (leftNs > 0) {
                return Duration.ofNanos(leftNs);
            }
            timers.remove();
            contain(next.task());
        }
        return FOREVER;
    }

    private void await(Duration timeout) {
        try {
            if (set.poll(timeout) == null) {
                return;
            }
            for (int i = 0; i < BATCH && (handleCompletions() | handleEvent()); i++) {
                // Until nothing is left.
            }
        } catch (RdmaException e) {
            // Somebody has interrupted this thread, which belongs to nobody else.
            LOG.log(System.Logger.Level.DEBUG, "a wait of the sockets' thread was ended", e);
        }
    }

    private boolean handleCompletions() throws RdmaException {
        CompletionQueue queue = completions.pollEvent(Duration.ZERO);
        if (queue == null) {
            return false;
        }
        queue.acknowledgeEvents(1);
        if (queue.userContext() instanceof CompletionUser user) {
            contain(user::onCompletions);
        }
        return true;
    }

    private boolean handleEvent() throws RdmaException {
        CmEvent event = events.pollEvent(Duration.ZERO);
        if (event == null) {
            return false;
        }
        try (event) {
            if (event.id().userContext() instanceof EventUser user) {
                contain(() -> handle(user, event));
            }
        }
        return true;
    }

    private static void handle(EventUser user, CmEvent event) {
        try {
            user.onEvent(event);
        } catch (RdmaException e) {
            LOG.log(System.Logger.Level.WARNING, "an event was not handled: " + event, e);
        }
    }

    /** A defect of one connection must not end the others. */
    private static void contain(Runnable task) {
        try {
            task.run();
        } catch (RuntimeException | Error e) {
            LOG.log(System.Logger.Level.ERROR, "the sockets' thread goes on after a defect", e);
        }
    }
}
