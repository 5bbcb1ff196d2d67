package io.rdma4j.softnic.network.linux;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/** Where a direct buffer lies, which mostly is the one that was asked for last: a segment made to ask would be garbage. */
final class BufferAddress {
    private @Nullable ByteBuffer known;
    private long start;

    /** {@return where the next byte of a direct buffer lies} Whoever uses that keeps the buffer alive meanwhile. */
    @SuppressWarnings("ReferenceEquality") // Another buffer may hold the same bytes, and lie elsewhere.
    long of(ByteBuffer buffer) {
        if (buffer != known) {
            known = buffer;
            start = MemorySegment.ofBuffer(buffer).address() - buffer.position();
        }
        return start + buffer.position();
    }
}
