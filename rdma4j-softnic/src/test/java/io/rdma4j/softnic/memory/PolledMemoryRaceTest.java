// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.memory;

import io.rdma4j.protocol.work.CopyOutcome;
import io.rdma4j.protocol.work.MemoryReference;
import io.rdma4j.softnic.Race;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

import static org.assertj.core.api.Assertions.assertThat;

/** A program that polls memory into which its peer writes a payload and then, by a second WRITE, a flag. */
@Tag("stress")
class PolledMemoryRaceTest {
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();
    private static final int PAYLOADS = 61;
    /** Far enough from each other for different lines of a cache, and of pages. */
    private static final long FLAG_AT = 1 << 16;
    private static final long STRIDE = 1024;

    private final Race race = new Race();
    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory = arena.allocate(FLAG_AT + Long.BYTES, 64);
    private long rounds;

    private static void place(MemoryReference into, MemorySegment memory, long at,
            MemorySegment value) {
        into.point(memory, at);
        assertThat(into.write(value, 0, Long.BYTES)).isSameAs(CopyOutcome.DONE);
    }

    @Test
    void whoSeesTheFlagSeesThePayload() throws Exception {
        race.once("responder", () -> {
            MemoryReference into = new MemoryReference();
            MemorySegment value = arena.allocate(Long.BYTES, 8);
            for (long number = 1; !race.isOver(); number++) {
                value.set(ValueLayout.JAVA_LONG, 0, number);
                place(into, memory, number % PAYLOADS * STRIDE, value);
                place(into, memory, FLAG_AT, value);
            }
        });
        race.repeatedly("program", () -> {
            long flag = (long) LONG.getAcquire(memory, FLAG_AT);
            long payload = memory.get(ValueLayout.JAVA_LONG, flag % PAYLOADS * STRIDE);
            if (payload < flag) {
                throw new AssertionError("flag " + flag + ", payload " + payload);
            }
            rounds = flag;
        });
        race.run();
        assertThat(rounds).isPositive();
    }
}
