// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.io.Serial;

/**
 * A device refused an operation. C reports this as an {@code errno}: librdmacm by -1, libibverbs by the number itself or by NULL.
 *
 * <p>The message names the operation, the error, what was wrong and what would have been right, in
 * one line. A caller's programming mistake is an {@link IllegalArgumentException} or
 * {@link IllegalStateException} instead, and work that failed after it was posted is a
 * {@link WorkCompletionStatus}.
 *
 * <p>An interrupted blocking call ends with {@link Errno#EINTR}; the thread's interrupt status stays
 * set.
 *
 * <p>Each method documents the errors that rdma4j itself reports. On a native device the kernel or the driver may refuse
 * a call with any other errno; one that {@link Errno} does not have becomes {@link Errno#UNKNOWN}, {@link #errorNumber} has
 * its number, and the message its own name.
 *
 * @since 0.1.0
 */
public class RdmaException extends IOException {
    @Serial
    private static final long serialVersionUID = 1L;

    private final Errno errno;
    private final int errorNumber;
    /** Null for an error that is not known. */
    private final @Nullable String name;
    private final String operation;
    private final String detail;

    /**
     * Creates one.
     *
     * @param errno the error
     * @param operation what was attempted, in the API's words, such as {@code "modify queue pair"}
     * @param detail what was wrong and what would have been right
     */
    public RdmaException(Errno errno, String operation, String detail) {
        this(errno, operation, detail, null);
    }

    /**
     * Creates one.
     *
     * @param errno the error
     * @param operation what was attempted, in the API's words, such as {@code "modify queue pair"}
     * @param detail what was wrong and what would have been right
     * @param cause the failure underneath
     */
    public RdmaException(Errno errno, String operation, String detail,
            @Nullable Throwable cause) {
        this(errno, number(errno, cause), name(errno, cause), operation, detail, cause);
    }

    /** {@return the number of an error, which is that of the failure underneath if this repeats it} */
    private static int number(Errno errno, @Nullable Throwable cause) {
        return cause instanceof RdmaException repeated && repeated.errno == errno
                ? repeated.errorNumber
                : errno.number();
    }

    /** {@return the name of an error, which is that of the failure underneath if this repeats it} */
    private static @Nullable String name(Errno errno, @Nullable Throwable cause) {
        return cause instanceof RdmaException repeated && repeated.errno == errno
                ? repeated.name
                : errno == Errno.UNKNOWN ? null : errno.name();
    }

    private RdmaException(Errno errno, int errorNumber, @Nullable String name, String operation,
            String detail, @Nullable Throwable cause) {
        super(operation + ": " + detail + (name == null ? "" : " (" + name + ")"), cause);
        this.errno = errno;
        this.errorNumber = errorNumber;
        this.name = name;
        this.operation = operation;
        this.detail = detail;
    }

    /**
     * {@return an exception with an error of the system} One that {@link Errno} does not have becomes {@link Errno#UNKNOWN}, and
     * the message has its own name. It is a {@link RdmaClosedException} for EBADF and a
     * {@link RdmaInterruptedException} for EINTR.
     *
     * @param number the number of the error in Linux; 0 if it is not known, which becomes {@link Errno#EIO}
     * @param operation what was attempted, in a few words
     * @param detail what was wrong, with the words of the error, but not its name
     * @param cause what led to it
     */
    public static RdmaException ofSystem(int number, String operation, String detail,
            @Nullable Throwable cause) {
        if (number == 0) {
            return new RdmaException(Errno.EIO, Errno.EIO.number(), null, operation, detail, cause);
        }
        Errno errno = Errno.ofNumber(number);
        return switch (errno) {
            case EBADF -> new RdmaClosedException(operation, detail, cause);
            case EINTR -> new RdmaInterruptedException(operation, detail, cause);
            default -> new RdmaException(errno, number, SystemErrors.name(number), operation,
                    detail, cause);
        };
    }

    /** {@return the error} */
    public Errno errno() {
        return errno;
    }

    /** {@return the number of the error in Linux, also where {@link #errno} is UNKNOWN; -1 if nobody has said one} */
    public int errorNumber() {
        return errorNumber;
    }

    /** {@return what was attempted} */
    public String operation() {
        return operation;
    }

    /**
     * {@return what was wrong and what would have been right, without the operation and the error} For use within
     * another message.
     */
    public String detail() {
        return detail;
    }

    /**
     * {@return an exception with EOPNOTSUPP, for something that this device does not support}
     *
     * @param operation what was attempted, in a few words
     * @param detail what was wrong, and what would be right
     */
    public static RdmaException unsupported(String operation, String detail) {
        return new RdmaException(Errno.EOPNOTSUPP, operation, detail);
    }

    /**
     * {@return an exception with EINTR, for a blocking call that was interrupted} It sets the interrupt status again.
     *
     * @param operation what was attempted, in a few words
     */
    public static RdmaException interrupted(String operation) {
        Thread.currentThread().interrupt();
        return new RdmaInterruptedException(operation);
    }
}
