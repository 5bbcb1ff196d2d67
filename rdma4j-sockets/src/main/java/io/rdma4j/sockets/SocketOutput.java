// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import java.io.IOException;
import java.io.OutputStream;

/** The output of a socket: a byte is written as several are. */
abstract class SocketOutput extends OutputStream {
    @Override
    public final void write(int value) throws IOException {
        write(new byte[]{(byte) value}, 0, 1);
    }

    @Override
    public abstract void write(byte[] from, int offset, int length) throws IOException;
}
