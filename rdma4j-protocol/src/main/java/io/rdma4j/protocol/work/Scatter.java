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
        long skip = offset;
        int done = 0;
        for (int i = 0; i < elements.count && done < byteCount; i++) {
            long inElement = elements.lengths[i] - skip;
            if (inElement <= 0) {
                skip = -inElement;
                continue;
            }
            int take = (int) Math.min(inElement, byteCount - done);
            if (!memory.local(elements.lkeys[i], elements.addresses[i] + skip, take, true,
                    target)) {
                return CopyOutcome.TARGET_REFUSED;
            }
            CopyOutcome outcome = target.write(source, sourceOffset + done, take);
            if (outcome != CopyOutcome.DONE) {
                return outcome;
            }
            done += take;
            skip = 0;
        }
        return CopyOutcome.DONE;
    }
}
