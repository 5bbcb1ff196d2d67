package io.rdma4j.spi;

import io.rdma4j.connection.DatagramParameters;
import io.rdma4j.verbs.Errno;

/** A datagram service being looked up (active side). */
public interface CmLookup {
    /** Wants no answer any more. Idempotent. */
    void close();

    /** Hears the answer. */
    interface Handler {
        /** The service was found. */
        void onService(DatagramParameters service);

        /** There is no such service, or it refused. */
        void onRefused(Refusal refusal);

        /** Nobody answered. */
        void onUnreachable(Errno reason);
    }
}
