// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.rsocket;

import io.rdma4j.verbs.SystemErrors;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** Sends one file, with progress and rate. */
final class CopyClient {
    /** Permissions of the copy where the system tells none. */
    private static final int READ_WRITE = 0644;
    private static final int CHUNK = 1 << 20;
    private static final int PATH_UNIT = 8;
    private static final int MAX_PATH = 4096;

    private final SocketChannel channel;
    private final PrintWriter out;

    CopyClient(SocketChannel channel, PrintWriter out) {
        this.channel = channel;
        this.out = out;
    }

    void send(Path file, String name) throws IOException {
        try (FileChannel from = FileChannel.open(file)) {
            say("opening...");
            open(name, mode(file));
            say("transferring");
            long bytes = from.size();
            long startNs = System.nanoTime();
            // A C server maps what it is to write, which fails for nothing: an empty file is there when it is open.
            if (bytes > 0) {
                ByteBuffer header = CopyMessage.buffer(CopyMessage.WRITE_BYTES);
                new CopyMessage(CopyMessage.WRITE, CopyMessage.WRITE_BYTES, 0, 0).put(header);
                channel.write(header.putLong(CopyMessage.BYTES, bytes));
                transfer(from, bytes);
                expect(CopyMessage.WRITE);
            }
            long elapsedNs = System.nanoTime() - startNs;
            say("...closing...");
            ByteBuffer closing = CopyMessage.buffer(CopyMessage.BYTES);
            new CopyMessage(CopyMessage.CLOSE, CopyMessage.BYTES, 0, 0).put(closing);
            channel.write(closing);
            expect(CopyMessage.CLOSE);
            out.println("done");
            out.printf("%d bytes in %.2f seconds = %.2f Gb/sec%n", bytes, elapsedNs / 1e9,
                    bytes * 8.0 / elapsedNs);
            out.flush();
        }
    }

    private void say(String text) {
        out.print(text);
        out.flush();
    }

    private static int mode(Path file) throws IOException {
        return Files.getFileStore(file).supportsFileAttributeView("unix")
                ? (int) Files.getAttribute(file, "unix:mode")
                : READ_WRITE;
    }

    private void open(String name, int mode) throws IOException {
        byte[] path = name.getBytes(StandardCharsets.UTF_8);
        if (path.length >= MAX_PATH) {
            throw new IOException("the name of the copy has " + path.length
                    + " bytes; it can have " + (MAX_PATH - 1));
        }
        int padded = (path.length + PATH_UNIT) / PATH_UNIT * PATH_UNIT;
        ByteBuffer opening = CopyMessage.buffer(CopyMessage.BYTES + padded);
        new CopyMessage(CopyMessage.OPEN, opening.limit(), mode, 0).put(opening);
        channel.write(opening.put(CopyMessage.BYTES, path));
        expect(CopyMessage.OPEN);
    }

    /** A dot for each tenth of the file. */
    private void transfer(FileChannel from, long bytes) throws IOException {
        ByteBuffer chunk = ByteBuffer.allocateDirect(CHUNK);
        long sent = 0;
        int dots = 0;
        while (sent < bytes) {
            chunk.clear().limit((int) Math.min(CHUNK, bytes - sent));
            if (from.read(chunk) < 0) {
                throw new IOException("the file has become shorter while it was copied");
            }
            sent += channel.write(chunk.flip());
            for (; dots < 10 * sent / bytes; dots++) {
                say(".");
            }
        }
    }

    private void expect(int command) throws IOException {
        CopyMessage answer = CopyMessage.receive(channel);
        if (answer == null || answer.command() != (command | CopyMessage.RESPONSE)) {
            throw new IOException("the server has not answered command " + command
                    + (answer == null ? "" : " but " + answer.command()));
        }
        if (answer.data() != 0) {
            throw new IOException("the server has refused: " + SystemErrors.text(answer.data()));
        }
    }
}
