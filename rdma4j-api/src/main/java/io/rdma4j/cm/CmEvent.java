package io.rdma4j.cm;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.DatagramParameters;
import io.rdma4j.spi.Refusal;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Something that happened to a {@link CmId}.
 *
 * <p>C: {@code struct rdma_cm_event}. It must be acknowledged, by {@link #acknowledge} or by closing it;
 * an id with an event that was taken and not acknowledged cannot be closed. Thread safe.
 */
public final class CmEvent implements AutoCloseable {
    private final CmEventType type;
    private final CmId id;
    private final @Nullable CmId listenId;
    private final EventDetails details;
    private final AtomicBoolean acknowledged = new AtomicBoolean();
    private final Runnable onAcknowledged;

    CmEvent(CmEventType type, CmId id, @Nullable CmId listenId, EventDetails details,
            Runnable onAcknowledged) {
        this.type = type;
        this.id = id;
        this.listenId = listenId;
        this.details = details;
        this.onAcknowledged = onAcknowledged;
    }

    /** {@return what happened} C: {@code event}. */
    public CmEventType type() {
        return type;
    }

    /** {@return the id it happened to; for a request, a new id for the connection} C: {@code id}. */
    public CmId id() {
        return id;
    }

    /** {@return the id that listened, for a request} C: {@code listen_id}. */
    public @Nullable CmId listenId() {
        return listenId;
    }

    /**
     * {@return 0; for {@link CmEventType#REJECTED}, and for {@link CmEventType#UNREACHABLE} of a datagram service that
     * said no, the number that the transport says it with; what {@link CmId#writeEvent} was given for
     * {@link CmEventType#USER}; a negative errno for another failure} On InfiniBand and RoCE the number is a
     * {@link io.rdma4j.connection.RejectReason} or a {@link io.rdma4j.connection.SidrStatus}, on iWARP a negative errno;
     * {@link #description} has the words for it. C: {@code status}.
     */
    public int status() {
        return details.status();
    }

    /**
     * {@return what the peer asked for or granted, for a request, a response and establishment of a
     * connection} C: {@code param.conn}.
     */
    public @Nullable ConnectionParameters parameters() {
        return details.connection();
    }

    /**
     * {@return where to send, for establishment of a datagram service and for a multicast group that was
     * joined} C: {@code param.ud}.
     */
    public @Nullable DatagramParameters datagram() {
        return details.datagram();
    }

    /**
     * {@return the bytes the peer's application sent along, empty if there are none} InfiniBand and RoCE pad them with
     * zeros to what fits ({@link CmId#privateDataLimits}). C: {@code private_data}, {@code private_data_len}.
     */
    public byte[] privateData() {
        return details.privateData();
    }

    /** {@return the number given to {@link CmId#writeEvent}} C: {@code param.arg}. */
    public long argument() {
        return details.argument();
    }

    /**
     * {@return the object given to {@link CmId#joinMulticast}, or null} C: {@code param.ud.private_data} of
     * a multicast event.
     */
    public @Nullable Object joinContext() {
        return details.joinContext();
    }

    /** Says that the event has been dealt with. Idempotent. C: {@code rdma_ack_cm_event}. */
    public void acknowledge() {
        if (acknowledged.compareAndSet(false, true)) {
            onAcknowledged.run();
        }
    }

    /** As {@link #acknowledge}. */
    @Override
    public void close() {
        acknowledge();
    }

    /** {@return the failure as one phrase, such as {@code rejected (8: invalid service ID)}} */
    public String description() {
        return switch (type) {
            case REJECTED -> "rejected" + refusal();
            case UNREACHABLE -> details.refusal() == null
                    ? "the peer did not answer in time"
                    : "the service said no" + refusal();
            case ADDR_RESOLVED, ADDR_ERROR, ROUTE_RESOLVED, ROUTE_ERROR, CONNECT_REQUEST,
                    CONNECT_RESPONSE, CONNECT_ERROR, ESTABLISHED, DISCONNECTED, DEVICE_REMOVAL,
                    MULTICAST_JOIN, MULTICAST_ERROR, ADDR_CHANGE, TIMEWAIT_EXIT, ADDRINFO_RESOLVED,
                    ADDRINFO_ERROR, USER, INTERNAL ->
                type.text() + reason();
        };
    }

    private String refusal() {
        Refusal refusal = details.refusal();
        return refusal == null ? "" : " (" + refusal.code() + ": " + refusal.text() + ")";
    }

    private String reason() {
        RdmaException cause = cause();
        if (cause != null) {
            return ": " + cause.getMessage();
        }
        return status() == 0 ? "" : ", error " + -status();
    }

    /** {@return why the step failed, or null for what the peer or the application did} */
    public @Nullable RdmaException cause() {
        return details.cause();
    }

    /**
     * {@return whether it tells that a step failed, or that the connection or the device is gone} Others
     * tell of a success, a request or something that ends nothing.
     */
    public boolean isFailure() {
        return switch (type) {
            case ADDR_ERROR, ROUTE_ERROR, CONNECT_ERROR, UNREACHABLE, REJECTED, DISCONNECTED,
                    DEVICE_REMOVAL, MULTICAST_ERROR, ADDRINFO_ERROR ->
                true;
            case ADDR_RESOLVED, ROUTE_RESOLVED, CONNECT_REQUEST, CONNECT_RESPONSE, ESTABLISHED,
                    MULTICAST_JOIN, ADDR_CHANGE, TIMEWAIT_EXIT, ADDRINFO_RESOLVED, USER, INTERNAL ->
                false;
        };
    }

    /**
     * {@return the failure as an exception to throw} ECONNREFUSED if the peer said no, ETIMEDOUT if it did
     * not answer, ECONNRESET if the connection has ended, ENODEV if the device is gone, otherwise the error
     * of {@link #cause}.
     *
     * @param operation what was attempted
     * @throws IllegalStateException unless it is a failure ({@link #isFailure})
     */
    public RdmaException failure(String operation) {
        if (!isFailure()) {
            throw new IllegalStateException(operation + ": " + type.text() + " is no failure");
        }
        RdmaException cause = cause();
        return cause == null
                ? new RdmaException(errno(), operation, description())
                : new RdmaException(cause.errno(), operation,
                        cause.operation() + ": " + cause.detail(), cause);
    }

    private Errno errno() {
        return switch (type) {
            case REJECTED -> Errno.ECONNREFUSED;
            case UNREACHABLE -> details.refusal() == null ? Errno.ETIMEDOUT : Errno.ECONNREFUSED;
            case DISCONNECTED -> Errno.ECONNRESET;
            case DEVICE_REMOVAL -> Errno.ENODEV;
            case ADDR_RESOLVED, ADDR_ERROR, ROUTE_RESOLVED, ROUTE_ERROR, CONNECT_REQUEST,
                    CONNECT_RESPONSE, CONNECT_ERROR, ESTABLISHED, MULTICAST_JOIN, MULTICAST_ERROR,
                    ADDR_CHANGE, TIMEWAIT_EXIT, ADDRINFO_RESOLVED, ADDRINFO_ERROR, USER, INTERNAL ->
                ofNumber(-status());
        };
    }

    private static Errno ofNumber(int number) {
        for (Errno errno : Errno.values()) {
            if (errno.number() == number) {
                return errno;
            }
        }
        return Errno.EIO;
    }

    @Override
    public String toString() {
        return type.text() + (status() == 0 ? "" : ", status " + status());
    }
}
