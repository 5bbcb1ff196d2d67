// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.work;

import io.rdma4j.verbs.ReceiveWorkRequest;
import org.jspecify.annotations.Nullable;

import java.util.ArrayDeque;
import java.util.Deque;

/** A receive queue that notices when a request is released that was not taken, or not in its turn. */
public final class PostedReceives implements ReceiveQueue {
    private static final int MOST_ELEMENTS = 4;

    private final boolean isShared;
    private final Deque<ReceiveRequest> posted = new ArrayDeque<>();
    private final Deque<ReceiveRequest> taken = new ArrayDeque<>();

    public PostedReceives(boolean isShared) {
        this.isShared = isShared;
    }

    public void post(ReceiveWorkRequest request) {
        ReceiveRequest slot = new ReceiveRequest(MOST_ELEMENTS);
        slot.assign(request);
        posted.add(slot);
    }

    @Override
    public @Nullable ReceiveRequest take() {
        ReceiveRequest next = posted.poll();
        if (next != null) {
            taken.add(next);
        }
        return next;
    }

    @Override
    public void release(ReceiveRequest request) {
        if (taken.poll() != request) {
            throw new AssertionError("receive " + request.id() + " is not the oldest taken");
        }
    }

    @Override
    public int available() {
        return posted.size();
    }

    @Override
    public boolean isShared() {
        return isShared;
    }
}
