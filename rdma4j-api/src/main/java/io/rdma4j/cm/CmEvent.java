package io.rdma4j.cm;

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
    private final int status;
    private final @Nullable ConnectionParameters parameters;
    private final AtomicBoolean acknowledged = new AtomicBoolean();
    private final Runnable onAcknowledged;

    CmEvent(CmEventType type, CmId id, @Nullable CmId listenId, int status,
            @Nullable ConnectionParameters parameters, Runnable onAcknowledged) {
        this.type = type;
        this.id = id;
        this.listenId = listenId;
        this.status = status;
        this.parameters = parameters;
        this.onAcknowledged = onAcknowledged;
    }

    /** {@return what happened} */
    public CmEventType type() {
        return type;
    }

    /** {@return the id it happened to; for a request, a new id for the connection} */
    public CmId id() {
        return id;
    }

    /** {@return the id that listened, for a request} */
    public @Nullable CmId listenId() {
        return listenId;
    }

    /**
     * {@return 0; the peer's reason (IBTA table 108) for {@link CmEventType#REJECTED}; a negative errno for
     * another failure}
     */
    public int status() {
        return status;
    }

    /** {@return what the peer asked for or granted, for a request, a response and establishment} */
    public @Nullable ConnectionParameters parameters() {
        return parameters;
    }

    /**
     * {@return the bytes the peer's application sent along} The wire pads them with zeros to a fixed
     * length: 56 bytes for a request, 196 for a reply, 148 for a rejection; empty if there are none.
     */
    public byte[] privateData() {
        return parameters == null ? new byte[0] : parameters.privateData();
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
            case REJECTED -> "rejected (" + status + ": " + RejectReason.text(status) + ")";
            case UNREACHABLE -> "the peer did not answer in time";
            default -> type.text() + (status == 0 ? "" : ", error " + -status);
        };
    }

    @Override
    public String toString() {
        return type.text() + (status == 0 ? "" : ", status " + status);
    }
}
