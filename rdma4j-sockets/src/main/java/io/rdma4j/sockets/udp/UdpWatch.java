// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.udp;

import io.rdma4j.jdk.JdkProvider;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Waits for messages at UDP sockets. It has one thread while there is one. C: the thread
 * {@code udp_svc} of librdmacm. Thread safe.
 */
public final class UdpWatch {
    private static final System.Logger LOG = System.getLogger(UdpWatch.class.getName());

    private final Queue<Task> tasks = new ConcurrentLinkedQueue<>();
    /** Guarded by this. */
    private @Nullable Selector selector;

    /** Without a socket, and so without a thread. */
    public UdpWatch() {}

    /** Done by the thread. */
    private interface Task {
        void run(Selector selector) throws IOException;
    }

    /** Runs something each time a message has come to a socket. */
    public void add(UdpSocket socket, Runnable told) throws IOException {
        execute(used -> socket.channel().register(used, SelectionKey.OP_READ, told));
    }

    /** Closes a socket, whose port is free when the other task runs. */
    public void close(UdpSocket socket, Runnable closed) {
        try {
            execute(used -> {
                SelectionKey key = socket.channel().keyFor(used);
                if (key != null) {
                    key.cancel();
                    used.selectNow();
                }
                socket.close();
                closed.run();
            });
        } catch (IOException e) {
            throw new IllegalStateException("a selector is open while there is a socket", e);
        }
    }

    private synchronized void execute(Task task) throws IOException {
        Selector used = selector;
        if (used == null) {
            Selector made = JdkProvider.provider().openSelector();
            boolean isStarted = false;
            try {
                // Before it ends it takes this monitor, and then finds the task.
                Thread.ofPlatform().daemon().name("rdma4j-sockets-udp").start(() -> run(made));
                isStarted = true;
            } finally {
                if (!isStarted) {
                    made.close();
                }
            }
            selector = made;
            used = made;
        }
        tasks.add(task);
        used.wakeup();
    }

    private void run(Selector used) {
        do {
            for (Task task = tasks.poll(); task != null; task = tasks.poll()) {
                contain(task, used);
            }
            contain(this::select, used);
        } while (!isOver(used));
    }

    private void select(Selector used) throws IOException {
        if (used.keys().isEmpty()) {
            return;
        }
        used.select(key -> {
            if (key.attachment() instanceof Runnable told) {
                told.run();
            }
        });
    }

    /** A defect of one socket must not end the others, nor the thread that serves them. */
    private static void contain(Task task, Selector used) {
        try {
            task.run(used);
        } catch (IOException | RuntimeException | Error e) {
            try {
                LOG.log(System.Logger.Level.WARNING, "the sockets of datagrams go on", e);
            } catch (RuntimeException | Error notLogged) {
                // Such as without memory or file descriptors.
            }
        }
    }

    private synchronized boolean isOver(Selector used) {
        if (!tasks.isEmpty() || !used.keys().isEmpty()) {
            return false;
        }
        selector = null;
        contain(Selector::close, used);
        return true;
    }
}
