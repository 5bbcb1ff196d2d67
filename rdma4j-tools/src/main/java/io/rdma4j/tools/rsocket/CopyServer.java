// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.rsocket;

import io.rdma4j.verbs.Errno;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Receives the files of one client. */
final class CopyServer {
    private static final int CHUNK = 1 << 20;

    private final SocketChannel channel;
    private final PrintWriter out;
    private @Nullable FileChannel file;

    CopyServer(SocketChannel channel, PrintWriter out) {
        this.channel = channel;
        this.out = out;
    }

    void serve() throws IOException {
        try {
            for (CopyMessage message = CopyMessage
                    .receive(channel); message != null; message = CopyMessage.receive(channel)) {
                switch (message.command()) {
                    case CopyMessage.OPEN -> open(message);
                    case CopyMessage.WRITE -> write(message);
                    case CopyMessage.CLOSE -> close(message);
                    default -> {
                        message.answer(channel, Errno.EINVAL.number());
                        return;
                    }
                }
            }
        } finally {
            closeFile();
        }
    }

    private void say(String text) {
        out.print(text);
        out.flush();
    }

    private void open(CopyMessage message) throws IOException {
        byte[] path = CopyMessage
                .fill(channel, CopyMessage.buffer(message.length() - CopyMessage.BYTES)).array();
        int end = 0;
        while (end < path.length && path[end] != 0) {
            end++;
        }
        String name = new String(path, 0, end, StandardCharsets.UTF_8);
        say("opening: " + name + ", ");
        if (file != null) {
            out.println("cannot open another file");
            message.answer(channel, Errno.EBUSY.number());
            return;
        }
        try {
            file = FileChannel.open(Path.of(name), StandardOpenOption.CREATE,
                    StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE);
        } catch (IOException | RuntimeException e) {
            out.println("unable to open destination file: " + e.getMessage());
            message.answer(channel, Errno.EACCES.number());
            return;
        }
        message.answer(channel, 0);
    }

    private void write(CopyMessage message) throws IOException {
        say("transferring");
        FileChannel to = file;
        if (to == null || message.length() != CopyMessage.WRITE_BYTES) {
            out.println("...file not opened, or invalid message length " + message.length());
            message.answer(channel, Errno.EINVAL.number());
            return;
        }
        long left = CopyMessage.fill(channel, CopyMessage.buffer(Long.BYTES)).getLong(0);
        say("..." + left + " bytes...");
        ByteBuffer chunk = ByteBuffer.allocateDirect(CHUNK);
        while (left > 0) {
            chunk.clear().limit((int) Math.min(CHUNK, left));
            if (channel.read(chunk) < 0) {
                throw new IOException("the client has closed the connection; " + left
                        + " bytes are missing");
            }
            left -= chunk.position();
            chunk.flip();
            while (chunk.hasRemaining()) {
                to.write(chunk);
            }
        }
        message.answer(channel, 0);
    }

    private void close(CopyMessage message) throws IOException {
        say("closing...");
        closeFile();
        message.answer(channel, 0);
        out.println("done");
        out.flush();
    }

    private void closeFile() throws IOException {
        FileChannel open = file;
        file = null;
        if (open != null) {
            open.close();
        }
    }
}
