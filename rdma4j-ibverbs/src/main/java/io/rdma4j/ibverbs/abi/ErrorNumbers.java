// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.abi;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SystemErrors;

/** Error numbers of calls, as exceptions. */
public final class ErrorNumbers {
    private static final int EPROTONOSUPPORT = 93;
    private static final int ENOTSUP_OF_THE_KERNEL = 524;

    private ErrorNumbers() {}

    /** {@return the error of a number; UNKNOWN for one that has no name here} */
    public static Errno of(int number) {
        if (number == Errno.ENOSYS.number() || number == EPROTONOSUPPORT
                || number == ENOTSUP_OF_THE_KERNEL) {
            return Errno.EOPNOTSUPP;
        }
        return Errno.ofNumber(number);
    }

    /**
     * {@return the exception for a failed call}
     *
     * @param number the error number
     * @param advice the error and the remedy, as far as known
     */
    public static RdmaException failure(String operation, int number, String advice) {
        Errno errno = of(number);
        if (errno.number() == number) {
            return new RdmaException(errno, operation, advice);
        }
        String detail = advice + "; the system's error is: " + SystemErrors.words(number);
        return errno == Errno.UNKNOWN
                ? RdmaException.ofSystem(number, operation, detail, null)
                : new RdmaException(errno, operation, detail);
    }
}
