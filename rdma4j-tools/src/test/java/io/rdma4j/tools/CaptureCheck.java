// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32;

/**
 * Reads a capture of raw IP packets and computes each ICRC from the bytes as they are, with nothing of
 * this project's own code.
 */
final class CaptureCheck {
    private final List<String> bad = new ArrayList<>();

    CaptureCheck(Path file) throws IOException {
        ByteBuffer in = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
        if (in.getInt(0) != 0xa1b2_c3d4 || in.getInt(20) != 101) {
            throw new IOException(file + " is no capture of raw IP packets");
        }
        in.position(24);
        int number = 0;
        while (in.hasRemaining()) {
            byte[] packet = new byte[in.getInt(in.position() + 8)];
            in.position(in.position() + 16).get(packet);
            check(++number, packet);
        }
        if (number == 0) {
            bad.add("no packets at all");
        }
    }

    List<String> badPackets() {
        return bad;
    }

    private void check(int number, byte[] packet) {
        boolean isIpv4 = packet[0] >>> 4 == 4;
        int ip = isIpv4 ? 20 : 40;
        int carried = ByteBuffer.wrap(packet).order(ByteOrder.LITTLE_ENDIAN)
                .getInt(packet.length - 4);
        byte[] masked = packet.clone();
        if (isIpv4) {
            mask(masked, 1, 8, 10, 11);
        } else {
            masked[0] |= 0x0f;
            mask(masked, 1, 2, 3, 7);
        }
        mask(masked, ip + 6, ip + 7, ip + 8 + 4);
        CRC32 crc = new CRC32();
        crc.update(new byte[]{-1, -1, -1, -1, -1, -1, -1, -1});
        crc.update(masked, 0, masked.length - 4);
        if ((int) crc.getValue() != carried) {
            bad.add("packet " + number + " has a wrong ICRC");
        }
    }

    private static void mask(byte[] bytes, int... positions) {
        for (int position : positions) {
            bytes[position] = -1;
        }
    }
}
