// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.work;

import io.rdma4j.verbs.ReceiveWorkRequest;

import java.lang.foreign.MemorySegment;

/** A slot of a receive queue. */
public final class ReceiveRequest {
    private final ElementList elements;
    private final MemoryReference piece = new MemoryReference();
    private long id;

    /** @param maxElements scatter/gather elements it can hold */
    public ReceiveRequest(int maxElements) {
        elements = new ElementList(maxElements);
    }

    /** Copies a request; its elements fit. */
    public void assign(ReceiveWorkRequest from) {
        elements.assign(from.elements());
        id = from.id();
    }

    /** Begins a request without elements; {@link #add} gives them. */
    public void begin(long newId) {
        id = newId;
        elements.clear();
    }

    /** Adds an element; it fits. */
    public void add(long address, long length, int lkey) {
        elements.add(address, length, lkey);
    }

    /** Forgets what it points to, so that no memory is kept alive by a request that is over. */
    public void release() {
        piece.clear();
    }

    /** {@return the caller's number} */
    public long id() {
        return id;
    }

    /** {@return the bytes it can take} */
    public long capacity() {
        return elements.totalLength;
    }

    /**
     * Copies arriving bytes into the elements.
     *
     * @param offset where they belong in the message; they fit
     */
    public CopyOutcome scatter(long offset, MemorySegment source, long sourceOffset, int byteCount,
            Memory memory) {
        return Scatter.into(elements, offset, source, sourceOffset, byteCount, memory, piece);
    }
}
