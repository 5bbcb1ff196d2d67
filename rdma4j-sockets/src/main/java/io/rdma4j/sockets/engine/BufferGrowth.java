// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.engine;

import io.rdma4j.sockets.protocol.RemoteRange;
import io.rdma4j.sockets.protocol.RsocketStream;

/** Gives a stream larger buffers that stands still for lack of room, once for each direction (ADR 70). Not thread safe: its connection guards it. */
final class BufferGrowth {
    private final StreamMemory memory;
    private boolean mayGrowInput;
    private boolean mayGrowOutput;

    /** @param wanted says which buffers keep their size */
    BufferGrowth(StreamMemory memory, SocketSettings wanted) {
        this.memory = memory;
        mayGrowInput = wanted.growsReceive();
        mayGrowOutput = wanted.growsSend();
    }

    /** Bytes were read. */
    void growInput(RsocketStream open) {
        if (mayGrowInput && open.wantsLargerInput()) {
            mayGrowInput = false;
            RemoteRange larger = memory.enlargeInput();
            if (larger != null) {
                open.enlargeInput(larger);
            }
        }
    }

    /** Bytes are about to be written. */
    void growOutput(RsocketStream open) {
        if (mayGrowOutput && open.wantsLargerOutput()) {
            mayGrowOutput = false;
            int larger = memory.enlargeOutput();
            if (larger > 0) {
                open.enlargeOutput(larger);
            }
        }
    }
}
