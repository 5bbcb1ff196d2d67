// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.engine;

import io.rdma4j.sockets.protocol.ConnectionData;
import io.rdma4j.sockets.protocol.RemoteRange;
import io.rdma4j.testkit.Wait;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

import static org.assertj.core.api.Assertions.assertThat;

/** What a peer writes to the slots is taken once, and nothing of it is lost, whenever it comes. */
@Timeout(60)
class RangeSlotsTest {
    private static final VarHandle INTS = MethodHandles.byteBufferViewVarHandle(int[].class,
            ByteOrder.nativeOrder());
    private static final int OFFSET = 64;
    private static final int RANGES = 20_000;

    private final ByteBuffer memory = ByteBuffer.allocateDirect(OFFSET + RangeSlots.BYTES)
            .order(ByteOrder.nativeOrder());
    private final RangeSlots slots = new RangeSlots(memory, OFFSET);

    /** As a device does, which writes from the first byte to the last. */
    private void write(int index, RemoteRange range) {
        int at = OFFSET + index * RemoteRange.BYTES;
        memory.putLong(at, range.address()).putInt(at + Long.BYTES, range.key());
        INTS.setRelease(memory, at + Long.BYTES + Integer.BYTES, (int) range.length());
    }

    private boolean isTaken(int index) {
        return (int) INTS.getAcquire(memory,
                OFFSET + index * RemoteRange.BYTES + Long.BYTES + Integer.BYTES) == 0;
    }

    @Test
    void whatIsWrittenIsTakenOnce() {
        RemoteRange range = new RemoteRange(-2, 7, 0xffff_fffeL);
        write(1, range);
        assertThat(slots.take(0).length()).isZero();
        assertThat(slots.take(1)).isEqualTo(range);
        assertThat(slots.take(1).length()).isZero();
        write(1, new RemoteRange(5, 6, 1));
        assertThat(slots.take(1)).isEqualTo(new RemoteRange(5, 6, 1));
    }

    /** Many messages give credits and no range. To clear the slot for each would spoil a range that comes at that moment. */
    @Test
    void slotWithoutARangeIsNotWritten() {
        RangeSlots ofOthers = new RangeSlots(
                memory.asReadOnlyBuffer().order(ByteOrder.nativeOrder()), OFFSET);
        for (int i = 0; i < ConnectionData.SLOTS; i++) {
            assertThat(ofOthers.take(i).length()).isZero();
        }
    }

    @Test
    void rangeThatComesWhileTheSlotIsLookedAtIsTakenAsAWhole() {
        Thread peer = Thread.ofPlatform().start(() -> {
            for (int i = 1; i <= RANGES; i++) {
                write(0, new RemoteRange((long) i << 32, i, i));
                Wait.until("it is taken", () -> isTaken(0));
            }
        });
        for (int i = 1; i <= RANGES; i++) {
            RemoteRange[] taken = {new RemoteRange(0, 0, 0)};
            Wait.until("a range comes", () -> {
                taken[0] = slots.take(0);
                return taken[0].length() != 0;
            });
            assertThat(taken[0]).isEqualTo(new RemoteRange((long) i << 32, i, i));
        }
        Wait.until("the peer has ended", () -> !peer.isAlive());
    }
}
