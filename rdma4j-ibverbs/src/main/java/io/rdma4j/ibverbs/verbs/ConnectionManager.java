package io.rdma4j.ibverbs.verbs;

import io.rdma4j.ibverbs.cm.NativeConnections;
import io.rdma4j.spi.CmContext;
import org.jspecify.annotations.Nullable;

/** What gives open devices their connections. */
@FunctionalInterface
public interface ConnectionManager {
    /**
     * {@return the connections of a device that is being opened, not to be used before it is open; null if the system has no
     * connection manager for programs}
     */
    @Nullable
    NativeConnections of(CmContext device);
}
