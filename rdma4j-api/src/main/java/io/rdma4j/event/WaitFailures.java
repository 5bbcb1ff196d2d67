// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.event;

import org.jspecify.annotations.Nullable;

import java.io.IOException;

/**
 * What a wait for events ends with when none comes. Immutable.
 *
 * @param <X> the exception
 */
public final class WaitFailures<X extends Exception> {
    private static final String JOIN = "join wait set";
    /** EINTR, EIO, EBADF, ENOMEM and EBUSY of Linux. */
    private static final int INTERRUPTED = 4;
    private static final int IO_ERROR = 5;
    private static final int BAD_DESCRIPTOR = 9;
    private static final int NO_MEMORY = 12;
    private static final int BUSY = 16;

    private final String operation;
    private final OfErrno<X> exceptions;

    /**
     * Makes exceptions of the numbers of errors.
     *
     * @param <X> the exception
     */
    @FunctionalInterface
    public interface OfErrno<X extends Exception> {
        /**
         * {@return an exception}
         *
         * @param errno the number that the error has in Linux
         * @param operation what was attempted
         * @param detail what was wrong and what would have been right
         * @param cause the failure underneath, or null
         */
        X of(int errno, String operation, String detail, @Nullable Throwable cause);
    }

    /**
     * @param operation what waits, named in the error
     * @param exceptions what makes the exceptions
     */
    public WaitFailures(String operation, OfErrno<X> exceptions) {
        this.operation = operation;
        this.exceptions = exceptions;
    }

    /** {@return the end of a wait whose thread was interrupted} Sets its interrupt status again. */
    X interrupted() {
        Thread.currentThread().interrupt();
        return exceptions.of(INTERRUPTED, operation, "the thread was interrupted", null);
    }

    /** {@return the end of a wait for events of something that is closed} */
    X closed() {
        return exceptions.of(BAD_DESCRIPTOR, operation, "the channel is closed", null);
    }

    /** {@return the refusal to join a set, because the channel belongs to another one that is open} */
    X inAnotherSet() {
        return exceptions.of(BUSY, JOIN, "the channel belongs to another set; close that first",
                null);
    }

    /** {@return the refusal to join a set, because the channel or the set is closed} */
    X closedToJoin() {
        return exceptions.of(BAD_DESCRIPTOR, JOIN, "the channel or the set is closed", null);
    }

    /** {@return the end of a wait in a selector that the system refuses} */
    X notSelected(IOException cause) {
        return exceptions.of(IO_ERROR, operation,
                "the system refuses the selection: " + cause.getMessage(), cause);
    }

    /** {@return the refusal of a channel to select on, because the system gives no pipe} */
    X noPipe(IOException cause) {
        return exceptions.of(NO_MEMORY, operation,
                "the system gives no pipe: " + cause.getMessage(),
                cause);
    }
}
