package io.rdma4j.observe.jmx;

import org.jspecify.annotations.Nullable;

import java.util.LinkedHashSet;
import java.util.SequencedSet;

/**
 * The beans of devices that were opened before JMX has started: one thread registers them a second after the first. Starting JMX
 * took a sixth of the processor time that a client had used before its first message; now that time comes after it, and a process
 * that ends soon saves it. Thread safe.
 */
final class JmxStart {
    private static final System.Logger LOG = System.getLogger(JmxStart.class.getName());
    private static final long AFTER_MS = 1_000;

    /** Guarded by this, as is whether there is a thread. */
    private final SequencedSet<RegisteredBean> waiting = new LinkedHashSet<>();
    private boolean hasThread;

    /** {@return whether the bean will be registered} Otherwise JMX has started. */
    synchronized boolean add(RegisteredBean bean) {
        if (RegisteredBean.isStarted()) {
            return false;
        }
        waiting.add(bean);
        if (!hasThread) {
            hasThread = true;
            // JMX may be impossible here, for example because the process may open no more files.
            Thread.ofPlatform().daemon().name("rdma4j-jmx")
                    .uncaughtExceptionHandler((_, e) -> LOG.log(System.Logger.Level.DEBUG,
                            "no JMX for the devices of this process", e))
                    .start(this::run);
        }
        return true;
    }

    synchronized void remove(RegisteredBean bean) {
        waiting.remove(bean);
    }

    private void run() {
        try {
            Thread.sleep(AFTER_MS);
        } catch (InterruptedException e) {
            // No code interrupts this thread on purpose.
            Thread.currentThread().interrupt();
        }
        try {
            for (RegisteredBean next = next(); next != null; next = next()) {
                next.register();
            }
        } catch (RuntimeException | Error impossible) {
            end();
            throw impossible;
        }
    }

    /** {@return the next bean; null if there is none, then the thread ends} */
    private synchronized @Nullable RegisteredBean next() {
        if (waiting.isEmpty()) {
            hasThread = false;
            return null;
        }
        return waiting.removeFirst();
    }

    private synchronized void end() {
        hasThread = false;
    }
}
