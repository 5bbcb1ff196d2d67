// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.abi;

import io.rdma4j.verbs.RdmaException;

/**
 * The result of a call.
 *
 * @param value the result, an {@code int} with its sign; 0 for {@code void}
 * @param errno the error number after the call, valid only if the result reports a failure
 */
public record Outcome(long value, int errno) {
    private static final int FAILED = -1;

    /**
     * {@return the pointer}
     *
     * @throws RdmaException with the error number if it is null
     */
    public long pointer(String operation, String advice) throws RdmaException {
        if (value == 0) {
            throw ErrorNumbers.failure(operation, errno, advice);
        }
        return value;
    }

    /**
     * Checks that the call succeeded. Functions return 0; or the error number, which siw's provider negates; or -1, with
     * the error number in {@code errno}.
     *
     * @throws RdmaException with the error number
     */
    public void check(String operation, String advice) throws RdmaException {
        if (value != 0) {
            throw ErrorNumbers.failure(operation, error(), advice);
        }
    }

    /** {@return the error number, 0 if it succeeded} */
    public int error() {
        return value == FAILED ? errno : (int) Math.abs(value);
    }
}
