package io.rdma4j.verbs;

/**
 * Whether registered memory survives a {@code fork} of the process.
 *
 * <p>C: {@code enum ibv_fork_status}, {@code ibv_is_fork_initialized}.
 */
public enum ForkStatus {
    /** It does not. C: {@code IBV_FORK_DISABLED}. */
    DISABLED,
    /** It does, because {@code ibv_fork_init} was called. C: {@code IBV_FORK_ENABLED}. */
    ENABLED,
    /** Nothing has to be done for it. C: {@code IBV_FORK_UNNEEDED}. */
    UNNEEDED
}
