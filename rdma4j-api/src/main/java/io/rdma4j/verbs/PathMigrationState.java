package io.rdma4j.verbs;

/**
 * The state of automatic path migration.
 *
 * <p>C: {@code enum ibv_mig_state}.
 *
 * @since 0.1.0
 */
public enum PathMigrationState {
    /** The primary path is in use. C: {@code IBV_MIG_MIGRATED}. */
    MIGRATED(0),
    /** An alternate path is being loaded. C: {@code IBV_MIG_REARM}. */
    REARM(1),
    /** An alternate path is ready. C: {@code IBV_MIG_ARMED}. */
    ARMED(2);

    private final int code;

    PathMigrationState(int code) {
        this.code = code;
    }

    /** {@return the number verbs.h gives this} */
    public int code() {
        return code;
    }
}
