// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import org.jspecify.annotations.Nullable;

import java.io.Serial;

/**
 * The thread was interrupted in a blocking call. Its interrupt status is set; clear it before the next such call.
 *
 * <p>{@link #errno} is EINTR.
 *
 * @since 0.1.0
 */
public class RdmaInterruptedException extends RdmaException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Creates one.
     *
     * @param operation what was attempted, such as {@code "await completion event"}
     */
    public RdmaInterruptedException(String operation) {
        this(operation, "the thread was interrupted", null);
    }

    RdmaInterruptedException(String operation, String detail, @Nullable Throwable cause) {
        super(Errno.EINTR, operation, detail, cause);
    }
}
