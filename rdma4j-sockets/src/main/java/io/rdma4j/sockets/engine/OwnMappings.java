// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.engine;

import io.rdma4j.sockets.protocol.Mapping;
import io.rdma4j.sockets.protocol.RemoteRange;
import io.rdma4j.sockets.protocol.RsocketStream;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;

/** Memory of the application that the peer of a connection may write, by the offset that the peer names. Not thread safe: its connection guards it. */
final class OwnMappings {
    /** None, mostly: each connection has one of these. */
    private Map<Long, Mapped> byOffset = Map.of();

    private record Mapped(int index, MemoryRegion region) {}

    /**
     * Registers memory, of which the stream tells the peer.
     *
     * @throws IOException if the offset is in use, the peer keeps no more mappings, or the memory cannot be registered
     */
    void add(RsocketStream stream, ProtectionDomain domain, long offset, MemorySegment segment)
            throws IOException {
        if (byOffset.containsKey(offset)) {
            throw new IOException("offset " + offset + " is mapped already");
        }
        MemoryRegion region = domain.register(segment, AccessFlag.LOCAL_WRITE,
                AccessFlag.REMOTE_WRITE);
        int index = stream.map(new Mapping(offset,
                new RemoteRange(region.address(), region.rkey(), region.length())));
        if (index < 0) {
            region.close();
            throw new IOException("the peer keeps " + stream.mappingsOfPeer()
                    + " mappings, which are in use");
        }
        if (byOffset.isEmpty()) {
            byOffset = new HashMap<>();
        }
        byOffset.put(offset, new Mapped(index, region));
    }

    /**
     * Ends that.
     *
     * @throws IOException if nothing is mapped at the offset
     */
    void remove(RsocketStream stream, long offset) throws IOException {
        Mapped left = byOffset.isEmpty() ? null : byOffset.remove(offset);
        if (left == null) {
            throw new IOException("nothing is mapped at offset " + offset);
        }
        stream.unmap(left.index());
        left.region().close();
    }

    /** Frees all. */
    void close() {
        byOffset.values().forEach(each -> Freeing.all(each.region()::close));
    }
}
