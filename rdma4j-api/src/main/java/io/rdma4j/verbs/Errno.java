package io.rdma4j.verbs;

/**
 * Why a device refused an operation, under the names that {@code errno.h} uses.
 *
 * <p>The numbers are those of Linux, so that a status in a {@code CmEvent} reads as in C.
 */
public enum Errno {
    /** Operation not permitted. */
    EPERM(1),
    /** No such object. */
    ENOENT(2),
    /** A blocking call was interrupted. */
    EINTR(4),
    /** The device failed. */
    EIO(5),
    /** Try again. */
    EAGAIN(11),
    /** A queue or a table is full, or memory ran out. */
    ENOMEM(12),
    /** No access. */
    EACCES(13),
    /** A bad address or a memory segment that cannot be used. */
    EFAULT(14),
    /** In use: children are alive or events are not acknowledged. */
    EBUSY(16),
    /** No such device. */
    ENODEV(19),
    /** An argument or a state does not fit. */
    EINVAL(22),
    /** It is there, but empty: an entry of a table, the outcome of a look-up that has none yet. */
    ENODATA(61),
    /** No such queue pair, region or connection any more. */
    EBADF(9),
    /** A limit of the device is exceeded. */
    EMSGSIZE(90),
    /** The device does not offer this. */
    EOPNOTSUPP(95),
    /** The address or port is taken. */
    EADDRINUSE(98),
    /** The address is not one of this machine's, or of no device. */
    EADDRNOTAVAIL(99),
    /** No route to the network. */
    ENETUNREACH(101),
    /** The connection broke. */
    ECONNRESET(104),
    /** Already connected. */
    EISCONN(106),
    /** Not connected. */
    ENOTCONN(107),
    /** No answer in time. */
    ETIMEDOUT(110),
    /** No program listens, or the listener refused. */
    ECONNREFUSED(111),
    /** No route to the host. */
    EHOSTUNREACH(113);

    private final int number;

    Errno(int number) {
        this.number = number;
    }

    /** {@return the number Linux gives this error} */
    public int number() {
        return number;
    }
}
