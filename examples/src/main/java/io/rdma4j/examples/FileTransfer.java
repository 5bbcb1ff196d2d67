// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.examples;

import io.rdma4j.cm.CmId;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.TransportType;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.WorkCompletionFlag;

import java.io.IOException;
import java.io.PrintWriter;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

/**
 * Sends a file by RDMA WRITE with immediate.
 *
 * <p>A plain WRITE is the fastest way to move bytes, but the receiver does not notice it. A WRITE <em>with
 * immediate</em> consumes a receive and completes it, with 32 bits of the sender's choice: here how many
 * bytes were written. iWARP has no immediates: there a SEND of four bytes follows the WRITE, posted together with it, and
 * cannot overtake it.
 *
 * <pre>
 * client                                          server
 *   connect ───────────────────────────────────▶  accept
 *                      ◀── MSG_MR: address, rkey, size of the server's buffer
 *   WRITE name with immediate = its length ────▶  opens the file
 *                      ◀── MSG_READY
 *   WRITE chunk with immediate = its length ───▶  appends it to the file
 *                      ◀── MSG_READY
 *   …
 *   WRITE nothing with immediate = 0 ──────────▶  closes the file
 *                      ◀── MSG_DONE
 * </pre>
 *
 * The receive that a WRITE with immediate consumes needs no memory, for the bytes go where the sender
 * says; this one has four bytes for the SEND. The sender must wait for MSG_READY before it overwrites the server's buffer.
 */
public final class FileTransfer {
    private static final int CHUNK = 1 << 20;
    private static final int MESSAGE = 24;
    /** The number of bytes, where there are no immediates. */
    private static final int LENGTH = 4;
    private static final int MSG_MR = 1;
    private static final int MSG_READY = 2;
    private static final int MSG_DONE = 3;
    private static final int MAX_NAME = 1024;
    private static final Duration TIMEOUT = Duration.ofMillis(500);

    private FileTransfer() {}

    /** {@code server DIRECTORY [PORT]} or {@code client HOST PORT FILE}. */
    public static void main(String[] words) {
        Arguments.run("FileTransfer", "server DIRECTORY [PORT] | client HOST PORT FILE", words,
                arguments -> {
                    if (arguments.are("server", 2, 3)) {
                        receive(new InetSocketAddress(arguments.port(2, 0)),
                                Path.of(arguments.text(1)), arguments.out(), listener -> {});
                    } else if (arguments.are("client", 4, 4)) {
                        send(arguments.peer(1), Path.of(arguments.text(3)), arguments.out());
                    } else {
                        throw new Arguments.Wrong();
                    }
                });
    }

    /** Receives one file into a directory. */
    public static void receive(InetSocketAddress address, Path directory, PrintWriter out,
            Consumer<CmId> onListening) throws IOException {
        receive(address, directory, out, onListening, Patience.USUAL);
    }

    static void receive(InetSocketAddress address, Path directory, PrintWriter out,
            Consumer<CmId> onListening, Patience patience) throws IOException {
        try (CmId listener = CmId.create(PortSpace.TCP); Arena arena = Arena.ofShared()) {
            listener.bindAddress(address);
            listener.listen(1);
            out.println("listening on port " + listener.localPort() + ".");
            onListening.accept(listener);
            try (CmId id = listener.awaitRequest()) {
                id.createQueuePair();
                MemorySegment buffer = arena.allocate(CHUNK);
                MemorySegment message = arena.allocate(MESSAGE + LENGTH);
                try (MemoryRegion region = id.protectionDomain().register(buffer,
                        AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
                        MemoryRegion messageRegion = id.registerMessages(message)) {
                    postReceive(id, messageRegion);
                    id.accept(new ConnectionParameters());
                    message.set(ValueLayout.JAVA_LONG, 8, region.address());
                    message.set(ValueLayout.JAVA_INT, 16, region.rkey());
                    message.set(ValueLayout.JAVA_INT, 20, CHUNK);
                    sendMessage(id, messageRegion, MSG_MR, patience);
                    writeFile(id, buffer, messageRegion, directory, out, patience);
                    sendMessage(id, messageRegion, MSG_DONE, patience);
                    // The client ends the connection, which flushes this receive.
                    postReceive(id, messageRegion);
                    patience.awaitEnd(id);
                    id.closeQueuePair();
                }
            }
        }
    }

    private static void writeFile(CmId id, MemorySegment buffer, MemoryRegion messageRegion,
            Path directory, PrintWriter out, Patience patience) throws IOException {
        int nameLength = awaitLength(id, messageRegion, patience);
        String name = fileName(new String(buffer.asSlice(0, Math.min(nameLength, MAX_NAME))
                .toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8));
        out.println("opening file " + name);
        try (FileChannel file = FileChannel.open(directory.resolve(name),
                StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            long total = 0;
            while (true) {
                postReceive(id, messageRegion);
                sendMessage(id, messageRegion, MSG_READY, patience);
                int length = awaitLength(id, messageRegion, patience);
                if (length == 0) {
                    out.println("finished transferring " + name + ": " + total + " bytes");
                    return;
                }
                ByteBuffer chunk = buffer.asSlice(0, length).asByteBuffer();
                while (chunk.hasRemaining()) {
                    file.write(chunk);
                }
                total += length;
            }
        }
    }

    /** A client may ask for no file outside the directory. */
    private static String fileName(String path) throws RdmaException {
        String name = path.substring(path.lastIndexOf('/') + 1);
        if (name.isEmpty() || name.equals(".") || name.equals("..") || name.indexOf('\0') >= 0) {
            throw new RdmaException(Errno.EINVAL, "receive file",
                    "the client's name is that of no file");
        }
        return name;
    }

    private static int awaitLength(CmId id, MemoryRegion messageRegion, Patience patience)
            throws RdmaException {
        WorkCompletion completion = patience.awaitReceive(id);
        int length = completion.has(WorkCompletionFlag.WITH_IMMEDIATE)
                ? completion.immediate()
                : messageRegion.segment().get(ValueLayout.JAVA_INT, MESSAGE);
        if (length < 0 || length > CHUNK) {
            throw new RdmaException(Errno.EIO, "receive file",
                    "the client claims a chunk of " + length + " bytes");
        }
        return length;
    }

    private static void postReceive(CmId id, MemoryRegion messageRegion) throws RdmaException {
        id.queuePair().postReceive(new ReceiveWorkRequest().add(messageRegion, MESSAGE, LENGTH));
    }

    private static void sendMessage(CmId id, MemoryRegion region, int type, Patience patience)
            throws RdmaException {
        region.segment().set(ValueLayout.JAVA_INT, 0, type);
        id.postSend(0, region, 0, MESSAGE, SendFlag.SIGNALED);
        patience.awaitSend(id);
    }

    /** Sends a file to a server. */
    public static void send(InetSocketAddress server, Path path, PrintWriter out)
            throws IOException {
        send(server, path, out, Patience.USUAL);
    }

    static void send(InetSocketAddress server, Path path, PrintWriter out, Patience patience)
            throws IOException {
        try (FileChannel file = FileChannel.open(path, StandardOpenOption.READ);
                CmId id = CmId.create(PortSpace.TCP);
                Arena arena = Arena.ofShared()) {
            id.resolveAddress(server, TIMEOUT);
            id.resolveRoute(TIMEOUT);
            id.createQueuePair();
            MemorySegment buffer = arena.allocate(CHUNK + LENGTH);
            MemorySegment message = arena.allocate(MESSAGE);
            try (MemoryRegion region = id.registerMessages(buffer);
                    MemoryRegion messageRegion = id.registerMessages(message)) {
                id.postReceive(0, messageRegion, 0, MESSAGE);
                id.connect();
                awaitMessage(id, messageRegion, MSG_MR, patience);
                long address = message.get(ValueLayout.JAVA_LONG, 8);
                int rkey = message.get(ValueLayout.JAVA_INT, 16);
                int chunk = Math.min(CHUNK, message.get(ValueLayout.JAVA_INT, 20));
                if (chunk < MAX_NAME) {
                    throw new RdmaException(Errno.EIO, "send file",
                            "the server claims a buffer of " + chunk + " bytes");
                }

                byte[] name = path.getFileName().toString()
                        .getBytes(StandardCharsets.UTF_8);
                MemorySegment.copy(name, 0, buffer, ValueLayout.JAVA_BYTE, 0, name.length);
                write(id, region, name.length, address, rkey, messageRegion, patience);
                awaitMessage(id, messageRegion, MSG_READY, patience);
                out.println("received MSG_READY. sending chunks of up to " + chunk + " bytes");
                int length;
                do {
                    length = Math.max(0, file.read(buffer.asSlice(0, chunk).asByteBuffer()));
                    write(id, region, length, address, rkey, messageRegion, patience);
                    awaitMessage(id, messageRegion, length == 0 ? MSG_DONE : MSG_READY, patience);
                } while (length > 0);
                out.println("received MSG_DONE. disconnecting");
                id.disconnect();
                id.closeQueuePair();
            }
        }
    }

    /** The receive for the answer is posted first: the server may be quick. */
    private static void write(CmId id, MemoryRegion region, int length, long address, int rkey,
            MemoryRegion messageRegion, Patience patience) throws RdmaException {
        id.postReceive(0, messageRegion, 0, MESSAGE);
        if (id.context().device().transport() == TransportType.IWARP) {
            region.segment().set(ValueLayout.JAVA_INT, CHUNK, length);
            id.queuePair().postSend(List.of(
                    new SendWorkRequest().write(address, rkey).add(region, 0, length),
                    new SendWorkRequest().send().add(region, CHUNK, LENGTH)
                            .set(SendFlag.SIGNALED)));
        } else {
            id.queuePair().postSend(new SendWorkRequest().writeWithImmediate(address, rkey, length)
                    .add(region, 0, length).set(SendFlag.SIGNALED));
        }
        patience.awaitSend(id);
    }

    private static void awaitMessage(CmId id, MemoryRegion region, int type, Patience patience)
            throws RdmaException {
        patience.awaitReceive(id);
        int found = region.segment().get(ValueLayout.JAVA_INT, 0);
        if (found != type) {
            throw new RdmaException(Errno.EIO, "send file",
                    "expected message type " + type + ", got " + found);
        }
    }
}
