// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.rsocket;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;

/**
 * The header of each message of {@code rcopy}, 16 bytes in the order of the machine, which both must have in common: version 0,
 * command, length, data, ID.
 */
record CopyMessage(int command, int length, int data, long id) {
    static final int OPEN = 1;
    static final int CLOSE = 2;
    static final int WRITE = 3;
    /** Beside the command of a response, whose data are 0 or an errno. */
    static final int RESPONSE = 0x80;

    static final int BYTES = 16;
    /** A WRITE has the size of the file as well. */
    static final int WRITE_BYTES = BYTES + Long.BYTES;
    private static final int MAX_LENGTH = 0xffff;

    static ByteBuffer buffer(int bytes) {
        return ByteBuffer.allocate(bytes).order(ByteOrder.nativeOrder());
    }

    /** {@return the next message, null at the end of the stream} */
    static @Nullable CopyMessage receive(SocketChannel from) throws IOException {
        ByteBuffer in = buffer(BYTES);
        if (from.read(in) < 0) {
            return null;
        }
        fill(from, in);
        int version = in.get(0);
        CopyMessage message = new CopyMessage(in.get(1) & 0xff, in.getShort(2) & MAX_LENGTH,
                in.getInt(4), in.getLong(8));
        if (version != 0 || message.length < BYTES) {
            throw new IOException(
                    "invalid version " + version + " or length " + message.length);
        }
        return message;
    }

    /** Receives as many bytes as the buffer has room for. */
    static ByteBuffer fill(SocketChannel from, ByteBuffer into) throws IOException {
        while (into.hasRemaining()) {
            if (from.read(into) < 0) {
                throw new IOException(
                        "the peer has closed the connection; " + into.remaining()
                                + " bytes are missing");
            }
        }
        return into.flip();
    }

    void put(ByteBuffer into) {
        into.put(0, (byte) 0).put(1, (byte) command).putShort(2, (short) length).putInt(4, data)
                .putLong(8, id);
    }

    /** Answers it with 0 or an errno. */
    void answer(SocketChannel to, int status) throws IOException {
        ByteBuffer out = buffer(BYTES);
        new CopyMessage(command | RESPONSE, BYTES, status, id).put(out);
        to.write(out);
    }
}
