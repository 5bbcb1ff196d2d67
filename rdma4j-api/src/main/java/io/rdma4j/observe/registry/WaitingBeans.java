// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.observe.registry;

import org.jspecify.annotations.Nullable;

import java.util.LinkedHashSet;
import java.util.SequencedSet;

import javax.management.MBeanServerFactory;

/**
 * The beans of what was opened before this process had an MBean server. A thread looks every second whether it
 * has one now, because a program or a client that attaches has made it, and registers them then. To make it without need
 * would cost a quarter of a second of processor time, as much as all of rdma4j needs before its first message. Thread safe.
 */
final class WaitingBeans {
    private static final System.Logger LOG = System.getLogger(WaitingBeans.class.getName());
    private static final long LOOK_MS = 1_000;

    /** Guarded by this, as is whether there is a thread. */
    private final SequencedSet<RegisteredBean> waiting = new LinkedHashSet<>();
    private boolean hasThread;

    /** {@return whether the bean will be registered} Otherwise the beans of this process are in a server already. */
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
                            "no JMX for what this process has open", e))
                    .start(this::run);
        }
        return true;
    }

    synchronized void remove(RegisteredBean bean) {
        waiting.remove(bean);
    }

    private void run() {
        try {
            do {
                Thread.sleep(LOOK_MS);
                if (isOver()) {
                    return;
                }
            } while (MBeanServerFactory.findMBeanServer(null).isEmpty());
        } catch (InterruptedException e) {
            // No code interrupts this thread on purpose.
            Thread.currentThread().interrupt();
        } catch (RuntimeException | Error impossible) {
            end();
            throw impossible;
        }
        register();
    }

    private void register() {
        try {
            for (RegisteredBean next = next(); next != null; next = next()) {
                next.register();
            }
        } catch (RuntimeException | Error impossible) {
            end();
            throw impossible;
        }
    }

    /** {@return whether no bean waits; then the thread ends} */
    private synchronized boolean isOver() {
        hasThread = !waiting.isEmpty();
        return !hasThread;
    }

    /** {@return the next bean; null if there is none, then the thread ends} */
    private synchronized @Nullable RegisteredBean next() {
        return isOver() ? null : waiting.removeFirst();
    }

    private synchronized void end() {
        hasThread = false;
    }
}
