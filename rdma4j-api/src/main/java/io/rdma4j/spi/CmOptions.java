package io.rdma4j.spi;

import org.jspecify.annotations.Nullable;

/**
 * What an application chose for a connection or a datagram service beside its parameters.
 *
 * @param typeOfService the IP type of service or traffic class of its packets, 8 bits
 * @param acknowledgeTimeout the acknowledgement time-out of the queue pair, an exponent; null for the
 *        device's own
 */
public record CmOptions(int typeOfService, @Nullable Integer acknowledgeTimeout) {
    /** Nothing chosen. */
    public static final CmOptions DEFAULT = new CmOptions(0, null);
}
