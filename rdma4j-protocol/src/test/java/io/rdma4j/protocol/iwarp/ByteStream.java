// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.iwarp;

import java.io.ByteArrayOutputStream;
import java.util.Random;

/** One direction of a byte stream: what is written comes out in order, in other pieces, and there is so much room. */
final class ByteStream {
    private final Random random;
    private final byte[] bytes;
    private int first;
    private int end;
    private boolean isClosed;
    private boolean isCut;
    private boolean isDamaging;
    private final ByteArrayOutputStream record = new ByteArrayOutputStream();

    /**
     * @param capacity the bytes that are in it at most
     * @param random how pieces are cut
     */
    ByteStream(int capacity, Random random) {
        bytes = new byte[capacity];
        this.random = random;
    }

    /** {@return the bytes of a piece that it took} */
    int write(byte[] from, int offset, int length) {
        if (isCut) {
            // Nothing follows what was lost: the network breaks a connection, and never leaves out a piece of it.
            return length;
        }
        int taken = Math.min(length, bytes.length - (end - first));
        if (taken > 1) {
            taken = 1 + random.nextInt(taken);
        }
        for (int i = 0; i < taken; i++) {
            bytes[(end + i) % bytes.length] = from[offset + i];
        }
        if (isDamaging && taken > 0) {
            isDamaging = false;
            bytes[end % bytes.length] ^= 1;
        }
        record.write(from, offset, taken);
        end += taken;
        return taken;
    }

    /** {@return the bytes of a piece that it gave; 0 for none now} */
    int read(byte[] into, int offset, int length) {
        int given = Math.min(length, end - first);
        if (given > 1) {
            given = 1 + random.nextInt(given);
        }
        for (int i = 0; i < given; i++) {
            into[offset + i] = bytes[(first + i) % bytes.length];
        }
        first += given;
        return given;
    }

    void close() {
        isClosed = true;
    }

    /** The next byte that is written is another. */
    void damageNext() {
        isDamaging = true;
    }

    /** What is in it is lost. */
    void cut() {
        first = end;
        isClosed = true;
        isCut = true;
    }

    boolean isAtEnd() {
        return isClosed && first == end;
    }

    /** {@return whether there is something to read} */
    boolean hasNews() {
        return first < end;
    }

    /** {@return all that was ever written} */
    byte[] record() {
        return record.toByteArray();
    }
}
