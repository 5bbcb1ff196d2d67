// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.queue;

import io.rdma4j.testkit.Wait;

import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

/** Does something in a thread of its own, for tests of who waits for whom. */
final class OtherThread<T> {
    private final FutureTask<T> work;
    private final Thread thread;

    private OtherThread(Callable<T> action) {
        work = new FutureTask<>(action);
        thread = Thread.ofPlatform().daemon().start(work);
    }

    /** {@return what has begun} */
    static <T> OtherThread<T> begin(Callable<T> action) {
        return new OtherThread<>(action);
    }

    /** {@return the result of what another thread does, which waits for nobody} */
    static <T> T result(Callable<T> action) throws Exception {
        return begin(action).result();
    }

    /** Waits until it waits for somebody. */
    void awaitStandstill() {
        Wait.until("the other thread waits", () -> thread.getState() == Thread.State.WAITING);
    }

    /** {@return its result} */
    T result() throws Exception {
        return work.get(10, TimeUnit.SECONDS);
    }

    /** {@return what it has thrown} */
    Throwable failure() throws Exception {
        try {
            throw new AssertionError("it ended with " + result());
        } catch (ExecutionException e) {
            return Objects.requireNonNull(e.getCause());
        }
    }
}
