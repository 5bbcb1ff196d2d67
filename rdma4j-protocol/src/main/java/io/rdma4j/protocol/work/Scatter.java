// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.work;

import java.lang.foreign.MemorySegment;

/** Copying arriving bytes over the elements of a request. */
final class Scatter {
    private Scatter() {}

    /** @param offset where the bytes belong in the message */
    static CopyOutcome into(ElementList elements, long offset, MemorySegment source,
            long sourceOffset,
            int byteCount, Memory memory, MemoryReference target) {
        if (elements.count == 1 && offset + byteCount <= elements.totalLength) {
            return byteCount == 0 ? CopyOutcome.DONE
                    : intoElement(elements, 0, offset, source, sourceOffset, byteCount, memory,
                            target);
        }
        long skip = offset;
        int done = 0;
        for (int i = 0; i < elements.count && done < byteCount; i++) {
            long inElement = elements.lengths[i] - skip;
            if (inElement <= 0) {
                skip = -inElement;
                continue;
            }
            int take = (int) Math.min(inElement, byteCount - done);
            CopyOutcome outcome = intoElement(elements, i, skip, source, sourceOffset + done, take,
                    memory, target);
            if (outcome != CopyOutcome.DONE) {
                return outcome;
            }
            done += take;
            skip = 0;
        }
        return CopyOutcome.DONE;
    }

    private static CopyOutcome intoElement(ElementList elements, int element, long skip,
            MemorySegment source, long sourceOffset, int byteCount, Memory memory,
            MemoryReference target) {
        return memory.local(elements.lkeys[element], elements.addresses[element] + skip, byteCount,
                true, target)
                        ? target.write(source, sourceOffset, byteCount)
                        : CopyOutcome.TARGET_REFUSED;
    }
}
