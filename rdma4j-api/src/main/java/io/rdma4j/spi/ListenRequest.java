// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.spi;

import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.QueuePairType;
import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.net.StandardProtocolFamily;

/**
 * What a listener offers, and where.
 *
 * @param space the port space
 * @param type RC or UC for connections, UD for a datagram service
 * @param port the port
 * @param reservation of the port by the device's {@link PortAuthority}, null if it made none
 * @param address one of the device's addresses, or null for all
 * @param family the only IP version that is served, or null for both
 * @param backlog requests that may wait unanswered; further ones are rejected
 * @param devices says by which device a request came, null for a listener that serves one device alone
 */
public record ListenRequest(PortSpace space, QueuePairType type, int port,
        @Nullable PortReservation reservation, @Nullable InetAddress address,
        @Nullable StandardProtocolFamily family, int backlog,
        @Nullable Devices devices) {
    /**
     * The devices that an id listens on. Where one listener receives the requests of several devices
     * ({@link PortAuthority#hasOneWildcardListener}), the device it was started on asks here which open device a request came by.
     */
    @FunctionalInterface
    public interface Devices {
        /**
         * {@return the device of a name, as the id has it open; null if the id does not listen there, or the device cannot be
         * opened} A device that has come up since the id began to listen is opened now.
         */
        @Nullable
        CmContext named(String name);
    }
}
