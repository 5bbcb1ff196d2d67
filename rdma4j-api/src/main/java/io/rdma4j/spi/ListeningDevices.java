// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.spi;

import org.jspecify.annotations.Nullable;

/**
 * The devices that an id listens on. Where one listener receives the requests of several devices
 * ({@link PortAuthority#hasOneWildcardListener}), the device it was started on asks here which open device a request came by.
 */
@FunctionalInterface
public interface ListeningDevices {
    /**
     * {@return the device of a name, as the id has it open; null if the id does not listen there, or the device cannot be
     * opened} A device that has come up since the id began to listen is opened now.
     */
    @Nullable
    CmContext named(String name);
}
