// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import org.jspecify.annotations.Nullable;

import java.io.Closeable;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Accepts in a thread of its own, for a listener that accepts over TCP and over RDMA: it has one place to wait then.
 * Thread safe.
 *
 * @param <C> connections
 */
final class Acceptor<C extends Closeable> {
    private static final System.Logger LOG = System.getLogger(Acceptor.class.getName());
    /** Connections wait in the system's backlog; a few are taken out, so that it can be seen that there is one. */
    private static final int AHEAD = 4;
    /** After a failure that is none of the listener's own, such as a lack of file descriptors. */
    private static final long REST_NS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final long LONGEST_REST_NS = TimeUnit.SECONDS.toNanos(10);

    private final Source<C> source;
    private final Runnable onAccepted;
    private final Queue<C> accepted = new ConcurrentLinkedQueue<>();
    private final Semaphore room = new Semaphore(AHEAD);
    private final CompletableFuture<Void> end = new CompletableFuture<>();
    private volatile @Nullable Thread thread;
    /** After the next failure; for its own thread. */
    private long restNs = REST_NS;

    /** Where connections come from. */
    interface Source<C> extends Closeable {
        /** {@return the next connection} Waits for it. */
        C accept() throws IOException;

        boolean isOpen();

        /** Ends a connection that nobody has taken. */
        void drop(C connection) throws IOException;

        /** {@return that of a bound channel, which blocks} */
        static Source<SocketChannel> of(ServerSocketChannel listener) {
            return new Source<>() {
                @Override
                public SocketChannel accept() throws IOException {
                    return listener.accept();
                }

                @Override
                public boolean isOpen() {
                    return listener.isOpen();
                }

                @Override
                public void drop(SocketChannel connection) throws IOException {
                    connection.close();
                }

                @Override
                public void close() throws IOException {
                    listener.close();
                }
            };
        }

        /** {@return that of a bound socket} */
        static Source<Socket> of(ServerSocket listener) {
            return new Source<>() {
                @Override
                public Socket accept() throws IOException {
                    return listener.accept();
                }

                @Override
                public boolean isOpen() {
                    return !listener.isClosed();
                }

                @Override
                public void drop(Socket connection) throws IOException {
                    // At once: several of them would wait one after the other for their peers.
                    try (connection) {
                        connection.setSoLinger(true, 0);
                    }
                }

                @Override
                public void close() throws IOException {
                    listener.close();
                }
            };
        }
    }

    /**
     * @param source belongs to this
     * @param onAccepted called by the thread of its own
     */
    Acceptor(Source<C> source, Runnable onAccepted) {
        this.source = source;
        this.onAccepted = onAccepted;
    }

    void start() {
        // No virtual one: the program's may keep all carriers.
        thread = Thread.ofPlatform().daemon().name("rdma4j-accept").start(this::run);
    }

    boolean hasAny() {
        return !accepted.isEmpty();
    }

    /** {@return the oldest connection, null if there is none} */
    @Nullable
    C poll() {
        C oldest = accepted.poll();
        if (oldest != null) {
            room.release();
        }
        return oldest;
    }

    private void run() {
        try {
            while (source.isOpen()) {
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
            accepted.add(source.accept());
            restNs = REST_NS;
        } catch (IOException | RuntimeException | Error e) {
            // Whatever it was: nobody else accepts.
            room.release();
            if (source.isOpen()) {
                LOG.log(System.Logger.Level.WARNING, "no connection is accepted", e);
                LockSupport.parkNanos(this, restNs);
                // One that lasts, such as a device that is gone, does not fill the log.
                restNs = Math.min(2 * restNs, LONGEST_REST_NS);
            }
            return;
        }
        onAccepted.run();
    }

    private void closeLeft() {
        for (C left = poll(); left != null; left = poll()) {
            try {
                source.drop(left);
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
        source.close();
        // Makes room, for which the thread may wait.
        closeLeft();
        Thread running = thread;
        if (running != null) {
            LockSupport.unpark(running);
            Void _ = end.join();
        }
    }
}
