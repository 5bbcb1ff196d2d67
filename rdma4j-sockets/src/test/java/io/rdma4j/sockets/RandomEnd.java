// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * One end of a connection: writes and reads in random pieces until its output is over and the peer's has ended, then closes. Another
 * thread may {@link #interfere}.
 */
final class RandomEnd {
    /** What an end waits in. */
    enum Waiting {
        PLATFORM_THREADS, VIRTUAL_THREADS, SELECTOR
    }

    private static final int MOST_BUFFERS = 5;
    private static final int MOST_BYTES = 20_000;
    private static final int SELECT_MS = 5;

    private final Transport transport;
    private final SocketChannel channel;
    private final Waiting waiting;
    private final RandomBytes output;
    private final RandomBytes input;
    /** One for each thread, so that the operations of each follow from the seed. */
    private final Random writing;
    private final Random reading;
    /** Counts the operations of both ends. */
    private final CountDownLatch operations;
    private final boolean mayLeaveOutputOpen;
    private final AtomicReference<Throwable> defect = new AtomicReference<>();
    private int writesLeft;
    private Thread reader = new Thread();
    private Thread writer = new Thread();
    private volatile @Nullable Selector selector;
    /** It closes, or ends its input, before the peer's output has ended. */
    private volatile boolean hasQuit;
    private volatile boolean isOutputShut;
    private volatile boolean hasSeenEnd;
    private volatile long done;

    RandomEnd(Transport transport, SocketChannel channel, Waiting waiting, RandomBytes output,
            RandomBytes input, long seed, int writes, boolean mayLeaveOutputOpen,
            CountDownLatch operations) {
        this.transport = transport;
        this.channel = channel;
        this.waiting = waiting;
        this.output = output;
        this.input = input;
        this.operations = operations;
        this.mayLeaveOutputOpen = mayLeaveOutputOpen;
        writing = new Random(seed);
        reading = new Random(~seed);
        writesLeft = writes;
    }

    boolean hasQuit() {
        return hasQuit;
    }

    boolean hasSeenEnd() {
        return hasSeenEnd;
    }

    /** {@return how many operations it has done, after its end} */
    long done() {
        return done;
    }

    @Nullable
    Throwable defect() {
        return defect.get();
    }

    // ---------------------------------------------------------------- threads

    void start(RandomEnd peer) {
        Thread.Builder threads = waiting == Waiting.VIRTUAL_THREADS
                ? Thread.ofVirtual()
                : Thread.ofPlatform();
        if (waiting == Waiting.SELECTOR) {
            reader = threads.unstarted(() -> run(() -> select(peer), true));
        } else {
            writer = threads.unstarted(() -> run(() -> writeAll(peer), false));
            reader = threads.unstarted(() -> run(() -> {
                while (!hasSeenEnd && read()) {
                    // Until the end.
                }
                join(writer);
            }, true));
            writer.start();
        }
        reader.start();
    }

    boolean awaitEnd(long patienceMs) throws InterruptedException {
        reader.join(patienceMs);
        return !reader.isAlive();
    }

    private interface Work {
        void run() throws IOException;
    }

    private void run(Work work, boolean isLast) {
        try {
            work.run();
        } catch (ClosedChannelException | CancelledKeyException e) {
            if (!hasQuit) {
                defect.compareAndSet(null, e);
            }
        } catch (IOException | RuntimeException | Error e) {
            defect.compareAndSet(null, e);
        }
        if (!isLast) {
            return;
        }
        try {
            join(writer);
            channel.close();
        } catch (IOException | RuntimeException e) {
            defect.compareAndSet(null, e);
        }
    }

    /** Also if this thread is interrupted, which is meant for the channel. */
    @SuppressWarnings("ThreadJoinLoop") // What it recommends is of a library that nothing here uses.
    private static void join(Thread other) {
        boolean isOver = false;
        while (!isOver) {
            try {
                other.join();
                isOver = true;
            } catch (InterruptedException e) {
                // It goes on to wait.
            }
        }
    }

    private void onOperation() {
        operations.countDown();
        synchronized (this) {
            done++;
        }
    }

    // ---------------------------------------------------------------- what others do to it

    /** Ends something of it at any moment, as a thread of the application can. */
    void interfere(int what) {
        boolean isBlocking = waiting != Waiting.SELECTOR;
        try {
            switch (what) {
                case 0 -> {
                    hasQuit = true;
                    channel.close();
                }
                case 1 -> {
                    hasQuit = true;
                    channel.shutdownInput();
                }
                case 2 -> {
                    isOutputShut = true;
                    channel.shutdownOutput();
                }
                case 3 -> {
                    hasQuit |= isBlocking;
                    reader.interrupt();
                }
                default -> {
                    hasQuit |= isBlocking;
                    writer.interrupt();
                }
            }
        } catch (ClosedChannelException e) {
            // It was over already.
        } catch (IOException | RuntimeException e) {
            defect.compareAndSet(null, e);
        }
        Selector open = selector;
        if (open != null) {
            open.wakeup();
        }
    }

    // ---------------------------------------------------------------- writing

    private void writeAll(RandomEnd peer) throws IOException {
        while (write(peer)) {
            // Until the end.
        }
    }

    /** {@return whether there is more to write} */
    private boolean write(RandomEnd peer) throws IOException {
        onOperation();
        if (writesLeft-- == 0) {
            endOutput();
            return false;
        }
        ByteBuffer[] buffers = buffers(writing);
        output.fill(buffers);
        int[] before = positions(buffers);
        long wanted = Buffers.remaining(buffers, 0, buffers.length);
        long written = -1;
        try {
            written = buffers.length == 1
                    ? channel.write(buffers[0])
                    : channel.write(buffers);
        } catch (ClosedChannelException e) {
            if (channel.isOpen() || hasQuit) {
                return false;
            }
            throw e;
        } catch (IOException e) {
            if (peer.hasQuit) {
                return false;
            }
            throw e;
        } finally {
            long moved = moved(buffers, before);
            output.onSent((int) moved);
            if (written >= 0) {
                assertThat(written).as("bytes that the buffers moved on by").isEqualTo(moved);
            }
        }
        boolean mayBePartial = waiting == Waiting.SELECTOR || hasQuit || peer.hasQuit
                || isOutputShut;
        assertThat(mayBePartial || written == wanted)
                .as("a write that blocks, %s of %s bytes", written, wanted).isTrue();
        return true;
    }

    private void endOutput() throws IOException {
        int how = writing.nextInt(10);
        if (how < 3) {
            hasQuit = true;
            channel.close();
        } else if (how < 9 || !mayLeaveOutputOpen) {
            channel.shutdownOutput();
        }
    }

    // ---------------------------------------------------------------- reading

    /** {@return whether there may be more to read} */
    private boolean read() throws IOException {
        onOperation();
        ByteBuffer[] buffers = buffers(reading);
        int[] before = positions(buffers);
        long count = buffers.length == 1 ? channel.read(buffers[0]) : channel.read(buffers);
        long moved = moved(buffers, before);
        assertThat(moved).as("bytes that the buffers moved on by").isEqualTo(Math.max(0, count));
        boolean isFull = true;
        for (int i = 0; i < buffers.length; i++) {
            assertThat(isFull || buffers[i].position() == before[i])
                    .as("a buffer has bytes if those before are full").isTrue();
            isFull &= !buffers[i].hasRemaining();
            input.onReceived(buffers[i], before[i]);
        }
        if (count < 0) {
            hasSeenEnd = true;
        }
        return count >= 0;
    }

    // ---------------------------------------------------------------- both in one thread

    private void select(RandomEnd peer) throws IOException {
        try (Selector made = transport.openSelector()) {
            selector = made;
            channel.configureBlocking(false);
            SelectionKey key = channel.register(made, 0);
            boolean isReading = true;
            boolean isWriting = true;
            while (isReading || isWriting) {
                key.interestOps((isReading ? SelectionKey.OP_READ : 0)
                        | (isWriting ? SelectionKey.OP_WRITE : 0));
                await(made);
                // It is for others, as a channel that does not block is not closed by it.
                Thread.interrupted();
                boolean isReadable = key.isReadable();
                boolean isWritable = key.isWritable();
                made.selectedKeys().clear();
                if (isReading && (isReadable || reading.nextInt(20) == 0)) {
                    isReading = read();
                }
                if (isWriting && (isWritable || writing.nextInt(20) == 0)) {
                    isWriting = write(peer);
                }
                if (reading.nextInt(50) == 0) {
                    key = again(made, key);
                }
            }
        }
    }

    private void await(Selector made) throws IOException {
        switch (reading.nextInt(4)) {
            case 0 -> made.selectNow();
            case 1 -> made.select(1 + reading.nextInt(SELECT_MS));
            default -> made.select();
        }
    }

    private SelectionKey again(Selector made, SelectionKey key) throws IOException {
        key.cancel();
        made.selectNow();
        channel.configureBlocking(true);
        channel.configureBlocking(false);
        return channel.register(made, 0);
    }

    // ---------------------------------------------------------------- buffers

    private static ByteBuffer[] buffers(Random random) {
        ByteBuffer[] buffers = new ByteBuffer[random.nextInt(3) > 0
                ? 1
                : 1 + random.nextInt(MOST_BUFFERS)];
        for (int i = 0; i < buffers.length; i++) {
            int before = random.nextInt(9);
            int after = random.nextInt(9);
            int size = size(random);
            // A write of nothing says nothing, but one of several buffers may be empty.
            size = buffers.length == 1 || i > 0 ? Math.max(1, size) : size;
            int capacity = before + size + after;
            buffers[i] = (random.nextBoolean()
                    ? ByteBuffer.allocate(capacity)
                    : ByteBuffer.allocateDirect(capacity)).position(before).limit(before + size);
        }
        return buffers;
    }

    private static int size(Random random) {
        return switch (random.nextInt(8)) {
            case 0 -> random.nextInt(3);
            case 1, 2, 3 -> random.nextInt(100);
            case 4, 5, 6 -> random.nextInt(2_000);
            default -> random.nextInt(MOST_BYTES);
        };
    }

    private static int[] positions(ByteBuffer[] buffers) {
        int[] positions = new int[buffers.length];
        for (int i = 0; i < buffers.length; i++) {
            positions[i] = buffers[i].position();
        }
        return positions;
    }

    private static long moved(ByteBuffer[] buffers, int[] before) {
        long moved = 0;
        for (int i = 0; i < buffers.length; i++) {
            moved += buffers[i].position() - before[i];
        }
        return moved;
    }

    @Override
    public String toString() {
        return waiting + (hasQuit ? ", quit" : "") + (hasSeenEnd ? ", saw the end" : "")
                + ", wrote "
                + output.sent() + ", read " + input.received() + ", " + channel;
    }
}
