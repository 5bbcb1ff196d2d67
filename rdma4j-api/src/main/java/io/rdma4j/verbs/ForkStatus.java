package io.rdma4j.verbs;

/**
 * Whether registered memory survives a {@code fork} of the process.
 *
 * <p>C: {@code enum ibv_fork_status}, {@code ibv_is_fork_initialized}.
 */
public enum ForkStatus {
    /** It does not. */
    DISABLED,
    /** It does, because {@code ibv_fork_init} was called. */
    ENABLED,
    /** Nothing has to be done for it. */
    UNNEEDED
}
