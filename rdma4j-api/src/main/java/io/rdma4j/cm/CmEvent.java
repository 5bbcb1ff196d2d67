// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.DatagramParameters;
import io.rdma4j.event.EventQueue;
import io.rdma4j.event.UnacknowledgedEvents;
import io.rdma4j.spi.Refusal;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SystemErrors;
import org.jspecify.annotations.Nullable;

import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * An event of a {@link CmId}; {@link CmEventType} says what each type means and what to do.
 *
 * <p>C: {@code struct} {@index rdma_cm_event}. It must be acknowledged, by {@link #acknowledge} or by closing it;
 * an id with unacknowledged events cannot be closed, so whoever closes it because of an event acknowledges that first; the event can
 * be read all the same. Thread safe.
 *
 * @since 0.1.0
 */
public final class CmEvent implements AutoCloseable {
    private static final Map<Errno, String> UNREACHABLE = Map.of(
            Errno.ETIMEDOUT, "the peer did not answer in time",
            Errno.ECONNREFUSED, "no process has the port at the peer's address",
            Errno.EHOSTUNREACH, "no host answers at the peer's address",
            Errno.ENETUNREACH, "there is no route to the peer's address",
            Errno.EPERM, "a firewall or a sandbox of this host lets no packet to the peer leave",
            Errno.ECONNRESET, "the peer ended the connection before it was established");

    private final CmEventType type;
    private final int typeCode;
    private final CmId id;
    private final @Nullable CmId listenId;
    private final EventDetails details;
    private final AtomicBoolean acknowledged = new AtomicBoolean();
    private final UnacknowledgedEvents unacknowledged;

    /**
     * @param typeCode the number of its type in rdma_cma.h
     * @param unacknowledged counts the events of the id
     */
    CmEvent(int typeCode, CmId id, @Nullable CmId listenId, EventDetails details,
            UnacknowledgedEvents unacknowledged) {
        this.typeCode = typeCode;
        type = CmEventType.ofCode(typeCode);
        this.id = id;
        this.listenId = listenId;
        this.details = details;
        this.unacknowledged = unacknowledged;
    }

    /** {@return it, to be counted when it is taken} */
    EventQueue.Published<CmEvent> published() {
        return new EventQueue.Published<>(this, unacknowledged);
    }

    /** It was taken without being counted. */
    void uncounted() {
        acknowledged.set(true);
    }

    /** {@return what happened} C: {@index event of struct rdma_cm_event}. */
    public CmEventType type() {
        return type;
    }

    /** {@return the number of that in rdma_cma.h, also where it is UNKNOWN} C: {@index event of struct rdma_cm_event}. */
    public int typeCode() {
        return typeCode;
    }

    /**
     * {@return the id it happened to; for a request, a new id for the connection} C: {@index id of struct rdma_cm_event}.
     */
    public CmId id() {
        return id;
    }

    /** {@return the id that listened, for a request} C: {@index listen_id of struct rdma_cm_event}. */
    public @Nullable CmId listenId() {
        return listenId;
    }

    /**
     * {@return a number whose meaning depends on the type}
     *
     * <ul>
     * <li>{@link CmEventType#REJECTED}, and {@link CmEventType#UNREACHABLE} if a datagram service refused: the reason as
     * the transport numbers it. On InfiniBand and RoCE it is the code of a {@link io.rdma4j.connection.RejectReason} or a
     * {@link io.rdma4j.connection.SidrStatus}, on iWARP a negative errno. {@link #description} has it in words.
     * <li>{@link CmEventType#USER}: the status that {@link CmId#writeEvent} was given.
     * <li>{@link CmEventType#UNKNOWN}: what the device gave.
     * <li>Other failures: a negative errno.
     * <li>Anything else: 0.
     * </ul>
     *
     * <p>C: {@index status of struct rdma_cm_event}.
     */
    public int status() {
        return details.status();
    }

    /**
     * {@return the parameters that the peer requested or granted, or the private data of its refusal; for CONNECT_REQUEST,
     * CONNECT_RESPONSE, ESTABLISHED and REJECTED of a connection} It is a copy, which belongs to the caller. C:
     * {@code param.}{@index conn of struct rdma_cm_event}.
     */
    public @Nullable ConnectionParameters parameters() {
        ConnectionParameters told = details.connection();
        return told == null ? null : new ConnectionParameters(told);
    }

    /**
     * {@return where to send; for ESTABLISHED of a datagram service and for MULTICAST_JOIN} C:
     * {@code param.}{@index ud of struct rdma_cm_event}.
     */
    public @Nullable DatagramParameters datagram() {
        return details.datagram();
    }

    /**
     * {@return the private data of the peer's application, empty if there is none} InfiniBand and RoCE pad it with
     * zeros to its full length ({@link CmId#privateDataLimits}). C: {@code private_data}, {@code private_data_len}.
     */
    public byte[] privateData() {
        return details.privateData();
    }

    /** {@return the number given to {@link CmId#writeEvent}} C: {@code param.}{@index arg of struct rdma_cm_event}. */
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

    /** Acknowledges the event. Idempotent. C: {@index rdma_ack_cm_event}. */
    public void acknowledge() {
        if (acknowledged.compareAndSet(false, true)) {
            unacknowledged.acknowledge(1);
        }
    }

    /** As {@link #acknowledge}. */
    @Override
    public void close() {
        acknowledge();
    }

    /** {@return the failure as one phrase, such as {@code rejected (28: consumer defined)}} */
    public String description() {
        return switch (type) {
            case REJECTED -> "rejected" + refusal() + otherWay();
            case UNREACHABLE -> unreachable() + otherWay();
            case DEVICE_REMOVAL -> IdState.REMOVED.hint();
            case ADDR_RESOLVED, ADDR_ERROR, ROUTE_RESOLVED, ROUTE_ERROR, CONNECT_REQUEST,
                    CONNECT_RESPONSE, CONNECT_ERROR, ESTABLISHED, DISCONNECTED, MULTICAST_JOIN,
                    MULTICAST_ERROR, ADDR_CHANGE, TIMEWAIT_EXIT, ADDRINFO_RESOLVED,
                    ADDRINFO_ERROR, USER, UNKNOWN ->
                name() + reason();
        };
    }

    private String name() {
        return type == CmEventType.UNKNOWN ? "event " + typeCode : type.text();
    }

    private String unreachable() {
        if (details.refusal() != null) {
            return "the service said no" + refusal();
        }
        String words = UNREACHABLE.get(errno());
        return words == null ? "the connection could not be established" + reason() : words;
    }

    private String otherWay() {
        String device = details.otherDevice();
        return device == null ? ""
                : "; a program listens there for " + device
                        + ": resolve the address again to take that device";
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
        return status() < 0 ? ": " + SystemErrors.words(-status()) : number();
    }

    /** {@return the status of an application, which only it can read} */
    private String number() {
        return status() == 0 ? "" : ", status " + status();
    }

    /** {@return why a step failed on this side, or null for an event that the peer or the application caused} */
    public @Nullable RdmaException cause() {
        return details.cause();
    }

    /**
     * {@return whether it reports that a step failed, that the connection has ended or that the device was removed}
     */
    public boolean isFailure() {
        return switch (type) {
            case ADDR_ERROR, ROUTE_ERROR, CONNECT_ERROR, UNREACHABLE, REJECTED, DISCONNECTED,
                    DEVICE_REMOVAL, MULTICAST_ERROR, ADDRINFO_ERROR ->
                true;
            case ADDR_RESOLVED, ROUTE_RESOLVED, CONNECT_REQUEST, CONNECT_RESPONSE, ESTABLISHED,
                    MULTICAST_JOIN, ADDR_CHANGE, TIMEWAIT_EXIT, ADDRINFO_RESOLVED, USER,
                    UNKNOWN ->
                false;
        };
    }

    /**
     * {@return the failure as an exception to throw} ECONNREFUSED if the peer refused, ECONNRESET if the connection has
     * ended, unless {@link #status} says why, ENODEV if the device was removed; if the peer could not be reached the error of
     * {@code status}, such as ETIMEDOUT or EHOSTUNREACH; otherwise the error of {@link #cause}. It is a
     * {@link RejectedException} if the peer refused a connection, but an {@link OtherDeviceException} if another device may
     * connect.
     *
     * @param operation what was attempted
     * @throws IllegalStateException unless it is a failure ({@link #isFailure})
     */
    public RdmaException failure(String operation) {
        if (!isFailure()) {
            throw new IllegalStateException(operation + ": " + name() + " is no failure");
        }
        String device = details.otherDevice();
        if (device != null) {
            return new OtherDeviceException(errno(), operation, description(), device);
        }
        if (type == CmEventType.REJECTED) {
            return new RejectedException(operation, description(), status(), privateData());
        }
        RdmaException cause = cause();
        if (cause != null) {
            // The cause has a part of the operation, such as a route within an endpoint, or just the same.
            String part = cause.operation().equals(operation) ? "" : cause.operation() + ": ";
            return RdmaException.ofSystem(cause.errorNumber(), operation, part + cause.detail(),
                    cause);
        }
        Errno errno = errno();
        boolean isOfSystem = status() < 0 && errno == Errno.ofNumber(-status());
        return isOfSystem
                ? RdmaException.ofSystem(-status(), operation, description(), null)
                : new RdmaException(errno, operation, description());
    }

    private Errno errno() {
        Errno ofStatus = status() < 0 ? Errno.ofNumber(-status()) : Errno.EIO;
        return switch (type) {
            case REJECTED -> Errno.ECONNREFUSED;
            case UNREACHABLE -> details.refusal() == null ? ofStatus : Errno.ECONNREFUSED;
            case DISCONNECTED -> status() < 0 ? ofStatus : Errno.ECONNRESET;
            case DEVICE_REMOVAL -> Errno.ENODEV;
            case ADDR_RESOLVED, ADDR_ERROR, ROUTE_RESOLVED, ROUTE_ERROR, CONNECT_REQUEST,
                    CONNECT_RESPONSE, CONNECT_ERROR, ESTABLISHED, MULTICAST_JOIN, MULTICAST_ERROR,
                    ADDR_CHANGE, TIMEWAIT_EXIT, ADDRINFO_RESOLVED, ADDRINFO_ERROR, USER,
                    UNKNOWN ->
                ofStatus;
        };
    }

    @Override
    public String toString() {
        boolean isNumberOfSystem = status() < 0 && type != CmEventType.USER;
        return name() + number()
                + (isNumberOfSystem ? " (" + SystemErrors.text(-status()) + ")" : refusal());
    }
}
