// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import java.io.IOException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.Channel;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.util.function.BooleanSupplier;

/**
 * What encloses the calls of a channel that blocks, so that closing and interrupting end them.
 *
 * <p>A device that a thread runs while it posts, polls and leads takes the place of the object that {@link Thread#interrupt} notifies. So {@code
 * begin()} and {@code end()} of an interruptible channel enclose the waits alone, and are called once more before and after the call.
 */
abstract class BlockingCalls {
    final Channel channel;

    private BlockingCalls(Channel channel) {
        this.channel = channel;
    }

    /** Does something, and waits for that with {@link #sleep}. */
    interface Call {
        /** {@return how much was done} Nothing, if the channel was closed meanwhile. */
        long run() throws IOException;
    }

    /** {@code AbstractInterruptibleChannel.end}. */
    interface End {
        void end(boolean isCompleted) throws AsynchronousCloseException;
    }

    /** {@return those of a channel that an interruption closes} */
    static BlockingCalls interruptible(Channel channel, Runnable begin, End end) {
        return new Interruptible(channel, begin, end);
    }

    /** {@return those of a channel behind a socket: an interruption ends the wait of a virtual thread alone} */
    static BlockingCalls ofSocket(Channel channel, String what) {
        return new OfSocket(channel, what);
    }

    /** {@return what the call returns} */
    abstract long run(Call call) throws IOException;

    /** Waits once, inside of a call, and may return early. */
    abstract void sleep(BooleanSupplier isDone, SocketWait.Wait wait, TimeLimit limit)
            throws IOException;

    final void requireOpen() throws ClosedChannelException {
        if (!channel.isOpen()) {
            throw new ClosedChannelException();
        }
    }

    private static final class Interruptible extends BlockingCalls {
        private final Runnable begin;
        private final End end;

        Interruptible(Channel channel, Runnable begin, End end) {
            super(channel);
            this.begin = begin;
            this.end = end;
        }

        @Override
        long run(Call call) throws IOException {
            begin.run();
            end.end(true);
            requireOpen();
            long count;
            try {
                count = call.run();
            } catch (ClosedByInterruptException e) {
                throw e;
            } catch (IOException e) {
                begin.run();
                end.end(false);
                throw e;
            }
            begin.run();
            end.end(count > 0);
            return count;
        }

        @Override
        void sleep(BooleanSupplier isDone, SocketWait.Wait wait, TimeLimit limit)
                throws IOException {
            try {
                begin.run();
                wait.await(limit.leftNs());
            } finally {
                end.end(true);
            }
        }
    }

    private static final class OfSocket extends BlockingCalls {
        private final String what;

        OfSocket(Channel channel, String what) {
            super(channel);
            this.what = what;
        }

        @Override
        long run(Call call) throws IOException {
            requireOpen();
            long count = call.run();
            if (count <= 0 && !channel.isOpen()) {
                throw new AsynchronousCloseException();
            }
            return count;
        }

        @Override
        void sleep(BooleanSupplier isDone, SocketWait.Wait wait, TimeLimit limit)
                throws IOException {
            SocketWait.until(isDone, wait, limit, what);
        }
    }
}
