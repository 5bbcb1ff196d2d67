// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.iwarp;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.softnic.QuietRounds;
import io.rdma4j.softnic.device.SecureNumbers;
import io.rdma4j.softnic.device.SoftNic;
import io.rdma4j.softnic.network.linux.stream.LinuxStreams;
import io.rdma4j.softnic.network.linux.stream.ListeningSockets;
import io.rdma4j.softnic.network.stream.CountedWaits;
import io.rdma4j.softnic.network.stream.PortableStreams;
import io.rdma4j.softnic.network.stream.StreamNetwork;
import io.rdma4j.softnic.verbs.SoftDeviceContext;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

import static org.assertj.core.api.Assumptions.assumeThat;

/** After any way to close or to fail, a quiet iWARP device uses no processor, whatever its connections still wait for. */
class QuietStreamsTest {
    enum Backend {
        LINUX, PORTABLE;

        StreamNetwork network() throws RdmaException {
            return this == LINUX ? new LinuxStreams() : new PortableStreams();
        }
    }

    /** How a connection ends, of which most have much to send to a peer that does not read. */
    enum End {
        NONE,
        CLOSED,
        FAILED,
        RESET,
        DISCONNECTED,
        PEER_FINISHED,
        PEER_RESET,
        DISCONNECTED_IN_ORDER,
        REFUSED,
        NOT_ASKED,
        LISTENER_CLOSED,
        /** The system lets the listener accept no connection any more, and goes on to say that there is one. */
        ACCEPT_REFUSED;

        boolean canHappen() {
            return this != ACCEPT_REFUSED || LinuxStreams.obstacle() == null;
        }
    }

    private static final class Device {
        final CountedWaits network;
        final SoftNic nic;

        Device(Backend backend, String threadName) throws Exception {
            network = new CountedWaits(backend.network());
            IwarpSettings settings = IwarpSettings.ofSystem(IwarpPatience.USUAL);
            nic = new SoftNic(IwarpStage.device(IwarpFamily.IWARP),
                    host -> new IwarpTransport(network, settings, host), new SecureNumbers(),
                    System::nanoTime, threadName);
            nic.start(IwarpStage.ADDRESS);
        }
    }

    /** A connection on a device of its own, and its end. */
    private static final class Scene extends IwarpStage {
        private final Device device;
        private final End end;
        private final List<Socket> peers = new ArrayList<>();

        Scene(Device device, End end) throws Exception {
            super(new SoftDeviceContext(device.nic), ADDRESS);
            this.device = device;
            this.end = end;
        }

        void play() throws Exception {
            switch (end) {
                case NONE -> deaf();
                case CLOSED -> {
                    deaf();
                    server.queuePair.close();
                }
                case FAILED -> {
                    deaf();
                    modify(QueuePairState.ERR);
                }
                case RESET -> {
                    deaf();
                    modify(QueuePairState.RESET);
                }
                case DISCONNECTED -> {
                    deaf();
                    server.connected().disconnect();
                }
                case PEER_FINISHED -> deaf().shutdownOutput();
                case PEER_RESET -> {
                    Socket peer = deaf();
                    peer.setSoLinger(true, 0);
                    peer.close();
                }
                case DISCONNECTED_IN_ORDER -> {
                    connect();
                    client.connected().disconnect();
                    server.awaitWord("over");
                }
                case REFUSED -> {
                    peers.add(askAsInitiatorOfRevisionOne(listen()));
                    server.connected().close();
                }
                case NOT_ASKED -> {
                    int port = listen();
                    peers.add(new Socket(ADDRESS, port));
                    new Socket(ADDRESS, port).close();
                }
                case LISTENER_CLOSED -> {
                    int port = listen();
                    peers.add(new Socket(ADDRESS, port));
                    Objects.requireNonNull(listener).close();
                }
                case ACCEPT_REFUSED -> ListeningSockets
                        .stop(new InetSocketAddress(ADDRESS, listen()));
            }
        }

        private void modify(QueuePairState next) throws RdmaException {
            server.queuePair.modify(new QueuePairAttributes().state(next));
        }

        /** {@return a peer that does not read what is sent to it} */
        private Socket deaf() throws Exception {
            Socket peer = askAsInitiatorOfRevisionOne(listen());
            peers.add(peer);
            server.connected().accept(new ConnectionParameters(), server.queuePair.number());
            server.awaitWord("established");
            peer.getOutputStream().write(ConnectionEndTest.EMPTY_WRITE);
            for (int i = 0; i < DEPTH; i++) {
                server.queuePair.postSend(new SendWorkRequest().id(i).send()
                        .add(server.region, 0, SIZE).set(SendFlag.SIGNALED));
            }
            return peer;
        }

        void leave() throws Exception {
            for (Socket peer : peers) {
                peer.close();
            }
            close();
            device.nic.shutDown();
        }
    }

    @ParameterizedTest
    @EnumSource(Backend.class)
    void afterAnyEndItsThreadSleeps(Backend backend) throws Exception {
        if (backend == Backend.LINUX) {
            assumeThat(LinuxStreams.obstacle()).isNull();
        }
        QuietRounds rounds = new QuietRounds();
        List<Scene> scenes = new ArrayList<>();
        try {
            for (End end : Stream.of(End.values()).filter(End::canHappen).toList()) {
                Device device = new Device(backend, "quiet-" + end);
                rounds.add(end.name(), device.network::waits);
                scenes.add(new Scene(device, end));
            }
            for (Scene scene : scenes) {
                scene.play();
            }
            rounds.await("after the end");
        } finally {
            for (Scene scene : scenes) {
                scene.leave();
            }
        }
    }
}
