// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.doctor;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmEventChannel;
import io.rdma4j.cm.CmEventType;
import io.rdma4j.cm.CmId;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.WorkCompletion;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;

/** The queue pair and the memory of one side between which a message goes, over a connection of the connection manager. */
final class TransferEnd implements AutoCloseable {
    /** Of the message; several packets at any path MTU. */
    static final int LENGTH = 1 << 16;

    private final CmId id;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory = arena.allocate(LENGTH);
    private final MemoryRegion region;

    TransferEnd(CmId id) throws RdmaException {
        this.id = id;
        try {
            id.createQueuePair();
            region = id.registerMessages(memory);
        } catch (RdmaException e) {
            arena.close();
            throw e;
        }
    }

    /** Prepares for the message; before the connection is there. */
    void postReceive() throws RdmaException {
        id.postReceive(0, region, 0, LENGTH);
    }

    /** Sends the message and waits until the peer's device has it. */
    void send(Duration patience) throws RdmaException {
        for (int i = 0; i < LENGTH; i++) {
            memory.set(ValueLayout.JAVA_BYTE, i, expected(i));
        }
        id.postSend(0, region, 0, LENGTH, SendFlag.SIGNALED);
        check(id.pollSendCompletion(patience), "send", patience);
    }

    /** Waits for the message and compares its bytes. */
    void receive(Duration patience) throws RdmaException {
        check(id.pollReceiveCompletion(patience), "receive", patience);
        for (int i = 0; i < LENGTH; i++) {
            if (memory.get(ValueLayout.JAVA_BYTE, i) != expected(i)) {
                throw new RdmaException(Errno.EIO, "compare",
                        "other bytes arrived than were sent");
            }
        }
    }

    private static byte expected(int index) {
        return (byte) (index ^ index >>> 8);
    }

    private static void check(@Nullable WorkCompletion completion, String operation,
            Duration patience) throws RdmaException {
        if (completion == null) {
            throw tooLate(operation, patience);
        }
        completion.requireSuccess(operation);
    }

    /** {@return the id of an event that must come next} */
    static CmId await(CmEventChannel events, CmEventType wanted, Duration patience)
            throws RdmaException {
        try (CmEvent event = events.pollEvent(patience)) {
            if (event == null) {
                throw tooLate("connect", patience);
            }
            if (event.type() == wanted) {
                return event.id();
            }
            throw event.isFailure()
                    ? event.failure("connect")
                    : new RdmaException(Errno.EIO, "connect", event.description());
        }
    }

    private static RdmaException tooLate(String operation, Duration patience) {
        return new RdmaException(Errno.ETIMEDOUT, operation, "nothing came for "
                + Math.max(1, patience.toSeconds()) + " s");
    }

    @Override
    public void close() throws RdmaException {
        id.closeQueuePair();
        region.close();
        arena.close();
    }
}
