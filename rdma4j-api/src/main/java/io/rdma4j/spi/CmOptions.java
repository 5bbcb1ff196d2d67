// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.spi;

import io.rdma4j.verbs.Mtu;
import org.jspecify.annotations.Nullable;

/**
 * What an application chose for a connection or a datagram service beside its parameters.
 *
 * @param typeOfService the IP type of service or traffic class of its packets, 8 bits
 * @param ackTimeoutExponent the acknowledgement time-out of the queue pair, an exponent; null for the
 *        device's own
 * @param pathMtu the path MTU of the connection; null for the largest that both sides and the network between them can have
 */
public record CmOptions(int typeOfService, @Nullable Integer ackTimeoutExponent,
        @Nullable Mtu pathMtu) {
    /** Nothing chosen. */
    public static final CmOptions DEFAULT = new CmOptions(0, null, null);
}
