// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.spi;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.SystemErrors;

import java.net.NoRouteToHostException;
import java.net.PortUnreachableException;

/**
 * The error numbers behind the exceptions of the JDK's sockets. The JDK tells some errors by the kind of the exception, and the
 * others only in the system's words, which may be those of another language.
 */
public final class SocketErrors {
    /** The highest number with which a system call of Linux can fail. */
    private static final int HIGHEST = 4095;

    private SocketErrors() {}

    /** {@return the number of the error behind an exception of the JDK's sockets, 0 if it is not known} */
    public static int numberOf(Exception ofSocket) {
        if (ofSocket instanceof NoRouteToHostException) {
            return Errno.EHOSTUNREACH.number();
        }
        if (ofSocket instanceof PortUnreachableException) {
            return Errno.ECONNREFUSED.number();
        }
        return numberOf(String.valueOf(ofSocket.getMessage()));
    }

    /** {@return the number of an error that the system has told in these words, 0 if it is not known} */
    public static int numberOf(String words) {
        for (int number = 1; number <= HIGHEST; number++) {
            if (SystemErrors.name(number) != null && SystemErrors.words(number).equals(words)) {
                return number;
            }
        }
        return 0;
    }
}
