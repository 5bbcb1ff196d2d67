// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.pingpong;

import io.rdma4j.tools.endpoint.QueuePairAddress;
import io.rdma4j.verbs.Gid;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A queue pair's address as the side channel carries it: hexadecimal numbers that end with a zero byte. */
final class AddressText {
    /** The bytes of an address on the side channel. */
    static final int LENGTH = "0000:000000:000000:".length() + 32 + 1;

    /** The largest PSN that leaves room for a mark. */
    static final int LARGEST_MARKED_PSN = 0xfffff;

    /** Stands before a PSN, as a sign, which the C programs read and never write. */
    private static final char MARK = '+';

    private static final Pattern TEXT = Pattern.compile(
            "([0-9a-fA-F]{1,8}):([0-9a-fA-F]{1,6}):[+]?([0-9a-fA-F]{1,6}):([0-9a-fA-F]{32})");

    private AddressText() {}

    /**
     * {@return it in bytes}
     *
     * @param isMarked whether it tells the peer that this side is ready to warm up together; its PSN is small enough
     */
    static byte[] bytes(QueuePairAddress address, boolean isMarked) {
        String psn = isMarked
                ? String.format(Locale.ROOT, "%c%05x", MARK, address.psn())
                : String.format(Locale.ROOT, "%06x", address.psn());
        String text = String.format(Locale.ROOT, "%04x:%06x:%s:%016x%016x\0", address.lid(),
                address.number(), psn, address.gid().high(), address.gid().low());
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    /** {@return whether a peer has marked its address} */
    static boolean isMarked(byte[] bytes) {
        return new String(bytes, StandardCharsets.ISO_8859_1).indexOf(MARK) >= 0;
    }

    static QueuePairAddress parse(byte[] bytes) throws IOException {
        String text = new String(bytes, StandardCharsets.ISO_8859_1);
        int end = text.indexOf('\0');
        Matcher matcher = TEXT.matcher(end < 0 ? text : text.substring(0, end));
        if (!matcher.matches()) {
            throw new IOException("Couldn't read remote address: the peer does not speak as a"
                    + " ping-pong does");
        }
        return new QueuePairAddress(Integer.parseUnsignedInt(matcher.group(1), 16),
                Integer.parseInt(matcher.group(2), 16), Integer.parseInt(matcher.group(3), 16),
                Gid.parse(matcher.group(4)));
    }

    /** {@return it as the tools print it; datagram tools put a colon before the GID of their own side} */
    static String shown(QueuePairAddress address, char beforeGid) {
        return String.format(Locale.ROOT, "LID 0x%04x, QPN 0x%06x, PSN 0x%06x%c GID %s",
                address.lid(), address.number(), address.psn(), beforeGid,
                address.gid().addressText());
    }
}
