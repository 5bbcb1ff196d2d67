package io.rdma4j.ibverbs.abi;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;

/** Error numbers of calls, as exceptions. */
public final class ErrorNumbers {
    /** The call does not exist: errno(3). */
    private static final int ENOSYS = 38;
    private static final int EPROTONOSUPPORT = 93;
    private static final int ENOTSUP_OF_THE_KERNEL = 524;

    private ErrorNumbers() {}

    /** {@return the error of a number; EIO for one that has no name here} */
    public static Errno of(int number) {
        if (number == ENOSYS || number == EPROTONOSUPPORT || number == ENOTSUP_OF_THE_KERNEL) {
            return Errno.EOPNOTSUPP;
        }
        for (Errno errno : Errno.values()) {
            if (errno.number() == number) {
                return errno;
            }
        }
        return Errno.EIO;
    }

    /**
     * {@return the exception for a failed call}
     *
     * @param number the error number
     * @param advice the error and the remedy, as far as known
     */
    public static RdmaException failure(String operation, int number, String advice) {
        Errno errno = of(number);
        String detail = errno.number() == number ? advice
                : advice + "; the system's error number is " + number;
        return new RdmaException(errno, operation, detail);
    }
}
