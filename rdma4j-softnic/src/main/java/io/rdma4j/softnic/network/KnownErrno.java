// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network;

import io.rdma4j.verbs.Errno;

/** Errors of sending and connecting, which queue pairs and connections compare with those they know. */
public final class KnownErrno {
    private KnownErrno() {}

    /** {@return the error of a number; {@link Errno#EIO} for one that has no name, which nobody treats in a way of its own} */
    public static Errno of(int number) {
        Errno errno = Errno.ofNumber(number);
        return errno == Errno.UNKNOWN ? Errno.EIO : errno;
    }
}
