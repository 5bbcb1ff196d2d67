package io.rdma4j.protocol.iwarp;

import io.rdma4j.protocol.iwarp.wire.TerminateCause;
import org.jspecify.annotations.Nullable;

/** What the initiator has learnt from the reply. */
public sealed interface MpaAnswer {
    /**
     * The connection stands.
     *
     * @param privateData the responder's
     */
    record Accepted(StreamParameters parameters, byte[] privateData) implements MpaAnswer {}

    /**
     * The responder refused.
     *
     * @param privateData the responder's
     */
    record Rejected(byte[] privateData) implements MpaAnswer {}

    /**
     * The sides do not fit.
     *
     * @param cause what to tell the responder, null for nothing
     * @param reason why, for people
     */
    record Unusable(@Nullable TerminateCause cause, String reason) implements MpaAnswer {}
}
