// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.rc;

import io.rdma4j.protocol.work.ReceiveRequest;
import org.jspecify.annotations.Nullable;

/**
 * How far the peer's requests were carried out; what the responder's parts share, as requester and completer
 * share the {@link SendWindow}.
 */
final class RequestProgress {
    /** The next expected PSN. */
    long expected;
    /**
     * The PSN an acknowledgement carries: that of the last SEND or WRITE packet carried out. It must be none of a
     * READ or atomic, which only a response acknowledges: if that is lost, Linux rxe would take the READ for
     * done, without its data.
     */
    long acknowledgeable;
    /** Messages carried out, which answers carry as message sequence number. IBTA 9.7.7.2. */
    long messages;
    /** The receive request of the present message, null for none. */
    @Nullable
    ReceiveRequest receive;

    /** Starts anew with a first PSN. */
    void reset(long firstPsn) {
        expected = firstPsn;
        acknowledgeable = firstPsn - 1;
        messages = 0;
        receive = null;
    }

    /** So many packets of a SEND or WRITE were carried out. */
    void advance(int packets) {
        expected += packets;
        acknowledgeable = expected - 1;
    }

    /** A message was carried out whose request and answer take that many PSNs from the one expected. */
    void finish(long psns) {
        expected += psns;
        messages++;
    }
}
