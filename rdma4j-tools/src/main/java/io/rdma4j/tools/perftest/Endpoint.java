// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.perftest;

import io.rdma4j.tools.endpoint.QueuePairAddress;
import io.rdma4j.verbs.Gid;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * One queue pair and its memory as the side channel names them: a text of hexadecimal numbers that ends with a zero
 * byte.
 *
 * @param queuePair how the queue pair is reached
 * @param outstanding READs and atomics that it can answer at a time
 * @param rkey opens the memory
 * @param address where the memory begins
 */
record Endpoint(QueuePairAddress queuePair, int outstanding, int rkey, long address) {
    /** Bytes of an endpoint as text. */
    static final int LENGTH = 108;
    /** Bytes of it as a record; two numbers at the end are for what this tool does not use. */
    static final int RECORD_LENGTH = 56;

    private static final int ADDRESS_AT = 24;

    private static final int GID_BYTES = 16;
    private static final Pattern TEXT = Pattern.compile("([0-9a-f]{4}):([0-9a-f]{4}):"
            + "([0-9a-f]{6}):([0-9a-f]{6}):([0-9a-f]{8}):([0-9a-f]{16}):((?:[0-9a-f]{2}:){16})"
            + "[0-9a-f]{8}:\0");

    /** What is exchanged before there are queue pairs. */
    static final Endpoint NONE = new Endpoint(QueuePairAddress.NONE, 0, 0, 0);

    /** {@return it as TCP carries it} */
    byte[] toText() {
        byte[] raw = queuePair.gid().bytes();
        String colons = IntStream.range(0, GID_BYTES)
                .mapToObj(i -> String.format(Locale.ROOT, "%02x:", raw[i] & 0xff))
                .collect(Collectors.joining());
        // The last number is that of a shared receive queue over XRC.
        return String
                .format(Locale.ROOT, "%04x:%04x:%06x:%06x:%08x:%016x:%s%08x:\0", queuePair.lid(),
                        outstanding, queuePair.number(), queuePair.psn(), rkey, address, colons, 0)
                .getBytes(StandardCharsets.US_ASCII);
    }

    static Endpoint ofText(byte[] bytes) throws IOException {
        Matcher matcher = TEXT.matcher(new String(bytes, StandardCharsets.ISO_8859_1));
        if (!matcher.matches()) {
            throw new IOException("Couldn't read remote address: the peer does not speak as this"
                    + " tool does; both sides need the same tool and as many queue pairs (-q)");
        }
        QueuePairAddress queuePair = new QueuePairAddress(Integer.parseInt(matcher.group(1), 16),
                Integer.parseInt(matcher.group(3), 16), Integer.parseInt(matcher.group(4), 16),
                Gid.parse(matcher.group(7).replace(":", "")));
        return new Endpoint(queuePair, Integer.parseInt(matcher.group(2), 16),
                Integer.parseUnsignedInt(matcher.group(5), 16),
                Long.parseUnsignedLong(matcher.group(6), 16));
    }

    /** {@return it as messages over a queue pair carry it: a record in C's layout, big-endian} */
    byte[] toRecord() {
        return ByteBuffer.allocate(RECORD_LENGTH).putInt(queuePair.lid())
                .putInt(outstanding).putInt(queuePair.number()).putInt(queuePair.psn()).putInt(rkey)
                .position(ADDRESS_AT).putLong(address).put(queuePair.gid().bytes())
                .array();
    }

    static Endpoint ofRecord(byte[] bytes) {
        ByteBuffer told = ByteBuffer.wrap(bytes);
        int lid = told.getInt();
        int outstanding = told.getInt();
        int number = told.getInt();
        int psn = told.getInt();
        int rkey = told.getInt();
        long address = told.position(ADDRESS_AT).getLong();
        byte[] raw = new byte[GID_BYTES];
        told.get(raw);
        return new Endpoint(new QueuePairAddress(lid, number, psn, Gid.of(raw)), outstanding, rkey,
                address);
    }

    /** {@return it as the tools print it} */
    String text(String side, Verb verb) {
        StringBuilder text = new StringBuilder();
        text.append(String.format(Locale.ROOT, " %s address: LID %s QPN %#06x PSN %#06x", side,
                queuePair.lid() == 0
                        ? "0000"
                        : String.format(Locale.ROOT, "%#04x", queuePair.lid()),
                queuePair.number(), queuePair.psn()));
        if (verb == Verb.READ) {
            text.append(String.format(Locale.ROOT, " OUT %#04x", outstanding));
        }
        if (verb == Verb.READ || verb == Verb.WRITE) {
            text.append(String.format(Locale.ROOT, " RKey %#08x VAddr %#016x", rkey, address));
        }
        return text.toString();
    }

    /** {@return its GID, byte by byte in decimal} */
    String gidText() {
        byte[] raw = queuePair.gid().bytes();
        return " GID: " + IntStream.range(0, GID_BYTES)
                .mapToObj(i -> String.format(Locale.ROOT, "%02d", raw[i] & 0xff))
                .collect(Collectors.joining(":"));
    }
}
