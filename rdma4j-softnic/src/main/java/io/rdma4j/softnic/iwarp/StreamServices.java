// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.iwarp;

import io.rdma4j.softnic.engine.Engine;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/** What a TCP connection needs of its device, which knows its queue pairs and listeners, too. For the engine's owner. */
interface StreamServices {
    Engine engine();

    /** {@return memory for what the network does not take at once} */
    UnsentBuffers unsentBuffers();

    /** {@return connections that are over, and have not quite ended} */
    LingeringConnections lingering();

    /** {@return the buffer that a connection reads to, valid during one call} */
    ByteBuffer inboundBuffer();

    /** {@return the memory of {@link #inboundBuffer}} */
    MemorySegment inbound();

    /** A stream has more than is read at once. */
    void onMore();
}
