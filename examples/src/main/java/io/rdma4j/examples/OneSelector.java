// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.examples;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmEventChannel;
import io.rdma4j.cm.CmEventType;
import io.rdma4j.cm.CmId;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.CompletionQueueInitAttributes;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.WorkCompletionOpcode;

import java.io.IOException;
import java.io.PrintWriter;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * A server whose one thread serves plain TCP and RDMA at once: it answers each text with the same in capitals.
 *
 * <p>An event channel and a completion channel each have a channel that a selector can wait for, beside the
 * sockets of a program that has some already:
 *
 * <pre>
 *                      ┌─ server socket ──────── a TCP client comes
 *                      ├─ its sockets ────────── it has written something
 * selector.select() ◀──┤
 *                      ├─ event channel ──────── an RDMA client comes, or ends
 *                      └─ completion channel ─── a message has come, or is sent
 * </pre>
 *
 * Those two are readable while an event is there; taking it is all that has to be done about it. A completion
 * queue announces one event each time it is asked to. So the order is: acknowledge the event, ask for the next,
 * and then look at the queue until it is empty, for what came before the question is not announced.
 *
 * <p>A selector of the JDK's cannot wait where packets arrive, so each event costs a second wake-up. A program whose loop is its own
 * does without: it waits by {@link io.rdma4j.verbs.WaitSet#poll(Duration, Selector)}.
 *
 * <p>A TCP client that is killed ends with its socket. An RDMA client that is killed says nothing, so one that
 * has been silent for too long is disconnected.
 */
public final class OneSelector implements AutoCloseable {
    /** A text of at most this length can be sent on every device from memory without a region. */
    private static final int TEXT_BYTES = CmId.INLINE_DATA;
    private static final int DEPTH = 2;
    private static final Duration TIMEOUT = Duration.ofMillis(500);

    private final PrintWriter out;
    private final Patience patience;
    private final Selector selector = Selector.open();
    private final CmEventChannel events = CmEventChannel.create();
    private final CompletionChannel completions = CompletionChannel.create();
    private final Map<CmId, RdmaClient> clients = new HashMap<>();
    private int ended;

    /** What is to be done when a channel is ready. */
    @FunctionalInterface
    private interface Ready {
        void run() throws IOException;
    }

    private OneSelector(PrintWriter out, Patience patience) throws IOException {
        this.out = out;
        this.patience = patience;
        register(completions.selectableChannel(), SelectionKey.OP_READ, this::onCompletions);
    }

    /** {@code server [PORT]} or {@code client HOST PORT TEXT}; for TCP, for instance {@code nc HOST PORT}. */
    public static void main(String[] words) {
        Arguments.run("OneSelector", "server [PORT] | client HOST PORT TEXT", words, arguments -> {
            if (arguments.are("server", 1, 2)) {
                serve(new InetSocketAddress(arguments.port(1, 0)), Integer.MAX_VALUE,
                        arguments.out(),
                        listener -> {});
            } else if (arguments.are("client", 4, 4)) {
                ask(arguments.peer(1), arguments.text(3), arguments.out());
            } else {
                throw new Arguments.Wrong();
            }
        });
    }

    /**
     * Serves a number of clients.
     *
     * @param address where to listen, by TCP and by RDMA; port 0 for any
     * @param clientCount how many clients to see the end of before it ends
     * @param onListening gets the RDMA listener once clients of both kinds can connect
     */
    public static void serve(InetSocketAddress address, int clientCount, PrintWriter out,
            Consumer<CmId> onListening) throws IOException {
        serve(address, clientCount, out, onListening, Patience.USUAL);
    }

    static void serve(InetSocketAddress address, int clientCount, PrintWriter out,
            Consumer<CmId> onListening, Patience patience) throws IOException {
        try (OneSelector server = new OneSelector(out, patience);
                ServerSocketChannel sockets = ServerSocketChannel.open();
                CmId listener = CmId.create(server.events, PortSpace.TCP)) {
            server.register(server.events.selectableChannel(), SelectionKey.OP_READ,
                    () -> server.onEvent(listener));
            listener.bindAddress(address);
            listener.listen(10);
            int port = listener.localPort();
            int tcpPort = bind(sockets, address.getAddress(), port);
            server.register(sockets, SelectionKey.OP_ACCEPT, () -> server.accept(sockets));
            out.println("listening on port " + port
                    + (tcpPort == port ? "." : ", for TCP on port " + tcpPort + "."));
            onListening.accept(listener);
            server.serve(clientCount);
        }
    }

    /**
     * Both kinds of clients use one number where they can: the ports of the connection manager are not those of TCP, but on
     * iWARP, whose connections are TCP connections.
     */
    private static int bind(ServerSocketChannel sockets, InetAddress address, int port)
            throws IOException {
        try {
            sockets.bind(new InetSocketAddress(address, port));
        } catch (BindException taken) {
            sockets.bind(new InetSocketAddress(address, 0));
        }
        return sockets.socket().getLocalPort();
    }

    private SelectionKey register(SelectableChannel channel, int operations, Ready ready)
            throws IOException {
        channel.configureBlocking(false);
        return channel.register(selector, operations, ready);
    }

    private void serve(int clientCount) throws IOException {
        while (ended < clientCount) {
            selector.select(patience.limit().toMillis());
            for (SelectionKey key : selector.selectedKeys()) {
                ((Ready) key.attachment()).run();
            }
            selector.selectedKeys().clear();
            for (RdmaClient client : List.copyOf(clients.values())) {
                client.endIfSilent();
            }
        }
    }

    // ---------------------------------------------------------------- TCP

    private void accept(ServerSocketChannel sockets) throws IOException {
        SocketChannel socket = sockets.accept();
        if (socket != null) {
            out.println("a TCP client has come.");
            TcpClient client = new TcpClient(socket);
            register(socket, SelectionKey.OP_READ, client);
        }
    }

    /** One socket, either being read or, until its buffer is empty, written. */
    private final class TcpClient implements Ready {
        private final SocketChannel socket;
        private final ByteBuffer text = ByteBuffer.allocate(TEXT_BYTES);
        private int operation = SelectionKey.OP_READ;

        TcpClient(SocketChannel socket) {
            this.socket = socket;
        }

        @Override
        public void run() throws IOException {
            boolean isThere;
            try {
                isThere = answer();
            } catch (IOException e) {
                // It has been killed, for instance; the others are served on.
                isThere = false;
            }
            if (isThere) {
                socket.keyFor(selector).interestOps(operation);
            } else {
                socket.close();
                end("a TCP client");
            }
        }

        /** {@return false when the client has ended} */
        private boolean answer() throws IOException {
            if (operation == SelectionKey.OP_READ) {
                if (socket.read(text) < 0) {
                    return false;
                }
                text.flip();
                toCapitals(text);
            }
            socket.write(text);
            operation = text.hasRemaining() ? SelectionKey.OP_WRITE : SelectionKey.OP_READ;
            if (!text.hasRemaining()) {
                text.clear();
            }
            return true;
        }
    }

    private void end(String who) {
        out.println(who + " has ended.");
        ended++;
    }

    private static void toCapitals(ByteBuffer text) {
        for (int i = text.position(); i < text.limit(); i++) {
            byte letter = text.get(i);
            text.put(i, letter >= 'a' && letter <= 'z' ? (byte) (letter - 'a' + 'A') : letter);
        }
    }

    // ---------------------------------------------------------------- RDMA

    /** One event for each time that it is called: while others are there, the channel stays readable. */
    private void onEvent(CmId listener) throws RdmaException {
        CmEvent event = events.pollEvent(Duration.ZERO);
        if (event == null) {
            return;
        }
        boolean hasEnded;
        try (event) {
            if (event.type() == CmEventType.DEVICE_REMOVAL && event.id().equals(listener)) {
                throw event.failure("listen");
            }
            hasEnded = onEvent(event);
        }
        if (hasEnded) {
            end(event.id());
        }
    }

    /** {@return whether the connection has ended} */
    private boolean onEvent(CmEvent event) {
        try {
            return handle(event);
        } catch (RdmaException e) {
            out.println("connection failed: " + e.getMessage());
            return true;
        }
    }

    private boolean handle(CmEvent event) throws RdmaException {
        return switch (event.type()) {
            case CONNECT_REQUEST -> {
                out.println("an RDMA client has come.");
                RdmaClient client = new RdmaClient(event.id());
                clients.put(event.id(), client);
                client.accept();
                yield false;
            }
            case DISCONNECTED -> {
                event.id().disconnect();
                yield true;
            }
            case ESTABLISHED, TIMEWAIT_EXIT, ADDR_CHANGE, UNKNOWN -> false;
            default -> {
                out.println("connection failed: " + event.description());
                yield true;
            }
        };
    }

    private void end(CmId id) throws RdmaException {
        RdmaClient client = clients.remove(id);
        if (client != null) {
            client.close();
            end("an RDMA client");
        }
        id.close();
    }

    private void onCompletions() throws RdmaException {
        CompletionQueue queue = completions.pollEvent(Duration.ZERO);
        if (queue == null) {
            return;
        }
        queue.acknowledgeEvents(1);
        queue.requestNotification();
        WorkCompletion completion = new WorkCompletion();
        RdmaClient client = (RdmaClient) Objects.requireNonNull(queue.userContext());
        while (queue.poll(completion)) {
            try {
                client.onCompletion(completion);
            } catch (RdmaException e) {
                out.println("connection failed: " + e.getMessage());
                client.leave();
            }
        }
    }

    /** One connection. Its completion queue knows it, and announces completions in the channel that all share. */
    private final class RdmaClient implements AutoCloseable {
        private final CmId id;
        private final CompletionQueue queue;
        private final Arena arena = Arena.ofShared();
        private final MemorySegment text = arena.allocate(TEXT_BYTES);
        private final MemoryRegion region;
        private long answeredNs = System.nanoTime();
        private boolean isLeft;

        RdmaClient(CmId id) throws RdmaException {
            this.id = id;
            queue = id.context().createCompletionQueue(new CompletionQueueInitAttributes()
                    .capacity(2 * DEPTH).channel(completions).userContext(this));
            region = id.registerMessages(text);
        }

        void accept() throws RdmaException {
            queue.requestNotification();
            id.createQueuePair(new QueuePairInitAttributes().completionQueue(queue)
                    .capabilities(QueuePairCapabilities.ofDepth(DEPTH, DEPTH)));
            id.postReceive(0, region, 0, TEXT_BYTES);
            id.accept(new ConnectionParameters());
        }

        void onCompletion(WorkCompletion completion) throws RdmaException {
            if (!completion.isSuccess() || completion.opcode() != WorkCompletionOpcode.RECEIVE) {
                // A failure ends the connection, of which an event tells.
                return;
            }
            answeredNs = System.nanoTime();
            byte[] answer = text.asSlice(0, completion.byteLength())
                    .toArray(ValueLayout.JAVA_BYTE);
            toCapitals(ByteBuffer.wrap(answer));
            // First the receive: with the answer the client may send its next text.
            id.postReceive(0, region, 0, TEXT_BYTES);
            id.postSend(1, MemorySegment.ofArray(answer), SendFlag.SIGNALED);
        }

        void endIfSilent() throws RdmaException {
            if (!isLeft && System.nanoTime() - answeredNs > patience.limit().toNanos()) {
                out.println(
                        "an RDMA client has been silent for too long; it may have been killed.");
                leave();
            }
        }

        /** Brings DISCONNECTED, at the latest when the peer has not answered. */
        void leave() throws RdmaException {
            isLeft = true;
            id.disconnect();
        }

        @Override
        public void close() throws RdmaException {
            id.closeQueuePair();
            queue.close();
            region.close();
            arena.close();
        }
    }

    @Override
    public void close() throws IOException {
        for (CmId id : List.copyOf(clients.keySet())) {
            end(id);
        }
        events.close();
        completions.close();
        for (SelectionKey key : selector.keys()) {
            key.channel().close();
        }
        selector.close();
    }

    // ---------------------------------------------------------------- the client

    /** {@return the server's answer, by RDMA} */
    public static String ask(InetSocketAddress server, String text, PrintWriter out)
            throws RdmaException {
        return ask(server, text, out, Patience.USUAL);
    }

    static String ask(InetSocketAddress server, String text, PrintWriter out, Patience patience)
            throws RdmaException {
        byte[] question = text.getBytes(StandardCharsets.UTF_8);
        if (question.length > TEXT_BYTES) {
            throw new RdmaException(Errno.EMSGSIZE, "ask",
                    "the text has " + question.length + " bytes; at most " + TEXT_BYTES + " fit");
        }
        try (CmId id = CmId.create(PortSpace.TCP); Arena arena = Arena.ofShared()) {
            id.resolveAddress(server, TIMEOUT);
            id.resolveRoute(TIMEOUT);
            id.createQueuePair(new QueuePairInitAttributes()
                    .capabilities(QueuePairCapabilities.ofDepth(DEPTH, DEPTH)));
            MemorySegment buffer = arena.allocate(TEXT_BYTES);
            try (MemoryRegion region = id.registerMessages(buffer)) {
                id.postReceive(0, region, 0, TEXT_BYTES);
                id.connect();
                id.postSend(1, MemorySegment.ofArray(question));
                WorkCompletion received = patience.awaitReceive(id);
                String answer = new String(buffer.asSlice(0, received.byteLength())
                        .toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8);
                out.println(answer);
                id.disconnect();
                id.closeQueuePair();
                return answer;
            }
        }
    }
}
