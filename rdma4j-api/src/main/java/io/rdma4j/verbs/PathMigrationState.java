package io.rdma4j.verbs;

/**
 * The state of automatic path migration.
 *
 * <p>C: {@code enum ibv_mig_state}.
 */
public enum PathMigrationState {
    /** The primary path is in use. */
    MIGRATED(0),
    /** An alternate path is being loaded. */
    REARM(1),
    /** An alternate path is ready. */
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
