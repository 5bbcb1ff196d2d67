// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

/**
 * Why a device refused an operation, with the names of {@code errno.h}. The message of the {@link RdmaException} says what was
 * wrong and what would be right.
 *
 * <p>The numbers are those of Linux, so that a status in a {@code CmEvent} reads as in C.
 *
 * <p>A later version may add constants, so a {@code switch} needs a {@code default}.
 *
 * @since 0.1.0
 */
public enum Errno {
    /** The process or the object lacks a right: a capability of the process, or the protection domain is another one. */
    EPERM(1),
    /** There is no such object: check the key, name or path. */
    ENOENT(2),
    /** The thread was interrupted in a blocking call. Its interrupt status is set; clear it before the next such call. */
    EINTR(4),
    /** The device failed, or a completion queue overran. Close the object and create it anew. */
    EIO(5),
    /** It is not available now; try again later. */
    EAGAIN(11),
    /** A queue or a table is full, or memory is short: take completions, or close objects. */
    ENOMEM(12),
    /** The process may not access the file, or may not use the port. */
    EACCES(13),
    /** An address or a memory segment cannot be accessed: it is not mapped, or its arena is closed. */
    EFAULT(14),
    /** In use: close the objects created from it, or acknowledge its events, then try again. */
    EBUSY(16),
    /** There is no such device, or it was removed. */
    ENODEV(19),
    /** An argument is wrong, or the operation is not possible in this state. */
    EINVAL(22),
    /** The system has reached its limit of open files and sockets. */
    ENFILE(23),
    /** The process has reached its limit of open files and sockets ({@code ulimit -n}). */
    EMFILE(24),
    /** A file system has no room left. */
    ENOSPC(28),
    /** A file system may only be read. */
    EROFS(30),
    /** The kernel has no such system call, or a sandbox does not let it through. */
    ENOSYS(38),
    /** There is no data: a table entry is empty, or a look-up has no result yet. */
    ENODATA(61),
    /** The object, such as a channel or a queue pair, is closed. */
    EBADF(9),
    /** A message is longer than it can be. Send less at once. */
    EMSGSIZE(90),
    /** The kernel, or a sandbox, does not know an option of sockets. */
    ENOPROTOOPT(92),
    /** The device does not support this. Use another device, or do without. */
    EOPNOTSUPP(95),
    /** The system has no such protocol, such as IPv6 where it is switched off. */
    EAFNOSUPPORT(97),
    /** Another program or id uses the address or port. */
    EADDRINUSE(98),
    /** No device of this machine has the address. */
    EADDRNOTAVAIL(99),
    /** The network interface is down. */
    ENETDOWN(100),
    /** There is no route to the destination, or the port of the device is down. */
    ENETUNREACH(101),
    /** The connection was broken on this side. */
    ECONNABORTED(103),
    /** The peer has ended the connection, or withdrawn its request. Connect anew with a new id. */
    ECONNRESET(104),
    /** The connection is established already. */
    EISCONN(106),
    /** The kernel has no buffers left. */
    ENOBUFS(105),
    /** The queue pair has ended: no completion can come any more. */
    ENOTCONN(107),
    /** The peer did not answer in time. Check its address, and that it runs. */
    ETIMEDOUT(110),
    /** No program listens at the peer's port, or it refused. */
    ECONNREFUSED(111),
    /** The peer's host is down, as the last router reports. */
    EHOSTDOWN(112),
    /** The host name is unknown, or the host cannot be reached. */
    EHOSTUNREACH(113),
    /** One that has no name here; {@link RdmaException#errorNumber} has its number. */
    UNKNOWN(-1);

    private final int number;

    Errno(int number) {
        this.number = number;
    }

    /**
     * {@return the error of a number, {@link #UNKNOWN} for one that has no name here}
     *
     * @param number as Linux numbers it
     */
    public static Errno ofNumber(int number) {
        for (Errno errno : values()) {
            if (errno.number == number) {
                return errno;
            }
        }
        return UNKNOWN;
    }

    /** {@return the number Linux gives this error, -1 for {@link #UNKNOWN}} */
    public int number() {
        return number;
    }
}
