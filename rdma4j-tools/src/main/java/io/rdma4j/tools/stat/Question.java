// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.stat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/** What a JVM is asked, in a separate thread, because a stopped JVM never answers. */
final class Question<T> {
    /** Shorter than the JDK waits for a JVM that does not answer. */
    private static final long ANSWER_SECONDS = 8;
    private static final long STOPPED_LOOK_MS = 100;

    private final long pid;
    private final CompletableFuture<T> answer = new CompletableFuture<>();
    private final long untilNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(ANSWER_SECONDS);

    private Question(long pid) {
        this.pid = pid;
    }

    /** Asks it. */
    static <T> Question<T> of(long pid, Callable<T> asking) {
        Question<T> question = new Question<>(pid);
        Thread.ofPlatform().daemon().name("rdma4j-stat-" + pid)
                .start(() -> question.ask(asking));
        return question;
    }

    private void ask(Callable<T> asking) {
        try {
            answer.complete(asking.call());
        } catch (Exception | Error e) {
            answer.completeExceptionally(e);
        }
    }

    boolean isAnswered() {
        return answer.isDone();
    }

    /** @param then what is done with the answer whenever it comes, at once if it is there; nothing with a failure */
    void whenAnswered(Consumer<T> then) {
        // Whatever the consumer fails with concerns nobody here.
        var _ = answer.thenAccept(then);
    }

    /**
     * {@return the answer}
     *
     * @throws TimeoutException if the JVM does not answer, at once if it is stopped; it may still do so later
     * @throws ExecutionException if it has answered with a failure
     */
    T await() throws TimeoutException, ExecutionException, InterruptedException {
        while (true) {
            try {
                return answer.get(STOPPED_LOOK_MS, TimeUnit.MILLISECONDS);
            } catch (TimeoutException notYet) {
                if (isStopped(pid)) {
                    throw silence("is stopped");
                }
                if (System.nanoTime() - untilNs > 0) {
                    throw silence("does not answer within " + ANSWER_SECONDS + " s");
                }
            }
        }
    }

    private TimeoutException silence(String how) {
        return new TimeoutException("process " + pid + " " + how);
    }

    /** {@return whether a signal has stopped the process; false where the system does not tell} */
    private static boolean isStopped(long pid) {
        try {
            String line = Files.readString(Path.of("/proc", String.valueOf(pid), "stat"));
            // The name before may have spaces and parentheses.
            return line.charAt(line.lastIndexOf(')') + 2) == 'T';
        } catch (IOException | IndexOutOfBoundsException elsewhere) {
            return false;
        }
    }
}
