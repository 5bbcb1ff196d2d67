// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.examples;

import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.GidEntry;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaDevices;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.TransportType;
import io.rdma4j.verbs.WorkCompletion;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.foreign.Arena;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.function.IntConsumer;

/**
 * A reliable connection without the connection manager: two queue pairs brought up by hand.
 *
 * <p>What the connection manager does in messages of its own, this program does over an ordinary TCP
 * socket: each side tells the other
 *
 * <pre>
 * QPN  the number of its queue pair         → DESTINATION_QUEUE_PAIR
 * PSN  the first sequence number it sends   → RECEIVE_PSN
 * GID  its address                          → ADDRESS_VECTOR
 * </pre>
 *
 * and then takes its own queue pair through the states, each transition with the attributes that the
 * standard requires for it:
 *
 * <pre>
 * RESET → INIT  port, partition, what the peer may do        receives can be posted
 * INIT  → RTR   the three of the peer, path MTU, …           ready to receive
 * RTR   → RTS   own first PSN, time-out, retries, …          ready to send
 * </pre>
 *
 * A side must be in RTR before the peer's first packet comes, so both confirm over the socket that they are
 * before either sends. Then they play ping-pong, polling: no event, no sleep, the lowest latency.
 */
public final class ByHand {
    private static final int MESSAGE = 64;
    private static final int ROUNDS = 1000;
    private static final int PORT = 1;
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    private ByHand() {}

    /** {@code server DEVICE [TCP-PORT]} or {@code client DEVICE HOST TCP-PORT}. */
    public static void main(String[] words) {
        Arguments.run("ByHand", "server DEVICE [TCP-PORT] | client DEVICE HOST TCP-PORT", words,
                arguments -> {
                    if (arguments.are("server", 2, 3)) {
                        serve(arguments.text(1), arguments.port(2, 18515), arguments.out(),
                                listening -> {});
                    } else if (arguments.are("client", 4, 4)) {
                        InetSocketAddress server = arguments.peer(2);
                        connect(arguments.text(1), server.getAddress(), server.getPort(),
                                arguments.out());
                    } else {
                        throw new Arguments.Wrong();
                    }
                });
    }

    /** Waits for one client on a TCP port (0 for any). */
    public static void serve(String device, int tcpPort, PrintWriter out, IntConsumer onListening)
            throws IOException {
        serve(device, tcpPort, out, onListening, PATIENCE);
    }

    /** As above with a peer that may be silent for some time. */
    static void serve(String device, int tcpPort, PrintWriter out, IntConsumer onListening,
            Duration patience) throws IOException {
        try (ServerSocket listener = new ServerSocket(tcpPort)) {
            out.println("waiting on TCP port " + listener.getLocalPort() + ".");
            onListening.accept(listener.getLocalPort());
            try (Socket socket = listener.accept()) {
                run(device, socket, false, out, patience);
            }
        }
    }

    /** Connects to a waiting server. */
    public static void connect(String device, InetAddress server, int tcpPort, PrintWriter out)
            throws IOException {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(server, tcpPort), (int) PATIENCE.toMillis());
            run(device, socket, true, out, PATIENCE);
        }
    }

    private record Endpoint(int queuePair, int psn, Gid gid) {
        void write(DataOutputStream to) throws IOException {
            to.writeInt(queuePair);
            to.writeInt(psn);
            to.write(gid.bytes());
            to.flush();
        }

        static Endpoint read(DataInputStream from) throws IOException {
            return new Endpoint(from.readInt(), from.readInt(), Gid.of(from.readNBytes(16)));
        }

        @Override
        public String toString() {
            return String.format(Locale.ROOT, "QPN 0x%06x, PSN 0x%06x, GID %s", queuePair, psn,
                    gid);
        }
    }

    private static void run(String deviceName, Socket socket, boolean isClient, PrintWriter out,
            Duration patience) throws IOException {
        socket.setSoTimeout((int) patience.toMillis());
        try (Arena arena = Arena.ofShared();
                DeviceContext context = RdmaDevices.find(deviceName).open();
                ProtectionDomain domain = context.allocateProtectionDomain();
                CompletionQueue completions = context.createCompletionQueue(16);
                QueuePair queuePair = domain.createQueuePair(new QueuePairInitAttributes()
                        .completionQueue(completions)
                        .capabilities(QueuePairCapabilities.ofDepth(4, 4)));
                MemoryRegion region = domain.register(arena.allocate(2 * MESSAGE),
                        AccessFlag.LOCAL_WRITE)) {
            requireByHand(context);
            int gidIndex = gidIndex(context, socket.getLocalAddress());
            Endpoint own = new Endpoint(queuePair.number(), new SecureRandom().nextInt(1 << 24),
                    context.queryGid(PORT, gidIndex));
            DataOutputStream to = new DataOutputStream(socket.getOutputStream());
            DataInputStream from = new DataInputStream(socket.getInputStream());
            own.write(to);
            Endpoint peer = Endpoint.read(from);
            out.println("local:  " + own);
            out.println("remote: " + peer);

            toInit(queuePair);
            Game game = new Game(queuePair, completions, region);
            game.postReceive();
            toReadyToReceive(queuePair, peer, gidIndex,
                    context.queryPort(PORT).activeMtu());
            toReadyToSend(queuePair, own);
            out.println("queue pair is in state " + queuePair.state() + ".");
            awaitPeer(to, from);

            long startNs = System.nanoTime();
            game.play(isClient, patience);
            double microseconds = (System.nanoTime() - startNs) / 1e3;
            out.printf(Locale.ROOT, "%d round trips of %d bytes in %.0f us: %.2f us each%n", ROUNDS,
                    MESSAGE,
                    microseconds, microseconds / ROUNDS);
            // Neither side may close its queue pair while the other still waits for an answer.
            awaitPeer(to, from);
        }
    }

    private static void requireByHand(DeviceContext context) throws RdmaException {
        if (context.device().transport() == TransportType.IWARP) {
            throw RdmaException.unsupported("connect by hand", context.device().name()
                    + " speaks iWARP, whose connections the connection manager makes alone");
        }
    }

    /**
     * {@return the index of a GID by which the peer can reach this side} A device has one for each address of its interface,
     * and not all of them lead to each peer. The one of the socket's own end does; where the device has another address, for
     * example on loopback, the first of its IP version may.
     */
    private static int gidIndex(DeviceContext context, InetAddress local) throws RdmaException {
        List<GidEntry> table = context.queryGidTable();
        return table.stream().filter(entry -> entry.gid().address().equals(local)).findFirst()
                .or(() -> table.stream()
                        .filter(entry -> entry.gid().isIpv4() == local instanceof Inet4Address)
                        .findFirst())
                .orElseThrow(() -> new RdmaException(Errno.ENODEV, "find GID",
                        context.device().name() + " has no address of the kind of "
                                + local.getHostAddress()))
                .index();
    }

    private static void toInit(QueuePair queuePair) throws RdmaException {
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.INIT).port(PORT)
                .pkeyIndex(0).accessFlags(AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ));
    }

    private static void toReadyToReceive(QueuePair queuePair, Endpoint peer, int gidIndex, Mtu mtu)
            throws RdmaException {
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTR)
                .addressVector(AddressHandleAttributes.to(peer.gid(), gidIndex)).pathMtu(mtu)
                .destinationQueuePairNumber(peer.queuePair()).receivePsn(peer.psn())
                .maxDestinationReadAtomic(1).minRnrTimerCode(12));
    }

    private static void toReadyToSend(QueuePair queuePair, Endpoint own) throws RdmaException {
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTS).ackTimeoutExponent(14)
                .retryCount(7).rnrRetry(7).sendPsn(own.psn()).maxReadAtomic(1));
    }

    private static void awaitPeer(DataOutputStream to, DataInputStream from) throws IOException {
        to.writeByte('.');
        to.flush();
        from.readByte();
    }

    /** Ping-pong: the client sends first, each side answers what it receives. */
    private static final class Game {
        private final QueuePair queuePair;
        private final CompletionQueue completions;
        private final SendWorkRequest send;
        private final ReceiveWorkRequest receive;
        private final WorkCompletion completion = new WorkCompletion();
        private int sent;
        private int received;

        Game(QueuePair queuePair, CompletionQueue completions, MemoryRegion region) {
            this.queuePair = queuePair;
            this.completions = completions;
            // Requests are copied when they are posted, so one of each serves for all rounds.
            send = new SendWorkRequest().send().add(region, 0, MESSAGE).set(SendFlag.SIGNALED);
            receive = new ReceiveWorkRequest().add(region, MESSAGE, MESSAGE);
        }

        void postReceive() throws RdmaException {
            queuePair.postReceive(receive);
        }

        /**
         * A peer that dies while nothing of ours is under way goes unnoticed by the queue pair: only a
         * message that stays away tells.
         */
        void play(boolean isClient, Duration patience) throws RdmaException {
            if (isClient) {
                queuePair.postSend(send);
            }
            long lastNs = System.nanoTime();
            while (sent < ROUNDS || received < ROUNDS) {
                if (completions.poll(completion)) {
                    onCompletion(isClient);
                    lastNs = System.nanoTime();
                } else if (System.nanoTime() - lastNs > patience.toNanos()) {
                    throw new RdmaException(Errno.ETIMEDOUT, "play ping-pong",
                            "the peer has sent nothing for " + patience.toMillis()
                                    + " ms; it may have died");
                }
            }
        }

        private void onCompletion(boolean isClient) throws RdmaException {
            completion.requireSuccess("play ping-pong");
            switch (completion.opcode()) {
                case RECEIVE -> {
                    received++;
                    if (received < ROUNDS) {
                        postReceive();
                    }
                    if (!isClient || received < ROUNDS) {
                        queuePair.postSend(send);
                    }
                }
                default -> sent++;
            }
        }
    }
}
