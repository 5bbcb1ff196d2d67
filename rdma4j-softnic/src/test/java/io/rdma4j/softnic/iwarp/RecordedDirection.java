// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.iwarp;

import io.rdma4j.softnic.network.stream.TcpCapture.Segment;

import java.io.ByteArrayOutputStream;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32C;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * One direction of a recorded connection: the frame of the set-up, and the units behind it. Without the product's help: the
 * layouts of RFC 5044 4 and 7.1, RFC 5041 4, RFC 5040 4.
 */
final class RecordedDirection {
    static final int WRITE = 0;
    static final int READ_REQUEST = 1;
    static final int READ_RESPONSE = 2;
    static final int SEND = 3;
    static final int TERMINATE = 7;

    private static final int FRAME = 20;
    private static final int LENGTH = 2;
    private static final int TAGGED = LENGTH + 14;
    private static final int UNTAGGED = LENGTH + 18;
    private static final int CRC = 4;

    /**
     * A unit.
     *
     * @param key the STag of a tagged one
     * @param offset the tagged offset of a tagged one
     * @param crc the field
     * @param rightCrc what it is if there is a CRC
     */
    record Unit(int opcode, boolean isLast, int key, long offset, byte[] payload, int crc,
            int rightCrc) {}

    final byte[] privateData;
    final List<Unit> units = new ArrayList<>();
    /** Bytes of a unit that is cut off. */
    final int rest;

    RecordedDirection(List<Segment> capture, InetSocketAddress from) {
        ByteBuffer stream = ByteBuffer.wrap(bytes(capture, from));
        byte[] frame = new byte[FRAME + stream.getShort(FRAME - Short.BYTES)];
        stream.get(frame);
        // Without the numbers of READs.
        privateData = Arrays.copyOfRange(frame, FRAME + 4, frame.length);
        while (stream.remaining() > LENGTH && lengthAt(stream) <= stream.remaining()) {
            units.add(unit(stream.slice(stream.position(), lengthAt(stream))));
            stream.position(stream.position() + lengthAt(stream));
        }
        rest = stream.remaining();
    }

    /**
     * {@return the bytes that one side has sent} If both sides are recorded in the file they are there twice, in pieces that
     * differ.
     */
    private static byte[] bytes(List<Segment> capture, InetSocketAddress from) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (Segment segment : capture) {
            if (!segment.from().equals(from) || segment.bytes().length == 0) {
                continue;
            }
            int at = segment.sequence() - 1;
            byte[] known = bytes.toByteArray();
            assertThat(at).as("bytes without a gap").isBetween(0, known.length);
            int again = Math.min(known.length - at, segment.bytes().length);
            assertThat(Arrays.copyOf(segment.bytes(), again))
                    .isEqualTo(Arrays.copyOfRange(known, at, at + again));
            bytes.write(segment.bytes(), again, segment.bytes().length - again);
        }
        return bytes.toByteArray();
    }

    private static int lengthAt(ByteBuffer stream) {
        int unpadded = LENGTH + (stream.getShort(stream.position()) & 0xffff);
        return (unpadded + 3) / 4 * 4 + CRC;
    }

    private static Unit unit(ByteBuffer unit) {
        int end = LENGTH + (unit.getShort(0) & 0xffff);
        boolean isTagged = (unit.get(2) & 0x80) != 0;
        boolean isLast = (unit.get(2) & 0x40) != 0;
        byte[] payload = new byte[end - (isTagged ? TAGGED : UNTAGGED)];
        unit.get(end - payload.length, payload);
        int covered = unit.limit() - CRC;
        CRC32C crc = new CRC32C();
        crc.update(unit.slice(0, covered));
        return new Unit(unit.get(3) & 0xf, isLast, isTagged ? unit.getInt(4) : 0,
                isTagged ? unit.getLong(8) : 0, payload,
                unit.order(ByteOrder.LITTLE_ENDIAN).getInt(covered), (int) crc.getValue());
    }

    /** {@return the units of a kind that carry something} */
    List<Unit> units(int opcode) {
        return units.stream().filter(unit -> unit.opcode() == opcode && unit.payload().length > 0)
                .toList();
    }

    /** {@return what the units of a kind carry} */
    byte[] carried(int opcode) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        units(opcode).forEach(unit -> bytes.writeBytes(unit.payload()));
        return bytes.toByteArray();
    }
}
