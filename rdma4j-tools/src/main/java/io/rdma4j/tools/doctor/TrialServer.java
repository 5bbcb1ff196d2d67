// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.doctor;

import io.rdma4j.jdk.TcpSockets;
import io.rdma4j.tools.output.OneLine;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.TransportType;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.io.PrintWriter;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;

/** The passive doctor: does its part of what others try with this host, one of them after the other, until it is ended. */
final class TrialServer {
    /** Of this exchange of lines. */
    static final String VERSION = "1";

    private static final Duration LONGEST = Duration.ofSeconds(30);
    private static final Duration STEP = Duration.ofSeconds(10);
    private static final Duration ARRIVAL = Duration.ofMillis(700);

    private final PrintWriter out;
    private final int port;

    TrialServer(PrintWriter out, int port) {
        this.out = out;
        this.port = port;
    }

    /** Serves without end. */
    void serve() throws IOException {
        try (ServerSocket listener = TcpSockets.listen(new InetSocketAddress(port), 0)) {
            say("listening on port " + listener.getLocalPort() + "; on the other host: doctor"
                    + (port == Doctor.PORT ? "" : " -p " + listener.getLocalPort()) + " HOST");
            while (true) {
                serve(listener.accept(), listener.getLocalPort());
            }
        } catch (BindException e) {
            throw new IOException("cannot listen on port " + port + ": " + e.getMessage()
                    + "; -p takes another", e);
        }
    }

    /** Whatever one peer does, the next is served. */
    private void serve(Socket socket, int listening) {
        String peer = socket.getInetAddress().getHostAddress();
        try (TrialChannel channel = new TrialChannel(socket, new Deadline(LONGEST));
                Visit visit = new Visit(channel, listening)) {
            visit.run();
            say(peer + ": has tried what it wanted");
        } catch (IOException e) {
            say(peer + ": " + OneLine.of(e));
        }
    }

    private void say(String line) {
        out.println(line);
        out.flush();
    }

    /** The trials with one peer. */
    private static final class Visit implements AutoCloseable {
        private final TrialChannel channel;
        private final int listening;
        private @Nullable PacketTrial packets;

        Visit(TrialChannel channel, int listening) {
            this.channel = channel;
            this.listening = listening;
        }

        void run() throws IOException {
            channel.answer("doctor", 2, STEP);
            channel.send("doctor " + VERSION + " " + plain(channel.remoteAddress()) + " "
                    + plain(channel.localAddress()));
            for (String[] asked = channel.receive(STEP); !asked[0].equals("end"); asked = channel
                    .receive(STEP)) {
                try {
                    channel.send(answer(asked));
                } catch (IOException e) {
                    channel.send(TrialChannel.REFUSED + " " + OneLine.of(e));
                }
            }
        }

        private String answer(String[] asked) throws IOException {
            return switch (asked[0]) {
                case "packets" -> connect(asked);
                case "send" -> send();
                case "arrived" -> "arrived " + text(requirePackets().arrived(ARRIVAL));
                case "listen" -> accept(asked);
                default ->
                    throw new IOException("the doctor here does not know '" + asked[0] + "'");
            };
        }

        private String connect(String[] asked) throws IOException {
            if (packets != null) {
                throw new IOException("one trial of packets at a time");
            }
            PacketTrial trial = new PacketTrial(channel.localAddress());
            packets = trial;
            trial.connect(asked, channel.remoteAddress());
            return "packets " + trial.words();
        }

        private String send() throws IOException {
            requirePackets().send();
            return "sent";
        }

        private PacketTrial requirePackets() throws IOException {
            PacketTrial trial = packets;
            if (trial == null) {
                throw new IOException("no packets were agreed on");
            }
            return trial;
        }

        /** Tells the port, and then what has come of it. */
        private String accept(String[] asked) throws IOException {
            TransportType transport = asked.length > 1 && asked[1].equals("iWARP")
                    ? TransportType.IWARP
                    : TransportType.INFINIBAND;
            InetAddress local = channel.localAddress();
            try (ConnectionTrial trial = ConnectionTrial.listen(transport, local, listening + 1)) {
                channel.send("listening " + trial.port());
                trial.serve(channel.deadline());
            }
            return "received";
        }

        @Override
        public void close() throws IOException {
            PacketTrial trial = packets;
            if (trial != null) {
                trial.close();
            }
        }
    }

    /** {@return an address as both sides write it: a scope is each host's own affair} */
    static String plain(InetAddress address) {
        return address.getHostAddress().replaceFirst("%.*", "");
    }

    static String text(List<Mtu> mtus) {
        return mtus.stream().map(each -> Integer.toString(each.bytes()))
                .collect(Collectors.joining(" "));
    }
}
