package io.rdma4j.softnic.memory;

import io.rdma4j.protocol.work.FlushOutcome;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Writes mapped memory to its files, away from the engine, which must not wait for a disk. How much waits is bounded by
 * who asks: one piece a queue pair.
 */
public final class FileFlusher {
    private static final long LINGER_SECONDS = 1;

    private final Executor executor;

    /** @param executor who writes */
    public FileFlusher(Executor executor) {
        this.executor = executor;
    }

    /** {@return one with a thread that lives only while there is something to write, and a moment longer} */
    public static FileFlusher inThread(String name) {
        ThreadPoolExecutor thread = new ThreadPoolExecutor(1, 1, LINGER_SECONDS, TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(), Thread.ofPlatform().daemon().name(name).factory());
        thread.allowCoreThreadTimeOut(true);
        return new FileFlusher(thread);
    }

    /**
     * Begins to write a range of mapped memory to its file.
     *
     * @param whenDone is told how it has ended, by the thread that writes
     * @return false if there is no thread to write
     */
    public boolean flush(MemorySegment memory, long offset, long length,
            Consumer<FlushOutcome> whenDone) {
        try {
            executor.execute(() -> whenDone.accept(write(memory, offset, length)));
            return true;
        } catch (OutOfMemoryError noThread) {
            return false;
        }
    }

    private static FlushOutcome write(MemorySegment memory, long offset, long length) {
        try {
            memory.asSlice(offset, length).force();
            return FlushOutcome.DONE;
        } catch (IllegalStateException | InternalError memoryGone) {
            return FlushOutcome.MEMORY_GONE;
        } catch (RuntimeException | OutOfMemoryError refused) {
            return FlushOutcome.FAILED;
        }
    }
}
