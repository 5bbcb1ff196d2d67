// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Connects over RDMA, and over TCP if that fails, in a thread of its own. A peer that does not answer over RDMA for a second,
 * perhaps behind a firewall, is asked over TCP. Thread safe.
 *
 * <p>The thread is none of the virtual ones: a channel of the JDK's that one of them has used writes only a part of what it is given,
 * though it blocks.
 */
final class ConnectAttempt {
    private static final System.Logger LOG = System.getLogger(ConnectAttempt.class.getName());
    private static final int PATIENCE_MS = 1000;

    private final Opener rdma;
    private final Opener tcp;
    private final InetSocketAddress to;
    private final int patienceMs;
    private final Runnable onDone;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private volatile @Nullable SocketChannel current;
    private volatile @Nullable Thread thread;
    private volatile boolean isCancelled;
    private volatile boolean hasBegun;
    private volatile boolean isDone;
    private @Nullable SocketChannel result;
    private @Nullable IOException failure;

    /** Makes a channel that is bound and has its options. */
    interface Opener {
        SocketChannel open() throws IOException;
    }

    /**
     * @param timeoutMs how long connecting may take, 0 for no limit
     * @param onDone called by the thread of the attempt
     */
    ConnectAttempt(Opener rdma, Opener tcp, InetSocketAddress to, int timeoutMs, Runnable onDone) {
        patienceMs = patienceMs(timeoutMs);
        this.rdma = rdma;
        this.tcp = tcp;
        this.to = to;
        this.onDone = onDone;
    }

    /** {@return how long a peer is asked over RDMA, from when the device is open: a second, and no more than half of a limit, so that some is left for TCP} */
    static int patienceMs(int timeoutMs) {
        return timeoutMs == 0 ? PATIENCE_MS : Math.min(PATIENCE_MS, Math.max(1, timeoutMs / 2));
    }

    InetSocketAddress to() {
        return to;
    }

    void start() {
        thread = Thread.ofPlatform().daemon().name("rdma4j-connect").start(this::run);
    }

    boolean isDone() {
        return isDone;
    }

    /**
     * Waits until it is done, also if the thread is interrupted: that ends it.
     *
     * @param timeoutMs 0 for no limit; it begins when the device is open
     * @return whether it is done
     */
    boolean await(int timeoutMs) {
        boolean isInterrupted = false;
        lock.lock();
        try {
            while (!hasBegun && !isDone) {
                changed.awaitUninterruptibly();
            }
            long endNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
            while (!isDone) {
                if (timeoutMs == 0) {
                    changed.awaitUninterruptibly();
                    continue;
                }
                long leftNs = endNs - System.nanoTime();
                if (leftNs <= 0) {
                    return false;
                }
                try {
                    long _ = changed.awaitNanos(leftNs);
                } catch (InterruptedException e) {
                    isInterrupted = true;
                }
            }
            return true;
        } finally {
            lock.unlock();
            if (isInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /**
     * {@return the connected channel, which blocks} Once it is done.
     *
     * @throws IOException why it is not connected over TCP; why not over RDMA is suppressed in it
     */
    SocketChannel result() throws IOException {
        lock.lock();
        try {
            if (failure != null) {
                throw failure;
            }
            if (result == null) {
                throw new IllegalStateException("it is not done");
            }
            return result;
        } finally {
            lock.unlock();
        }
    }

    /** Ends it; its channel is closed. */
    void cancel() {
        isCancelled = true;
        close(current);
        LockSupport.unpark(thread);
    }

    private static void close(@Nullable SocketChannel channel) {
        if (channel != null) {
            try {
                channel.close();
            } catch (IOException e) {
                LOG.log(System.Logger.Level.DEBUG, "a channel is given up", e);
            }
        }
    }

    // ---------------------------------------------------------------- in its thread

    private void run() {
        SocketChannel made = null;
        IOException why = null;
        try {
            made = connect();
        } catch (IOException e) {
            why = e;
        } catch (RuntimeException | Error e) {
            why = new IOException("connecting failed: " + e, e);
        }
        lock.lock();
        try {
            result = made;
            failure = why;
            isDone = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        onDone.run();
    }

    private SocketChannel connect() throws IOException {
        IOException overRdma;
        try {
            return connectOverRdma((RdmaSocketChannel) track(rdma.open()));
        } catch (IOException e) {
            overRdma = e;
        }
        // In case it has failed before.
        begin();
        close(current);
        SocketChannel over = null;
        try {
            over = track(tcp.open());
            over.connect(to);
        } catch (IOException e) {
            close(over);
            e.addSuppressed(overRdma);
            throw e;
        }
        logInstead(to, overRdma);
        return over;
    }

    private void begin() {
        lock.lock();
        try {
            hasBegun = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Says that TCP was taken. If that was for a lack of answers, it may not be what was wanted, and is worth a look. */
    static void logInstead(InetSocketAddress to, IOException overRdma) {
        LOG.log(overRdma instanceof SocketTimeoutException
                ? System.Logger.Level.INFO
                : System.Logger.Level.DEBUG,
                "{0} is reached over TCP, not over RDMA: {1}", to, overRdma.getMessage());
    }

    private SocketChannel track(SocketChannel opened) throws IOException {
        current = opened;
        if (isCancelled) {
            close(opened);
            throw new AsynchronousCloseException();
        }
        return opened;
    }

    private SocketChannel connectOverRdma(RdmaSocketChannel channel) throws IOException {
        Thread self = Thread.currentThread();
        ChannelReadiness.Listener waking = new ChannelReadiness.Listener() {
            @Override
            public void onReady(int operations) {
                LockSupport.unpark(self);
            }

            @Override
            public void onRedirected() {
                // It is over RDMA for good.
            }

            @Override
            public void onRelease() {
                // No selector has it.
            }

            @Override
            public boolean isSelected() {
                return false;
            }
        };
        channel.readiness().add(waking);
        try {
            channel.configureBlocking(false);
            boolean isConnected = channel.connect(to);
            channel.awaitBegun();
            begin();
            long endNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(patienceMs);
            while (!isConnected && !isCancelled) {
                long leftNs = endNs - System.nanoTime();
                if (leftNs <= 0) {
                    throw new SocketTimeoutException("nobody answers over RDMA");
                }
                LockSupport.parkNanos(this, leftNs);
                isConnected = channel.finishConnect();
            }
            channel.configureBlocking(true);
            return channel;
        } finally {
            channel.readiness().remove(waking);
        }
    }
}
