// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.ring;

import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.PacketView;
import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.softnic.Race;
import io.rdma4j.softnic.network.SharedMemory;
import io.rdma4j.verbs.Gid;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A writer and a reader of one ring, each in its thread: every record arrives once, in order and whole. All bytes of a record
 * follow from its number, so whoever reads a word before what belongs to it is found out.
 */
@Tag("stress")
class RecordRaceTest {
    private static final int LONGEST = 20_000;
    private static final int ROUND = 64;

    private final Race race = new Race();
    private final Arena arena = Arena.ofShared();
    private final MemorySegment header = arena.allocate(256, 128);
    private final MemorySegment records = arena.allocate(RingLayout.CAPACITY, 128);

    /** {@return how long the payload of a record is, mostly short, so that the ring is rarely full} */
    private static int length(long number) {
        int mixed = (int) ((number * 0x9e37_79b9_7f4a_7c15L) >>> 40);
        return Long.BYTES * ((mixed & 7) == 0 ? mixed % (LONGEST / Long.BYTES) : 1 + mixed % 30);
    }

    /** {@return one eighth of the bytes of a payload} */
    private static long word(long number, long at) {
        return number * 31 + at;
    }

    private static Gid address(long number) {
        return new Gid(0, 0xffff_7f00_0000L + number / 1000 % 3);
    }

    private static void fill(MemorySegment memory, long number, int length) {
        for (long at = 0; at < length; at += Long.BYTES) {
            memory.set(ValueLayout.JAVA_LONG, at, word(number, at));
        }
    }

    @Test
    void recordsArriveOnceInOrderAndWhole() throws Exception {
        AtomicLong written = new AtomicLong();
        AtomicLong read = new AtomicLong();
        AtomicBoolean isEnded = new AtomicBoolean();
        race.once("writer", () -> {
            RingWriter writer = new RingWriter(header, records);
            OutgoingPacket packet = new OutgoingPacket();
            MemorySegment memory = arena.allocate(LONGEST + Long.BYTES, 8);
            long number = 0;
            while (!race.isOver()) {
                int length = length(number);
                fill(memory, number, length);
                packet.begin(Opcode.RC_WRITE_MIDDLE,
                        Path.between(address(number), address(number + 1000)), 7,
                        (int) number & 0xff_ffff, false, false);
                packet.addPayload(memory, 0, length);
                while (writer.write(packet) != RingWriter.Outcome.WRITTEN && !race.isOver()) {
                    Thread.onSpinWait();
                }
                written.set(++number);
            }
            isEnded.set(true);
        });
        race.once("reader", () -> {
            RingReader reader = new RingReader(header, records, new TwoProcesses());
            PacketView packet = new PacketView();
            SplittableRandom random = new SplittableRandom(3);
            Checking checking = new Checking(read);
            while (!race.hasFailed() && !(isEnded.get() && reader.isEmpty())) {
                reader.read(checking, packet, 1 + random.nextInt(ROUND));
            }
        });
        race.run();
        // The last may not have found room before the end.
        assertThat(read.get()).isBetween(written.get() - 1, written.get()).isPositive();
    }

    /** Compares what arrives with what its number says. */
    private record Checking(AtomicLong read) implements SharedMemory.Handler {
        @Override
        public void onPacket(PacketView packet) {
            long number = read.getPlain();
            require(packet.payloadLength() == length(number), number, "length");
            require(packet.source().equals(address(number)), number, "source");
            require(packet.destination().equals(address(number + 1000)), number, "destination");
            require(packet.psn() == ((int) number & 0xff_ffff), number, "header");
            MemorySegment payload = packet.payloadMemory();
            for (long at = 0; at < packet.payloadLength(); at += Long.BYTES) {
                long found = payload.get(ValueLayout.JAVA_LONG_UNALIGNED,
                        packet.payloadStart() + at);
                require(found == word(number, at), number, "payload at " + at);
            }
            read.set(number + 1);
        }

        private static void require(boolean isRight, long number, String what) {
            if (!isRight) {
                throw new AssertionError(what + " of record " + number + " is of another time");
            }
        }

        @Override
        public void onMalformed(Gid source) {
            throw new AssertionError("a record of " + source + " is no packet");
        }

        @Override
        public void onNonsense() {
            throw new AssertionError("the reader finds no sense in record " + read.getPlain());
        }
    }
}
