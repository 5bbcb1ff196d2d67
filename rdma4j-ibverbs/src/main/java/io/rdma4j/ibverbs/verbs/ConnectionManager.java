// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.verbs;

import io.rdma4j.ibverbs.cm.NativeConnections;
import io.rdma4j.spi.CmContext;
import io.rdma4j.spi.CmListener;
import org.jspecify.annotations.Nullable;

import java.util.function.UnaryOperator;

/** Provides the connections of open devices. */
@FunctionalInterface
public interface ConnectionManager {
    /**
     * {@return the connections of a device that is being opened, not to be used before it is open; null if the system has no
     * connection manager for programs}
     *
     * @param following makes of a handler of requests by the device one that the device listens in on
     */
    @Nullable
    NativeConnections of(CmContext device, UnaryOperator<CmListener.Handler> following);
}
