// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.rsocket;

import java.nio.ByteBuffer;

/**
 * The datagram of {@code udpong}, in network order: operation, client and sequence number, a byte each; a byte that says nothing; a number of 32 bits; then
 * bytes that say nothing.
 */
final class PongMessage {
    /** How long those are that begin or end something. */
    static final int CONTROL_BYTES = 16;
    /** How long one can be over IPv4. */
    static final int MOST_BYTES = 2040;

    static final int LOGIN = 0;
    static final int START = 1;
    static final int DATA = 2;
    static final int ECHO = 3;
    static final int END = 4;

    private static final int CLIENT = 1;
    private static final int SEQUENCE = 2;
    private static final int NUMBER = 4;

    private final ByteBuffer bytes = ByteBuffer.allocateDirect(2 * MOST_BYTES);

    /** {@return its bytes, to be sent: so many} */
    ByteBuffer sent(int size) {
        return bytes.clear().limit(size);
    }

    /** {@return where it is received} */
    ByteBuffer room() {
        return bytes.clear();
    }

    int operation() {
        return bytes.get(0);
    }

    void operation(int value) {
        bytes.put(0, (byte) value);
    }

    int client() {
        return bytes.get(CLIENT) & 0xff;
    }

    void client(int value) {
        bytes.put(CLIENT, (byte) value);
    }

    int sequence() {
        return bytes.get(SEQUENCE) & 0xff;
    }

    void sequence(int value) {
        bytes.put(SEQUENCE, (byte) value);
    }

    long number() {
        return bytes.getInt(NUMBER) & 0xffff_ffffL;
    }

    void number(long value) {
        bytes.putInt(NUMBER, (int) value);
    }
}
