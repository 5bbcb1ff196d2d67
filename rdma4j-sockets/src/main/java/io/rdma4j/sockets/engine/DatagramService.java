// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.engine;

import io.rdma4j.jdk.JdkProvider;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.nio.channels.DatagramChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Waits for the introductions of peers at the UDP sockets of all datagram endpoints. It has one thread while there is one. C: the thread
 * {@code udp_svc} of librdmacm. Thread safe.
 */
final class DatagramService {
    private static final System.Logger LOG = System.getLogger(DatagramService.class.getName());

    private final Queue<Task> tasks = new ConcurrentLinkedQueue<>();
    /** Guarded by this. */
    private @Nullable Selector selector;

    /** Done by the thread. */
    private interface Task {
        void run(Selector selector) throws IOException;
    }

    /** Tells an endpoint when something has come to its socket, which does not block. */
    void add(DatagramChannel socket, Runnable told) throws IOException {
        execute(used -> socket.register(used, SelectionKey.OP_READ, told));
    }

    /** Closes the socket of an endpoint, whose port is free when the task has run. */
    void close(DatagramChannel socket, Runnable closed) {
        try {
            execute(used -> {
                SelectionKey key = socket.keyFor(used);
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
            used = JdkProvider.provider().openSelector();
            selector = used;
            Selector made = used;
            Thread.ofPlatform().daemon().name("rdma4j-sockets-udp").start(() -> run(made));
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

    /** A defect of one socket must not end the others. */
    private static void contain(Task task, Selector used) {
        try {
            task.run(used);
        } catch (IOException | RuntimeException e) {
            LOG.log(System.Logger.Level.WARNING, "the sockets of datagrams go on", e);
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
