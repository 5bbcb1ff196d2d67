// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.memory;

import io.rdma4j.protocol.work.FlushOutcome;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Writes mapped memory to its files in another thread, because the engine must not wait for a disk. The callers bound
 * the waiting work: one piece for each queue pair.
 */
public final class FileFlusher {
    private static final long LINGER_SECONDS = 1;

    private final Executor executor;

    /** @param executor runs the writing */
    public FileFlusher(Executor executor) {
        this.executor = executor;
    }

    /** {@return a flusher whose thread ends soon after the last write} */
    public static FileFlusher inThread(String name) {
        ThreadPoolExecutor thread = new ThreadPoolExecutor(1, 1, LINGER_SECONDS, TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(), Thread.ofPlatform().daemon().name(name).factory());
        thread.allowCoreThreadTimeOut(true);
        return new FileFlusher(thread);
    }

    /**
     * Begins to write a range of mapped memory to its file.
     *
     * @param whenDone called with the outcome by the writing thread
     * @return false if no thread could be started
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
