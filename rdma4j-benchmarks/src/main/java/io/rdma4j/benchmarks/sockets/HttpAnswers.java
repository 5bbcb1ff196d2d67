// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.sockets;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.LongAdder;

/** Counts the answers of a server, each of which has so many bytes. Any thread may use it. */
final class HttpAnswers {
    private static final int OK = 200;

    private final int bytes;
    private final LongAdder count = new LongAdder();
    /** Is completed by the first answer, or by what went wrong. */
    private final CompletableFuture<Boolean> first = new CompletableFuture<>();
    private final CompletableFuture<Boolean> failure = new CompletableFuture<>();

    HttpAnswers(int bytes) {
        this.bytes = bytes;
    }

    /** @param length of the body that has come */
    void add(int status, int length) throws IOException {
        if (status != OK || length != bytes) {
            throw new IOException("HTTP/1.1 " + status + " with " + length
                    + " bytes instead of " + OK + " with " + bytes);
        }
        count.increment();
        first.complete(true);
    }

    /** A client goes on no more. */
    void fail(Exception reason) {
        first.completeExceptionally(reason);
        failure.completeExceptionally(reason);
    }

    long count() {
        return count.sum();
    }

    void awaitFirst() {
        first.join();
    }

    /** @throws java.util.concurrent.CompletionException if one has failed */
    void requireNoFailure() {
        failure.getNow(true);
    }
}
