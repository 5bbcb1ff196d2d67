// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import java.io.Serial;

/**
 * A request has completed with a failure ({@link WorkCompletion#requireSuccess}).
 *
 * <p>{@link #errno} is EIO; {@link #status} says what happened.
 *
 * @since 0.1.0
 */
public class FailedCompletionException extends RdmaException {
    @Serial
    private static final long serialVersionUID = 1L;

    private final WorkCompletionStatus status;
    private final int statusCode;
    private final long requestId;

    FailedCompletionException(String operation, WorkCompletion completion) {
        super(Errno.EIO, operation, completion.toString());
        status = completion.status();
        statusCode = completion.statusCode();
        requestId = completion.id();
    }

    /** {@return what happened} C: {@code status} of {@code struct ibv_wc}. */
    public WorkCompletionStatus status() {
        return status;
    }

    /** {@return the number of the status in verbs.h, also where it is UNKNOWN} C: {@code status}. */
    public int statusCode() {
        return statusCode;
    }

    /** {@return the id of the request} C: {@code wr_id}. */
    public long requestId() {
        return requestId;
    }
}
