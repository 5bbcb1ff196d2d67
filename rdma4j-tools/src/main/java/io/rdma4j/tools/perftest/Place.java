package io.rdma4j.tools.perftest;

import org.jspecify.annotations.Nullable;

import java.net.InetAddress;

/**
 * Where on this machine a side is met by the connection manager.
 *
 * @param device its device; null for the best of the address
 * @param address its address; null for any
 */
record Place(@Nullable String device, @Nullable InetAddress address) {
    /** Wherever the peer finds it. */
    static final Place ANY = new Place(null, null);
}
