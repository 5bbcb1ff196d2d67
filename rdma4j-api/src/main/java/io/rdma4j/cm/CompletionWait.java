// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.event.CompletionWaiters;
import io.rdma4j.spi.CmContext;
import io.rdma4j.spi.Outstanding;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.RdmaClosedException;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.WorkCompletion;
import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.Locale;

/**
 * Waiting for the completions of a queue, until none of a queue pair can come any more.
 *
 * <p>It takes no events: those in the channel belong to the program that requested notification (ADR 32).
 */
final class CompletionWait {
    private static final String OF_OTHERS = "To wait for what another thread will post, give a time-out";

    /** Which queue of a queue pair. */
    enum Side {
        SEND, RECEIVE;

        private CompletionQueue queue(QueuePair queuePair) {
            return switch (this) {
                case SEND -> queuePair.sendCompletionQueue();
                case RECEIVE -> queuePair.receiveCompletionQueue();
            };
        }

        private String text() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    private static final Duration LONGEST = Duration.ofNanos(Long.MAX_VALUE);

    private final QueuePair queuePair;
    private final Side side;
    private final CompletionQueue queue;
    private final CmContext device;

    private CompletionWait(QueuePair queuePair, Side side) throws RdmaException {
        this.queuePair = queuePair;
        this.side = side;
        queue = side.queue(queuePair);
        if (queue.channel() == null) {
            throw new RdmaException(Errno.EINVAL, operation(),
                    "the completion queue has no channel to wait on; create it with one or poll it");
        }
        device = device(queuePair.protectionDomain().context());
    }

    /** {@return what is attempted, for errors} */
    private String operation() {
        return "await " + side.text() + " completion";
    }

    private CmContext device(DeviceContext context) throws RdmaException {
        if (context instanceof CmContext known) {
            return known;
        }
        throw RdmaException.unsupported(operation(),
                "the queue pair is of a device that knows no connection manager; poll its queue");
    }

    /**
     * {@return the next completion, waiting as long as it takes}
     *
     * @throws IllegalStateException if nothing is outstanding that will complete
     */
    static WorkCompletion await(QueuePair queuePair, Side side) throws RdmaException {
        WorkCompletion completion = new WorkCompletion();
        if (side.queue(queuePair).poll(completion)) {
            return completion;
        }
        CompletionWait wait = new CompletionWait(queuePair, side);
        if (!wait.lookForOutstanding(completion)) {
            wait.into(completion, Long.MAX_VALUE);
        }
        return completion;
    }

    /** {@return the next completion, or null if none comes in time} */
    static @Nullable WorkCompletion poll(QueuePair queuePair, Side side, Duration timeout)
            throws RdmaException {
        WorkCompletion completion = new WorkCompletion();
        if (side.queue(queuePair).poll(completion)) {
            return completion;
        }
        boolean isLong = timeout.compareTo(LONGEST) >= 0;
        long timeoutNs = isLong ? Long.MAX_VALUE : Math.max(0, timeout.toNanos());
        CompletionWait wait = new CompletionWait(queuePair, side);
        return wait.into(completion, timeoutNs) ? completion : null;
    }

    /**
     * Before a wait without limit, of a queue that was empty just now.
     *
     * @return whether there is a completion by now
     * @throws IllegalStateException if there is none, and none can come unless more is posted
     */
    private boolean lookForOutstanding(WorkCompletion completion) throws RdmaException {
        Outstanding outstanding = device.outstanding(queuePair, side == Side.RECEIVE);
        if (outstanding == Outstanding.COMPLETING) {
            return false;
        }
        // What was outstanding when the queue was empty may have completed before the question.
        if (look(completion)) {
            return true;
        }
        throw new IllegalStateException(operation() + ": " + lack(outstanding));
    }

    private String lack(Outstanding outstanding) {
        return switch (outstanding) {
            case NOTHING -> side == Side.RECEIVE
                    ? "no receive is outstanding: post one first. " + OF_OTHERS
                    : "no send is outstanding: post one first, with SendFlag.SIGNALED, for others"
                            + " complete only if they fail. " + OF_OTHERS;
            case UNSIGNALED -> "all outstanding sends are unsignaled, so they complete only if they"
                    + " fail: post with SendFlag.SIGNALED, or create the queue pair with signalAll";
            case COMPLETING -> throw new IllegalArgumentException("a completion will come");
        };
    }

    private boolean into(WorkCompletion completion, long timeoutNs) throws RdmaException {
        if (timeoutNs == 0) {
            return look(completion);
        }
        long startNs = System.nanoTime();
        CompletionWaiters waiters = device.waiters(queue);
        long known = waiters.changes();
        boolean hasTaken = false;
        try {
            while (true) {
                waiters.arm();
                hasTaken = look(completion);
                if (hasTaken) {
                    return true;
                }
                long leftNs = timeoutNs - (System.nanoTime() - startNs);
                if (!waiters.await(known, leftNs)) {
                    return false;
                }
                known = waiters.changes();
            }
        } catch (InterruptedException e) {
            throw RdmaException.interrupted(operation());
        } finally {
            waiters.passOn(known, hasTaken);
        }
    }

    /**
     * Takes a completion.
     *
     * @return whether there was one
     * @throws RdmaException if there is none and none of the queue pair can come
     */
    private boolean look(WorkCompletion completion) throws RdmaException {
        if (take(completion)) {
            return true;
        }
        Errno end = device.ended(queuePair, side == Side.RECEIVE);
        if (end == null) {
            return false;
        }
        // What came last came before the end.
        if (take(completion)) {
            return true;
        }
        throw end == Errno.EBADF ? closed(null) : lost(end);
    }

    private RdmaClosedException closed(@Nullable Throwable cause) {
        return new RdmaClosedException(operation(), "the queue pair was closed", cause);
    }

    private RdmaException lost(Errno end) {
        String lack = "no " + side.text() + " is outstanding that could complete, and ";
        if (end == Errno.ENODEV) {
            return new RdmaException(end, operation(), lack + "the device is gone");
        }
        try {
            return new RdmaException(end, operation(), lack + "the queue pair is in state "
                    + queuePair.state() + ": the connection has ended; close it");
        } catch (IllegalStateException closedMeanwhile) {
            return closed(closedMeanwhile);
        }
    }

    private boolean take(WorkCompletion completion) throws RdmaException {
        try {
            return device.take(queue, completion);
        } catch (RdmaClosedException e) {
            // Closed meanwhile, behind its queue pair.
            if (device.ended(queuePair, side == Side.RECEIVE) == Errno.EBADF) {
                return false;
            }
            throw e;
        }
    }
}
