// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.iwarp;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.protocol.bytes.Layouts;
import io.rdma4j.protocol.iwarp.wire.Crc32c;
import io.rdma4j.protocol.iwarp.wire.FpduView;
import io.rdma4j.protocol.iwarp.wire.MpaFrame;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Random;
import java.util.Set;

/**
 * A queue pair with work of every kind, and an input that says which bytes reach it, in which pieces, what its application does
 * and how time passes. Bytes are taken as they come, or as a unit that is right but for what the input changes.
 *
 * <p>Whatever comes, no exception escapes; each request ends once and in order, and all do when the stream ends; the rest of its
 * memory stays as it is.
 */
public final class StreamFuzz {
    private static final int MAX_STEPS = 200;
    private static final int ROOM = 1 << 14;
    private static final int GUARD_KEY = 0x7700;
    private static final int GUARD = 4096;
    private static final List<ReadyToReceive> FIRST = List.of(ReadyToReceive.values());

    private final ByteBuffer choices;
    private final ByteStream arriving = new ByteStream(ROOM, new Random(1));
    private final ByteStream leaving = new ByteStream(ROOM, new Random(2));
    private final StreamEnd end = new StreamEnd(1, arriving, leaving, false);
    private final MemorySegment guarded = MemorySegment.ofArray(new byte[GUARD]);
    private final byte[] sink = new byte[ROOM];
    private final boolean hasCrc;
    private int posted;
    private long nowNs;

    /** What the fuzzer calls. */
    public static void fuzzerTestOneInput(byte[] input) {
        setUp(input);
        new StreamFuzz(ByteBuffer.wrap(input)).run();
    }

    /** The same bytes as frames of the set-up. */
    private static void setUp(byte[] input) {
        MemorySegment bytes = MemorySegment.ofArray(input);
        ConnectionParameters own = new ConnectionParameters().responderResources(3)
                .initiatorDepth(5);
        for (boolean isReply : new boolean[]{false, true}) {
            byte[] start = new MpaFrame(isReply, 0, 0, 0, 0, new byte[0]).bytes();
            MemorySegment.copy(MemorySegment.ofArray(start), 0, bytes, 0,
                    Math.min(input.length, input.length % 2 == 0 ? 16 : 0));
            int length = MpaFrame.lengthOf(bytes, 0, input.length, isReply);
            if (length <= 0 || length > input.length) {
                continue;
            }
            MpaFrame frame = MpaFrame.of(bytes, 0, isReply);
            if (isReply) {
                check(new MpaInitiator(MpaSettings.USUAL, own).onReply(frame));
            } else if (MpaResponder.isKnown(frame)) {
                MpaResponder responder = new MpaResponder(MpaSettings.USUAL, frame);
                StreamParameters agreed = responder.parameters(own);
                check(new MpaAnswer.Accepted(agreed, frame.privateData()));
                responder.acceptance(agreed, frame.privateData()).bytes();
                responder.rejection(frame.privateData());
            }
        }
    }

    private static void check(@Nullable MpaAnswer answer) {
        if (answer instanceof MpaAnswer.Accepted accepted) {
            StreamParameters agreed = accepted.parameters();
            int most = MpaSettings.USUAL.maxReads();
            if (agreed.inboundReads() < 0 || agreed.inboundReads() > most
                    || agreed.outboundReads() < 0 || agreed.outboundReads() > most) {
                throw new AssertionError("agreed on " + agreed);
            }
        }
    }

    private StreamFuzz(ByteBuffer choices) {
        this.choices = choices;
        hasCrc = choose(2) == 0;
        end.regions.register(GUARD_KEY, 0x100, guarded, Set.of(AccessFlag.REMOTE_READ));
        end.connect(new StreamParameters(choose(2) == 0, hasCrc, choose(4), choose(4),
                FIRST.get(choose(3))), 64 + 4 * choose(256), 1000);
    }

    /** {@return a number below a bound that the input chooses; 0 when it is used up} */
    private int choose(int bound) {
        return choices.hasRemaining() ? (choices.get() & 0xff) % bound : 0;
    }

    private void run() {
        for (int step = 0; step < MAX_STEPS && choices.hasRemaining(); step++) {
            step();
            end.work(nowNs);
            int unused = leaving.read(sink, 0, choose(3) == 0 ? 1 : ROOM);
            nowNs += unused;
        }
        arriving.cut();
        drain();
        end.queuePair.onStreamEnd();
        drain();
        if (end.queuePair.state() != QueuePairState.ERR) {
            throw new AssertionError("it lives on: " + end.queuePair.state());
        }
        if (end.completions.size() != posted) {
            throw new AssertionError(end.completions + " of " + posted);
        }
        for (int i = 0; i < GUARD; i++) {
            if (guarded.get(Layouts.U8, i) != 0) {
                throw new AssertionError("written at " + i);
            }
        }
    }

    private void drain() {
        while (end.work(nowNs)) {
            nowNs += leaving.read(sink, 0, ROOM);
        }
    }

    private void step() {
        switch (choose(8)) {
            case 0 -> post();
            case 1 -> nowNs += 100L * choose(256);
            case 2 -> raw();
            case 3, 4, 5, 6 -> unit();
            default -> end();
        }
    }

    private void post() {
        int length = choose(256) * choose(8);
        int id = posted++;
        switch (choose(5)) {
            case 0 -> end.receive(id, length);
            case 1 -> end.send(id, length);
            case 2 -> end.write(id, length, end);
            case 3 -> end.read(id, length, end);
            default -> end.post(StreamEnd.request(id).localInvalidate(choose(4)));
        }
    }

    private void end() {
        switch (choose(16)) {
            case 0 -> arriving.close();
            case 1 -> end.queuePair.disconnect();
            case 2 -> end.queuePair.modify(new QueuePairAttributes().state(QueuePairState.ERR),
                    QueuePairState.ERR, nowNs);
            default -> post();
        }
    }

    private void raw() {
        byte[] bytes = new byte[Math.min(choose(64), choices.remaining())];
        choices.get(bytes);
        arrive(bytes);
    }

    /** A unit of one opcode whose fields are near what is right. */
    private void unit() {
        int opcode = choose(9);
        boolean isTagged = opcode == 0 || opcode == 2;
        int headers = isTagged ? 14 : opcode == 1 ? 46 : 18;
        int payload = opcode == 1 ? 0 : choose(200);
        int total = (2 + headers + payload + 3 & ~3) + FpduView.CRC_LENGTH;
        byte[] bytes = new byte[total];
        MemorySegment unit = MemorySegment.ofArray(bytes);
        boolean isLast = choose(4) > 0 || opcode == 1 || opcode == 7;
        unit.set(Layouts.U16, 0, (short) (headers + payload));
        unit.set(Layouts.U8, 2, (byte) ((isTagged ? 0x80 : 0) | (isLast ? 0x40 : 0) | 1));
        unit.set(Layouts.U8, 3, (byte) (0x40 | opcode));
        if (isTagged) {
            unit.set(Layouts.U32, 4, key());
            unit.set(Layouts.U64, 8, address());
        } else {
            unit.set(Layouts.U32, 8, opcode == 1 ? 1 : opcode == 7 ? 2 : 0);
            unit.set(Layouts.U32, 12, 1 + choose(4));
            unit.set(Layouts.U32, 16, choose(8) == 0 ? choose(256) : 0);
        }
        if (opcode == 1) {
            unit.set(Layouts.U32, 20, key());
            unit.set(Layouts.U64, 24, address());
            unit.set(Layouts.U32, 32, choose(8) == 0 ? -choose(256) : 16 * choose(256));
            unit.set(Layouts.U32, 36, key());
            unit.set(Layouts.U64, 40, address());
        }
        for (int changes = choose(8) == 0 ? choose(4) : 0; changes > 0; changes--) {
            bytes[choose(total)] = (byte) choose(256);
        }
        int covered = total - FpduView.CRC_LENGTH;
        unit.set(Layouts.U32_LITTLE, covered,
                hasCrc && choose(16) > 0 ? new Crc32c().of(unit, 0, covered) : 0);
        arrive(bytes);
    }

    private int key() {
        return switch (choose(8)) {
            case 0 -> GUARD_KEY;
            case 1 -> choose(256);
            default -> end.key;
        };
    }

    private long address() {
        return switch (choose(8)) {
            case 0 -> 0x100 + choose(256);
            case 1 -> -(long) choose(256);
            case 2 -> end.address + StreamEnd.MEMORY - choose(256);
            default -> end.address + StreamEnd.UPPER + 16L * choose(4);
        };
    }

    /** What finds no room is lost, and with it the order: that is one more way to be wrong. */
    private void arrive(byte[] bytes) {
        int at = 0;
        while (at < bytes.length) {
            int taken = arriving.write(bytes, at, bytes.length - at);
            if (taken == 0) {
                return;
            }
            at += taken;
        }
    }
}
