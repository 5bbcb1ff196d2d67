// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.cmtools;

import io.rdma4j.cm.AddressInfo;
import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.connection.PortSpace;

import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Objects;

/** Connects a client and a server: the common part of ucmatose and udaddy. */
final class Rendezvous implements AutoCloseable {
    /** What a tool does with connections, on their way and when all are there. */
    interface Service {
        /** The client's route is known: prepares and connects. */
        void connect(Connection connection) throws IOException;

        /** The server was asked: prepares and accepts. */
        void accept(Connection connection) throws IOException;

        void onEstablished(Connection connection, CmEvent event) throws IOException;

        void playServer() throws IOException;

        void playClient() throws IOException;
    }

    private static final Duration RESOLVE = Duration.ofSeconds(2);
    private static final int BACKLOG = 1024;

    private final String name;
    private final PrintWriter out;
    private final AddressOptions peer;
    private final PortSpace space;
    private final Workload workload;
    private final Service service;
    private final Connections connections;

    /** @param name what the C program calls itself in its output */
    Rendezvous(String name, PrintWriter out, AddressOptions peer, PortSpace space,
            Workload workload,
            Duration patience, Service service) {
        this.name = name;
        this.out = out;
        this.peer = peer;
        this.space = space;
        this.workload = workload;
        this.service = service;
        connections = new Connections(workload, patience, this::onEvent);
    }

    Connections connections() {
        return connections;
    }

    /**
     * Runs the requested side, server or client, from beginning to end.
     *
     * @param reached is run when all connections of a client are made
     */
    void run(String port, Runnable reached) throws IOException {
        try (this) {
            if (peer.isServer()) {
                serve(port);
                service.playServer();
            } else {
                connect(port);
                reached.run();
                service.playClient();
            }
        }
    }

    /** Waits for all clients. */
    private void serve(String port) throws IOException {
        InetSocketAddress local = peer.toBind(space, port);
        CmId listener = connections.listener(space);
        listener.bindAddress(local);
        listener.listen(BACKLOG);
        print(name + ": starting server");
        connections.awaitConnected();
    }

    /** Makes all connections. */
    private void connect(String port) throws IOException {
        print(name + ": starting client");
        AddressInfo info = peer.toConnect(space, port);
        connections.addAll(space);
        print(name + ": connecting");
        for (Connection connection : connections.all()) {
            connection.id().resolveAddress(info.source(),
                    Objects.requireNonNull(info.destination()),
                    RESOLVE);
        }
        connections.awaitConnected();
    }

    /** What is known of sent messages. */
    enum Sends {
        /** The peer shows by what it does next that they have arrived. */
        UNOBSERVED,
        /** Their completions are waited for. */
        COMPLETED
    }

    /** Sends all messages, and receives as many. */
    void initiate(Sends sends) throws IOException {
        if (workload.messages() == 0) {
            return;
        }
        print("initiating data transfers");
        connections.postSends();
        if (sends == Sends.COMPLETED) {
            print("completing sends");
            connections.awaitSends();
        }
        print("receiving data transfers");
        connections.awaitReceives();
        print("data transfers complete");
    }

    /** Receives all messages, and sends as many. */
    void reply(Sends sends) throws IOException {
        if (workload.messages() == 0) {
            return;
        }
        print("receiving data transfers");
        connections.awaitReceives();
        print("sending replies");
        connections.postSends();
        if (sends == Sends.COMPLETED) {
            connections.awaitSends();
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
            case ROUTE_RESOLVED -> service.connect(Connections.connectionOf(event));
            case CONNECT_REQUEST -> {
                Connection connection = connections.take(id);
                if (connection == null) {
                    print(name + ": failing connection request");
                } else {
                    service.accept(connection);
                }
            }
            case ESTABLISHED -> service.onEstablished(Connections.connectionOf(event), event);
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
        connections.close();
    }
}
