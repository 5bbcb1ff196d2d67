// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.iwarp;

import io.rdma4j.protocol.iwarp.wire.TerminateCause;
import org.jspecify.annotations.Nullable;

/** The result of the reply for the initiator. */
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
     * The sides are incompatible.
     *
     * @param cause the cause to send to the responder, null for none
     * @param reason why, for people
     */
    record Unusable(@Nullable TerminateCause cause, String reason) implements MpaAnswer {}
}
