// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.examples;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendFlag;

import java.io.PrintWriter;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.function.Consumer;

/**
 * A server that adds two numbers, and tells where its memory is while it accepts.
 *
 * <p>The messages of the connection manager have room for some bytes of the application. An acceptance can
 * carry up to 196; here the server puts address and rkey of its buffer into it, so that the client can
 * write from the first moment on, without a message of its own for that.
 *
 * <pre>
 * client                                    server
 *   connect ────────────────────────────────▶ accept(private data: address, rkey)
 *   WRITE first number ──────────────────────▶ lands in buffer[0]; the server does not notice
 *   SEND second number ──────────────────────▶ lands in buffer[1]; the receive completes
 *                                             ◀──────────────── SEND sum
 * </pre>
 *
 * The server needs no message to know that the first number is there: on one queue pair operations take
 * effect in the order they were posted, so when the SEND arrives, the WRITE before it has.
 *
 * <p>Numbers travel big endian, as all on the wire should that machines of different kinds may read.
 */
public final class Adding {
    private static final ValueLayout.OfInt NUMBER = ValueLayout.JAVA_INT
            .withOrder(ByteOrder.BIG_ENDIAN);
    /** Bytes of an address and a key. */
    private static final int WHERE = 12;
    private static final Duration TIMEOUT = Duration.ofMillis(500);

    private Adding() {}

    /** {@code server [PORT]} or {@code client HOST PORT A B}. */
    public static void main(String[] words) {
        Arguments.run("Adding", "server [PORT] | client HOST PORT A B", words, arguments -> {
            if (arguments.are("server", 1, 2)) {
                serve(new InetSocketAddress(arguments.port(1, 0)), arguments.out(), listener -> {});
            } else if (arguments.are("client", 5, 5)) {
                add(arguments.peer(1), arguments.number(3), arguments.number(4), arguments.out());
            } else {
                throw new Arguments.Wrong();
            }
        });
    }

    /** Adds for one client. */
    public static void serve(InetSocketAddress address, PrintWriter out,
            Consumer<CmId> onListening) throws RdmaException {
        serve(address, out, onListening, Patience.USUAL);
    }

    static void serve(InetSocketAddress address, PrintWriter out, Consumer<CmId> onListening,
            Patience patience) throws RdmaException {
        try (CmId listener = CmId.create(PortSpace.TCP); Arena arena = Arena.ofShared()) {
            listener.bindAddress(address);
            listener.listen(1);
            out.println("listening on port " + listener.localPort() + ".");
            onListening.accept(listener);
            MemorySegment buffer = arena.allocate(NUMBER, 2);
            try (CmId id = listener.awaitRequest()) {
                id.createQueuePair();
                try (MemoryRegion region = id.protectionDomain().register(buffer,
                        AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE)) {
                    id.postReceive(0, region, NUMBER.byteSize(), NUMBER.byteSize());
                    byte[] where = ByteBuffer.allocate(WHERE).putLong(region.address())
                            .putInt(region.rkey()).array();
                    id.accept(new ConnectionParameters().privateData(where));
                    patience.awaitReceive(id);

                    int first = buffer.getAtIndex(NUMBER, 0);
                    int second = buffer.getAtIndex(NUMBER, 1);
                    out.println("adding " + first + " and " + second + ".");
                    buffer.set(NUMBER, 0, first + second);
                    id.postSend(1, region, 0, NUMBER.byteSize(), SendFlag.SIGNALED);
                    patience.awaitSend(id);
                    id.disconnect();
                    id.closeQueuePair();
                }
            }
        }
    }

    /** {@return the sum as the server sees it} */
    public static int add(InetSocketAddress server, int first, int second, PrintWriter out)
            throws RdmaException {
        return add(server, first, second, out, Patience.USUAL);
    }

    static int add(InetSocketAddress server, int first, int second, PrintWriter out,
            Patience patience) throws RdmaException {
        try (CmId id = CmId.create(PortSpace.TCP); Arena arena = Arena.ofShared()) {
            id.resolveAddress(server, TIMEOUT);
            id.resolveRoute(TIMEOUT);
            id.createQueuePair();
            MemorySegment buffer = arena.allocate(NUMBER, 3);
            try (MemoryRegion region = id.registerMessages(buffer)) {
                buffer.setAtIndex(NUMBER, 0, first);
                buffer.setAtIndex(NUMBER, 1, second);
                id.postReceive(0, region, 2 * NUMBER.byteSize(), NUMBER.byteSize());
                id.connect();

                CmEvent established = id.event();
                if (established == null) {
                    throw new IllegalStateException("a step of a synchronous id leaves its event");
                }
                ByteBuffer where = ByteBuffer.wrap(established.privateData());
                if (where.remaining() < WHERE) {
                    throw new RdmaException(Errno.EIO, "add",
                            "the server does not tell where its memory is; it is another program");
                }
                long address = where.getLong();
                int rkey = where.getInt();
                id.postWrite(1, region, 0, NUMBER.byteSize(), address, rkey);
                id.postSend(2, region, NUMBER.byteSize(), NUMBER.byteSize());

                patience.awaitReceive(id);
                int sum = buffer.getAtIndex(NUMBER, 2);
                out.println(first + " + " + second + " = " + sum);
                id.closeQueuePair();
                return sum;
            }
        }
    }
}
