// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Accepts over TCP in a virtual thread of its own, for a listener that accepts over RDMA as well: it has one place to wait then.
 * Thread safe.
 */
final class TcpAcceptor {
    private static final System.Logger LOG = System.getLogger(TcpAcceptor.class.getName());
    /** Connections wait in the system's backlog; a few are taken out, so that it can be seen that there is one. */
    private static final int AHEAD = 4;
    /** After a failure that is none of the listener's own, such as a lack of file descriptors. */
    private static final long REST_NS = TimeUnit.MILLISECONDS.toNanos(100);

    private final ServerSocketChannel listener;
    private final Runnable onAccepted;
    private final Queue<SocketChannel> accepted = new ConcurrentLinkedQueue<>();
    private final Semaphore room = new Semaphore(AHEAD);
    private final CompletableFuture<Void> end = new CompletableFuture<>();
    private volatile @Nullable Thread thread;

    /**
     * @param listener bound; it belongs to this, and blocks
     * @param onAccepted called by the thread of its own
     */
    TcpAcceptor(ServerSocketChannel listener, Runnable onAccepted) {
        this.listener = listener;
        this.onAccepted = onAccepted;
    }

    void start() {
        thread = Thread.ofVirtual().name("rdma4j-accept").start(this::run);
    }

    boolean hasAny() {
        return !accepted.isEmpty();
    }

    /** {@return the oldest connection, null if there is none} */
    @Nullable
    SocketChannel poll() {
        SocketChannel oldest = accepted.poll();
        if (oldest != null) {
            room.release();
        }
        return oldest;
    }

    private void run() {
        try {
            while (listener.isOpen()) {
                // First, so that no connection is out of the system's backlog and not here.
                room.acquireUninterruptibly();
                acceptOne();
            }
            closeLeft();
        } finally {
            end.complete(null);
        }
    }

    private void acceptOne() {
        try {
            accepted.add(listener.accept());
        } catch (IOException | RuntimeException | Error e) {
            // Whatever it was: nobody else accepts.
            room.release();
            if (listener.isOpen()) {
                LOG.log(System.Logger.Level.WARNING, "no connection is accepted over TCP", e);
                LockSupport.parkNanos(this, REST_NS);
            }
            return;
        }
        onAccepted.run();
    }

    private void closeLeft() {
        for (SocketChannel left = poll(); left != null; left = poll()) {
            try {
                left.close();
            } catch (IOException e) {
                LOG.log(System.Logger.Level.DEBUG, "nobody has taken it", e);
            }
        }
    }

    /**
     * Stops listening, and ends the connections that nobody has taken. The port is free when it returns: the JDK keeps it until a
     * virtual thread has left its call. That is not interrupted, by which the JDK may lose a connection that it has just accepted.
     */
    void close() throws IOException {
        listener.close();
        // Makes room, for which the thread may wait.
        closeLeft();
        Thread running = thread;
        if (running != null) {
            LockSupport.unpark(running);
            Void _ = end.join();
        }
    }
}
