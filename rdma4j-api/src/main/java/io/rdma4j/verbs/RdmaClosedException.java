// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import org.jspecify.annotations.Nullable;

import java.io.Serial;

/**
 * The object that was to be used is closed, by this thread or by another one, which may have been at the same moment: so a
 * program that closes an object while other threads use it learns it by this exception in each of them. C has no counterpart:
 * there it must not happen.
 *
 * <p>{@link #errno} is EBADF.
 *
 * @since 0.1.0
 */
public class RdmaClosedException extends RdmaException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Creates one.
     *
     * @param operation what was attempted, such as {@code "await completion event"}
     * @param detail what is closed, such as {@code "the channel is closed"}
     */
    public RdmaClosedException(String operation, String detail) {
        this(operation, detail, null);
    }

    /**
     * As {@link #RdmaClosedException(String, String)}, with the failure underneath.
     *
     * @param operation what was attempted, in a few words
     * @param detail what was wrong, and what would be right
     * @param cause what led to it
     */
    public RdmaClosedException(String operation, String detail, @Nullable Throwable cause) {
        super(Errno.EBADF, operation, detail, cause);
    }

    /**
     * {@return the exception for the use of an object, such as {@code "queue pair"}}
     *
     * @param object what is closed, in a few words
     */
    public static RdmaClosedException of(String object) {
        return new RdmaClosedException("use " + object, "the " + object + " is closed");
    }
}
