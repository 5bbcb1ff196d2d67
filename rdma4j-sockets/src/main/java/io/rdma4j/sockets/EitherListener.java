// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Two server sockets at one address, one over RDMA and one over TCP, from which connections are accepted as they come. Thread safe. */
final class EitherListener {
    private static final System.Logger LOG = System.getLogger(EitherListener.class.getName());

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Acceptor<Socket> rdma;
    private final Acceptor<Socket> tcp;
    private volatile boolean isClosed;
    /** Of threads without any order: it need not be exact. */
    private boolean isTurnOfTcp;

    /** @param rdma bound, and {@code tcp} as well; they belong to this */
    EitherListener(ServerSocket rdma, ServerSocket tcp) {
        this.rdma = new Acceptor<>(Acceptor.Source.of(rdma), this::onChange);
        this.tcp = new Acceptor<>(Acceptor.Source.of(tcp), this::onChange);
    }

    void start() {
        rdma.start();
        tcp.start();
    }

    private void onChange() {
        lock.lock();
        try {
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /**
     * {@return the next connection}
     *
     * @throws java.net.SocketTimeoutException if there is none in time
     * @throws java.io.InterruptedIOException if the thread is virtual and interrupted
     * @throws SocketException if this is closed
     */
    Socket accept(TimeLimit limit) throws IOException {
        Socket taken = null;
        while (taken == null) {
            SocketWait.until(() -> isClosed || rdma.hasAny() || tcp.hasAny(), this::await, limit,
                    "Accept");
            if (isClosed) {
                throw new SocketException("Socket closed");
            }
            taken = poll();
        }
        return taken;
    }

    /** {@return one of them in turns, if both have any} */
    private @Nullable Socket poll() {
        isTurnOfTcp = !isTurnOfTcp;
        Acceptor<Socket> first = isTurnOfTcp ? tcp : rdma;
        Socket taken = first.poll();
        return taken == null ? (isTurnOfTcp ? rdma : tcp).poll() : taken;
    }

    private void await(long timeoutNs) {
        TimeLimit limit = TimeLimit.in(timeoutNs);
        lock.lock();
        try {
            while (!isClosed && !rdma.hasAny() && !tcp.hasAny() && !limit.isOver()) {
                long _ = changed.awaitNanos(limit.leftNs());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            lock.unlock();
        }
    }

    /** As {@link #close}, for nobody who could do anything about a failure. */
    void end() {
        try {
            close();
        } catch (IOException e) {
            LOG.log(System.Logger.Level.DEBUG, "a server socket that was forgotten", e);
        }
    }

    /** Stops listening, and ends the connections that nobody has taken. The port is free when it returns. */
    void close() throws IOException {
        isClosed = true;
        onChange();
        try {
            rdma.close();
        } finally {
            tcp.close();
        }
    }
}
