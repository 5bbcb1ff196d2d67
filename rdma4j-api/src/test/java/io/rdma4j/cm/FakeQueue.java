// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionHandler;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.WorkCompletion;
import org.jspecify.annotations.Nullable;

import java.time.Duration;

/** A completion queue that is only announced. */
final class FakeQueue implements CompletionQueue {
    @Override
    public DeviceContext context() {
        throw new UnsupportedOperationException("it has no device");
    }

    @Override
    public int capacity() {
        return 1;
    }

    @Override
    public @Nullable CompletionChannel channel() {
        return null;
    }

    @Override
    public @Nullable Object userContext() {
        return null;
    }

    @Override
    public int poll(WorkCompletion[] completions) {
        return 0;
    }

    @Override
    public boolean poll(WorkCompletion completion) {
        return false;
    }

    @Override
    public int poll(int limit, CompletionHandler handler) {
        return 0;
    }

    @Override
    public void requestNotification() {}

    @Override
    public void requestSolicitedNotification() {}

    @Override
    public void acknowledgeEvents(int count) {}

    @Override
    public void resize(int capacity) {}

    @Override
    public void moderate(int count, Duration period) {}

    @Override
    public void close() {}
}
