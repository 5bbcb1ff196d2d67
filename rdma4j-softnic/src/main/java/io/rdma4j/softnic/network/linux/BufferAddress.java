package io.rdma4j.softnic.network.linux;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/** The address of a direct buffer, cached for the last buffer, because the segment needed to find it would be garbage. */
final class BufferAddress {
    private @Nullable ByteBuffer known;
    private long start;

    /**
     * {@return the address of the next byte of a direct buffer} The caller must keep the buffer reachable while it uses
     * the address.
     */
    @SuppressWarnings("ReferenceEquality") // An equal buffer may have another address.
    long of(ByteBuffer buffer) {
        if (buffer != known) {
            known = buffer;
            start = MemorySegment.ofBuffer(buffer).address() - buffer.position();
        }
        return start + buffer.position();
    }
}
