// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.endpoint;

import io.rdma4j.verbs.RdmaException;

import java.util.ArrayDeque;
import java.util.Deque;

/** The verbs' objects a side has created; closing it closes them, the youngest first. One thread. */
public final class OpenObjects implements AutoCloseable {
    /** What can be closed. */
    @FunctionalInterface
    public interface Closing {
        /** Closes an object. */
        void close() throws RdmaException;
    }

    private final Deque<Closing> closings = new ArrayDeque<>();

    /** Creates it without any. */
    public OpenObjects() {}

    /** Adds an object that was just created. */
    public void add(Closing closing) {
        closings.push(closing);
    }

    /** Closes all because of a failure; what fails on the way is added to it. */
    public void closeAfter(Exception failure) {
        try {
            close();
        } catch (RdmaException second) {
            failure.addSuppressed(second);
        }
    }

    @Override
    public void close() throws RdmaException {
        while (!closings.isEmpty()) {
            closings.pop().close();
        }
    }
}
