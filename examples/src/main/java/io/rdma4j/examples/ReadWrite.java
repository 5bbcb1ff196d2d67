// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.examples;

import io.rdma4j.cm.CmId;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.WorkCompletion;

import java.io.PrintWriter;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.function.Consumer;

/**
 * One-sided operations: each side reads, or writes, the memory of the other while that does nothing.
 *
 * <p>Before a program can touch its peer's memory it has to know where it is and the key that opens it.
 * Two kinds of message do the talking; everything else happens without the other side's help:
 *
 * <pre>
 * MSG_MR    here is a region of mine: address and rkey
 * MSG_DONE  I need your region no longer
 * </pre>
 *
 * The course of one side:
 *
 * <ol>
 * <li>Connect; post receives for both messages before that.
 * <li>Send MSG_MR. Wait for the peer's.
 * <li>READ the peer's region into one's own memory, or WRITE one's own into the peer's region.
 * <li>When the completion says it is done, send MSG_DONE.
 * <li>Wait for the peer's MSG_DONE: only now may one's own region go away. In write mode the peer's message
 * lies in it now.
 * </ol>
 *
 * A WRITE tells the peer nothing; that is what MSG_DONE is for. Both sides use the same mode. The ids here
 * are synchronous, so that each step is one line; {@link BasicServer} shows the same with events.
 */
public final class ReadWrite {
    /** Which one-sided operation is used. */
    public enum Mode {
        /** Each side READs the other's memory. */
        READ,
        /** Each side WRITEs into the other's memory. */
        WRITE
    }

    private static final int REGION = 1024;
    private static final int MESSAGE = 16;
    private static final int MSG_MR = 1;
    private static final int MSG_DONE = 2;
    private static final Duration TIMEOUT = Duration.ofMillis(500);

    private ReadWrite() {}

    /** {@code server MODE [PORT]} or {@code client MODE HOST PORT}. */
    public static void main(String[] words) {
        Arguments.run("ReadWrite", "server read|write [PORT] | client read|write HOST PORT", words,
                arguments -> {
                    if (arguments.are("server", 2, 3)) {
                        serve(new InetSocketAddress(arguments.port(2, 0)), mode(arguments.text(1)),
                                arguments.out(), listener -> {});
                    } else if (arguments.are("client", 4, 4)) {
                        connect(arguments.peer(2), mode(arguments.text(1)), arguments.out());
                    } else {
                        throw new Arguments.Wrong();
                    }
                });
    }

    private static Mode mode(String name) throws Arguments.Wrong {
        return switch (name) {
            case "read" -> Mode.READ;
            case "write" -> Mode.WRITE;
            default -> throw new Arguments.Wrong();
        };
    }

    /** Serves one connection. */
    public static void serve(InetSocketAddress address, Mode mode, PrintWriter out,
            Consumer<CmId> onListening) throws RdmaException {
        serve(address, mode, out, onListening, Patience.USUAL);
    }

    static void serve(InetSocketAddress address, Mode mode, PrintWriter out,
            Consumer<CmId> onListening, Patience patience) throws RdmaException {
        try (CmId listener = CmId.create(PortSpace.TCP)) {
            listener.bindAddress(address);
            listener.listen(1);
            out.println("listening on port " + listener.localPort() + ".");
            onListening.accept(listener);
            try (CmId id = listener.awaitRequest();
                    Side side = new Side(id, "passive/server", patience)) {
                id.accept(new ConnectionParameters());
                side.exchange(mode, out);
                // The client disconnects; until then this side stays.
                patience.awaitEnd(id);
            }
        }
    }

    /** Runs the client's side once. */
    public static void connect(InetSocketAddress server, Mode mode, PrintWriter out)
            throws RdmaException {
        connect(server, mode, out, Patience.USUAL);
    }

    static void connect(InetSocketAddress server, Mode mode, PrintWriter out, Patience patience)
            throws RdmaException {
        try (CmId id = CmId.create(PortSpace.TCP)) {
            id.resolveAddress(server, TIMEOUT);
            id.resolveRoute(TIMEOUT);
            try (Side side = new Side(id, "active/client", patience)) {
                id.connect();
                side.exchange(mode, out);
                id.disconnect();
            }
        }
    }

    /** One side of a connection. */
    private static final class Side implements AutoCloseable {
        private final CmId id;
        private final Patience patience;
        private final Arena arena = Arena.ofShared();
        private final MemorySegment local = arena.allocate(REGION);
        private final MemorySegment remote = arena.allocate(REGION);
        private final MemorySegment sent = arena.allocate(MESSAGE);
        private final MemorySegment received = arena.allocate(3 * MESSAGE);
        private final MemoryRegion localRegion;
        private final MemoryRegion remoteRegion;
        private final MemoryRegion sentRegion;
        private final MemoryRegion receivedRegion;

        Side(CmId id, String name, Patience patience) throws RdmaException {
            this.id = id;
            this.patience = patience;
            id.createQueuePair();
            // What the peer READs, or what is written to it.
            localRegion = id.protectionDomain().register(local, AccessFlag.LOCAL_WRITE,
                    AccessFlag.REMOTE_READ);
            // What the peer WRITEs, or what is read from it.
            remoteRegion = id.protectionDomain().register(remote, AccessFlag.LOCAL_WRITE,
                    AccessFlag.REMOTE_WRITE);
            sentRegion = id.registerMessages(sent);
            receivedRegion = id.registerMessages(received);
            local.setString(0,
                    "message from " + name + " side with pid " + ProcessHandle.current().pid());
            // One receive for each message of the peer, and one that its end will flush.
            for (int i = 0; i < 3; i++) {
                id.postReceive(i, receivedRegion, (long) i * MESSAGE, MESSAGE);
            }
        }

        void exchange(Mode mode, PrintWriter out) throws RdmaException {
            MemoryRegion shared = mode == Mode.READ ? localRegion : remoteRegion;
            send(MSG_MR, shared.address(), shared.rkey());
            MemorySegment peer = receive(MSG_MR);
            long peerAddress = peer.get(ValueLayout.JAVA_LONG, 8);
            int peerKey = peer.get(ValueLayout.JAVA_INT, 4);
            out.println("received MSG_MR. " + (mode == Mode.READ
                    ? "reading message from remote memory..."
                    : "writing message to remote memory..."));
            if (mode == Mode.READ) {
                id.postRead(0, remoteRegion, 0, REGION, peerAddress, peerKey, SendFlag.SIGNALED);
            } else {
                id.postWrite(0, localRegion, 0, REGION, peerAddress, peerKey, SendFlag.SIGNALED);
            }
            patience.awaitSend(id);
            send(MSG_DONE, 0, 0);
            receive(MSG_DONE);
            out.println("remote buffer: " + remote.getString(0));
        }

        private void send(int type, long address, int rkey) throws RdmaException {
            sent.set(ValueLayout.JAVA_INT, 0, type);
            sent.set(ValueLayout.JAVA_INT, 4, rkey);
            sent.set(ValueLayout.JAVA_LONG, 8, address);
            id.postSend(0, sentRegion, 0, MESSAGE, SendFlag.SIGNALED);
            patience.awaitSend(id);
        }

        private MemorySegment receive(int type) throws RdmaException {
            WorkCompletion completion = patience.awaitReceive(id);
            MemorySegment message = received.asSlice(completion.id() * MESSAGE, MESSAGE);
            int found = message.get(ValueLayout.JAVA_INT, 0);
            if (found != type) {
                throw new RdmaException(Errno.EIO, "receive", "expected message type " + type
                        + ", got " + found + "; both sides must use the same mode");
            }
            return message;
        }

        @Override
        public void close() throws RdmaException {
            id.closeQueuePair();
            localRegion.close();
            remoteRegion.close();
            sentRegion.close();
            receivedRegion.close();
            arena.close();
        }
    }
}
