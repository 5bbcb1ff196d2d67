// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import java.io.Serial;

/**
 * The queue refused a work request of a list; only the requests before it were posted.
 *
 * <p>C: the {@code bad_wr} argument of {@code ibv_post_send} and {@code ibv_post_recv}. The requests
 * before {@link #failedIndex()} are posted and will complete; that one and those after it are not. {@link #getCause} is the
 * exception that posting it alone would throw, such as a {@link RdmaClosedException} if another thread closed the queue meanwhile.
 *
 * @since 0.1.0
 */
public final class PostException extends RdmaException {
    @Serial
    private static final long serialVersionUID = 1L;

    private final int failedIndex;

    /**
     * For a request that is refused.
     *
     * @param operation what was attempted
     * @param cause why the request was refused
     * @param failedIndex its index in the posted list, from 0
     */
    public PostException(String operation, RdmaException cause, int failedIndex) {
        this(cause.errno(), operation, cause.detail(), cause, failedIndex);
    }

    /**
     * For a request that is a programming mistake: null. When it is posted alone, the mistake
     * itself is thrown; for a list the caller must also learn which request it was.
     *
     * @param operation what was attempted
     * @param mistake what is wrong with the request
     * @param failedIndex its index in the posted list, from 0
     */
    public PostException(String operation, RuntimeException mistake, int failedIndex) {
        this(Errno.EINVAL, operation, String.valueOf(mistake.getMessage()), mistake, failedIndex);
    }

    private PostException(Errno errno, String operation, String detail, Exception cause,
            int failedIndex) {
        super(errno, operation, "request " + failedIndex + " of the list was refused: " + detail,
                cause);
        this.failedIndex = failedIndex;
    }

    /** {@return the index in the posted list of the first request that was not posted} */
    public int failedIndex() {
        return failedIndex;
    }
}
