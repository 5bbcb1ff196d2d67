package io.rdma4j.verbs;

import java.io.Serial;

/**
 * A list of work requests was posted only up to one that the queue refused.
 *
 * <p>C: the {@code bad_wr} argument of {@code ibv_post_send} and {@code ibv_post_recv}. The requests
 * before {@link #failedIndex()} are posted and will complete; that one and those after it are not.
 */
public final class PostException extends RdmaException {
    @Serial
    private static final long serialVersionUID = 1L;

    private final int failedIndex;

    /**
     * @param cause why the request was refused
     * @param failedIndex its index in the posted list, from 0
     */
    public PostException(RdmaException cause, int failedIndex) {
        this(cause.errno(), cause.operation(), cause.detail(), cause, failedIndex);
    }

    /**
     * For a request that is a mistake in itself: null, or with something that is closed already. Posted
     * alone it is the mistake; in a list the caller has to learn which one it was.
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
