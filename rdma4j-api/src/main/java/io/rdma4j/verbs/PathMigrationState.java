// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import org.jspecify.annotations.Nullable;

/**
 * The state of automatic path migration.
 *
 * <p>C: {@code enum} {@index ibv_mig_state}.
 *
 * @since 0.1.0
 */
public enum PathMigrationState {
    /** The primary path is in use. C: {@index IBV_MIG_MIGRATED}. */
    MIGRATED(0),
    /** An alternate path is being loaded. C: {@index IBV_MIG_REARM}. */
    REARM(1),
    /** An alternate path is ready. C: {@index IBV_MIG_ARMED}. */
    ARMED(2);

    private final int code;

    PathMigrationState(int code) {
        this.code = code;
    }

    /** {@return the number verbs.h gives this} */
    public int code() {
        return code;
    }

    /**
     * {@return the state of a number of verbs.h, or null}
     *
     * @param code as in the C headers
     */
    public static @Nullable PathMigrationState ofCode(int code) {
        for (PathMigrationState each : VALUES) {
            if (each.code == code) {
                return each;
            }
        }
        return null;
    }

    private static final PathMigrationState[] VALUES = values();
}
