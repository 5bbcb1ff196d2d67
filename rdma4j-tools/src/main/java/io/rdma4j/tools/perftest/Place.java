// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.perftest;

import org.jspecify.annotations.Nullable;

import java.net.InetAddress;

/**
 * The device and address of a side for the connection manager.
 *
 * @param device its device; null for the best of the address
 * @param address its address; null for any
 */
record Place(@Nullable String device, @Nullable InetAddress address) {
    /** Wherever the peer finds it. */
    static final Place ANY = new Place(null, null);
}
