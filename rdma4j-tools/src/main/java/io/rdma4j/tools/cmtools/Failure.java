// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.cmtools;

import org.jspecify.annotations.Nullable;

import java.io.IOException;

/** Why a tool gives up, with the status the C program would return. */
final class Failure extends IOException {
    /** An argument does not fit ({@code -EINVAL}). */
    static final int INVALID = -22;
    /** Nothing came for too long ({@code -ETIMEDOUT}). */
    static final int TIMED_OUT = -110;
    /** The peer left ({@code -ECONNRESET}). */
    static final int RESET = -104;
    /** A work request failed ({@code -EIO}). */
    static final int FAILED_WORK = -5;

    private static final long serialVersionUID = 1L;

    private final int status;

    Failure(int status, String message) {
        this(status, message, null);
    }

    Failure(int status, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.status = status;
    }

    int status() {
        return status;
    }
}
