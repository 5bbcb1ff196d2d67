package io.rdma4j.tools.cmtools;

import io.rdma4j.cm.AddressInfo;
import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.PortSpace;

import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Objects;

/** How a client and a server come together: what ucmatose and udaddy have in common. */
final class Meeting implements AutoCloseable {
    /** What a tool does with connections, on their way and when all are there. */
    interface Service {
        /** The client's route is known: prepares and connects. */
        void connect(Node node) throws IOException;

        /** The server was asked: prepares and accepts. */
        void accept(Node node) throws IOException;

        void onEstablished(Node node, CmEvent event) throws IOException;

        void playServer() throws IOException;

        void playClient() throws IOException;
    }

    private static final Duration RESOLVE = Duration.ofSeconds(2);
    private static final int BACKLOG = 1024;

    private final String name;
    private final PrintWriter out;
    private final PeerOptions peer;
    private final PortSpace space;
    private final Load load;
    private final Service service;
    private final Gathering gathering;

    /** @param name what the C program calls itself in its output */
    Meeting(String name, PrintWriter out, PeerOptions peer, PortSpace space, Load load,
            Duration patience, Service service) {
        this.name = name;
        this.out = out;
        this.peer = peer;
        this.space = space;
        this.load = load;
        this.service = service;
        gathering = new Gathering(load, patience, this::onEvent);
    }

    Gathering gathering() {
        return gathering;
    }

    /** Plays the server or the client, whichever was asked for, from beginning to end. */
    void run(String port) throws IOException {
        try (this) {
            if (peer.isServer()) {
                serve(port);
                service.playServer();
            } else {
                connect(port);
                service.playClient();
            }
        }
    }

    /** Waits for all clients. */
    private void serve(String port) throws IOException {
        InetSocketAddress local = peer.toBind(space, port);
        CmId listener = gathering.listener(space);
        listener.bindAddress(local);
        listener.listen(BACKLOG);
        print(name + ": starting server");
        gathering.awaitConnected();
    }

    /** Makes all connections. */
    private void connect(String port) throws IOException {
        print(name + ": starting client");
        AddressInfo info = peer.toConnect(space, port);
        gathering.addAll(space);
        print(name + ": connecting");
        for (Node node : gathering.nodes()) {
            node.id().resolveAddress(info.source(), Objects.requireNonNull(info.destination()),
                    RESOLVE);
        }
        gathering.awaitConnected();
    }

    /** What is known of messages that were sent. */
    enum Sends {
        /** The peer shows by what it does next that they have arrived. */
        UNOBSERVED,
        /** Their completions are waited for. */
        COMPLETED
    }

    /** Sends all messages, and receives as many. */
    void initiate(Sends sends) throws IOException {
        if (load.messages() == 0) {
            return;
        }
        print("initiating data transfers");
        gathering.postSends();
        if (sends == Sends.COMPLETED) {
            print("completing sends");
            gathering.awaitSends();
        }
        print("receiving data transfers");
        gathering.awaitReceives();
        print("data transfers complete");
    }

    /** Receives all messages, and sends as many. */
    void reply(Sends sends) throws IOException {
        if (load.messages() == 0) {
            return;
        }
        print("receiving data transfers");
        gathering.awaitReceives();
        print("sending replies");
        gathering.postSends();
        if (sends == Sends.COMPLETED) {
            gathering.awaitSends();
        }
        print("data transfers complete");
    }

    private void onEvent(CmEvent event) throws IOException {
        CmId id = event.id();
        switch (event.type()) {
            case ADDR_RESOLVED -> {
                Integer tos = peer.typeOfService();
                if (tos != null) {
                    id.typeOfService(tos);
                }
                id.resolveRoute(RESOLVE);
            }
            case ROUTE_RESOLVED -> service.connect(Gathering.nodeOf(event));
            case CONNECT_REQUEST -> {
                Node node = gathering.take(id);
                if (node == null) {
                    print(name + ": failing connection request");
                } else {
                    service.accept(node);
                }
            }
            case ESTABLISHED -> service.onEstablished(Gathering.nodeOf(event), event);
            default -> {
                // Nothing to do for the others.
            }
        }
    }

    void print(String line) {
        out.println(line);
        out.flush();
    }

    @Override
    public void close() throws IOException {
        gathering.close();
    }
}
