// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.spi;

import io.rdma4j.connection.DatagramParameters;
import io.rdma4j.verbs.Errno;

/** A datagram service being looked up (active side). */
public interface CmLookup {
    /** Cancels the look-up; no answer is reported any more. Idempotent. */
    void close();

    /** Takes the answer. */
    interface Handler extends UnknownEvents {
        /** The service was found. */
        void onService(DatagramParameters service);

        /** There is no such service, or it refused. */
        void onRefused(Refusal refusal);

        /** The peer did not answer in time. */
        void onUnreachable(Errno reason);
    }
}
