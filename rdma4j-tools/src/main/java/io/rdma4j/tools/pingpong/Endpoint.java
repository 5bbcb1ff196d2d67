package io.rdma4j.tools.pingpong;

import io.rdma4j.verbs.Gid;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One queue pair as the side channel names it: a text of hexadecimal numbers that ends with a zero byte.
 *
 * @param lid the port's local identifier, 0 on RoCE
 * @param queuePair the queue pair's number
 * @param psn the first PSN it sends
 * @param gid the port's GID, zero if none was chosen
 */
record Endpoint(int lid, int queuePair, int psn, Gid gid) {
    /** What stands for a queue pair that is not in use. */
    static final Endpoint NONE = new Endpoint(0, 0, 0, Gid.ZERO);

    /** The bytes of an endpoint on the side channel. */
    static final int LENGTH = "0000:000000:000000:".length() + 32 + 1;

    private static final Pattern TEXT = Pattern
            .compile("([0-9a-fA-F]{1,8}):([0-9a-fA-F]{1,6}):([0-9a-fA-F]{1,6}):([0-9a-fA-F]{32})");

    byte[] bytes() {
        String text = String.format(Locale.ROOT, "%04x:%06x:%06x:%016x%016x\0", lid, queuePair, psn,
                gid.high(), gid.low());
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    static Endpoint of(byte[] bytes) throws IOException {
        String text = new String(bytes, StandardCharsets.ISO_8859_1);
        int end = text.indexOf('\0');
        Matcher matcher = TEXT.matcher(end < 0 ? text : text.substring(0, end));
        if (!matcher.matches()) {
            throw new IOException("Couldn't read remote address: the peer does not speak as a"
                    + " ping-pong does");
        }
        return new Endpoint(Integer.parseUnsignedInt(matcher.group(1), 16),
                Integer.parseInt(matcher.group(2), 16), Integer.parseInt(matcher.group(3), 16),
                Gid.parse(matcher.group(4)));
    }

    /** {@return it as the tools print it; datagram tools put a colon before the GID of their own side} */
    String text(char beforeGid) {
        return String.format(Locale.ROOT, "LID 0x%04x, QPN 0x%06x, PSN 0x%06x%c GID %s", lid,
                queuePair, psn, beforeGid, gid.addressText());
    }
}
