// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.doctor;

import io.rdma4j.jdk.TcpSockets;
import io.rdma4j.tools.output.OneLine;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SystemErrors;
import io.rdma4j.verbs.TransportType;

import java.io.IOException;
import java.net.ConnectException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** What works between this host and one where a doctor serves, and what stands between. Ends in time whatever happens. */
final class PeerCheck {
    private static final Duration LONGEST = Duration.ofSeconds(25);
    private static final Duration CONNECT = Duration.ofSeconds(4);
    private static final Duration STEP = Duration.ofSeconds(7);
    private static final Duration ARRIVAL = Duration.ofMillis(700);
    private static final String RULE = "nft add rule inet filter input ";

    private final String host;
    private final int port;
    private final Checklist checklist;
    private final Deadline deadline = new Deadline(LONGEST);

    PeerCheck(String host, int port, Checklist checklist) {
        this.host = host;
        this.port = port;
        this.checklist = checklist;
    }

    void run() {
        checklist.heading(host);
        try (Socket socket = connected()) {
            try (TrialChannel channel = new TrialChannel(socket, deadline)) {
                checklist.ok("TCP port " + port + " of " + text(channel.remoteAddress())
                        + " answers, to " + text(channel.localAddress()));
                channel.send("doctor " + TrialServer.VERSION);
                if (isUntranslated(channel)) {
                    checkPackets(channel);
                }
                checkConnection(channel, TransportType.IWARP);
                channel.send("end");
            }
        } catch (IOException e) {
            checklist.failed(OneLine.of(e));
        }
    }

    // ---------------------------------------------------------------- TCP

    /** {@return a connection to the first address of the host that answers} */
    private Socket connected() throws IOException {
        IOException failure = null;
        for (InetAddress address : addresses()) {
            Socket socket = TcpSockets.socket();
            try {
                socket.connect(new InetSocketAddress(address, port),
                        (int) deadline.atMost(CONNECT).toMillis());
                return socket;
            } catch (IOException e) {
                socket.close();
                failure = failure == null ? unconnected(address, e) : failure;
                if (deadline.isHalfOver()) {
                    break;
                }
            }
        }
        throw failure == null ? new IOException(host + " has no address") : failure;
    }

    private InetAddress[] addresses() throws IOException {
        try {
            return InetAddress.getAllByName(host);
        } catch (UnknownHostException e) {
            throw new IOException("unknown host '" + host + "'", e);
        }
    }

    private IOException unconnected(InetAddress address, IOException e) {
        String at = "TCP port " + port + " of " + text(address);
        if (e instanceof SocketTimeoutException) {
            return new IOException(at + " gives no answer: the host is down, or a firewall there or"
                    + " on the way drops it (" + RULE + "tcp dport " + port + " accept)", e);
        }
        if (isRefused(e)) {
            return new IOException(at + " is refused: start 'doctor -s' there", e);
        }
        if (address instanceof Inet6Address scoped && scoped.isLinkLocalAddress()
                && scoped.getScopeId() == 0) {
            return new IOException(at + ": a link-local address needs its interface, as in " + host
                    + "%eth0", e);
        }
        return new IOException(at + " cannot be reached: " + e.getMessage(), e);
    }

    /** {@return whether no program listens} The JDK says it by the kind of exception, which it also takes for time-outs. */
    static boolean isRefused(IOException e) {
        return e instanceof ConnectException
                && !SystemErrors.words(Errno.ETIMEDOUT.number()).equals(e.getMessage());
    }

    /** {@return whether each side has the addresses by which the other knows it} RoCE works only then. */
    private boolean isUntranslated(TrialChannel channel) throws IOException {
        String[] received = channel.answer("doctor", 4, STEP);
        String own = TrialServer.plain(channel.localAddress());
        String peers = TrialServer.plain(channel.remoteAddress());
        if (received[2].equals(own) && received[3].equals(peers)) {
            return true;
        }
        checklist.failed("RoCE does not pass here: addresses are translated on the way (NAT), "
                + (received[2].equals(own)
                        ? peers + " is " + received[3] + " itself"
                        : "this host is " + own + ", and the other sees " + received[2])
                + "; the checksum of RoCE's packets covers their addresses. iWARP passes");
        return false;
    }

    // ---------------------------------------------------------------- RoCE's packets

    private void checkPackets(TrialChannel channel) throws IOException {
        try (PacketTrial trial = new PacketTrial(channel.localAddress())) {
            channel.send("packets " + trial.words());
            Mtu theirs = trial.connect(channel.answer("packets", 1, STEP),
                    channel.remoteAddress());
            checklist.ok("RoCE here is " + trial.device() + ", path MTU " + trial.ownMtu().bytes()
                    + "; there " + theirs.bytes()
                    + (theirs == trial.ownMtu()
                            ? ""
                            : ": connections by hand need -m " + trial.mtu().bytes()));
            trial.send();
            channel.send("arrived");
            boolean isThere = report(trial, mtus(channel.answer("arrived", 1, STEP)), true,
                    channel.remoteAddress());
            channel.send("send");
            channel.answer("sent", 1, STEP);
            boolean isBack = report(trial, trial.arrived(ARRIVAL), false, channel.localAddress());
            if (isThere && isBack) {
                checkConnection(channel, TransportType.INFINIBAND);
            }
        } catch (RdmaException e) {
            checklist.failed("RoCE here: " + OneLine.of(e));
        }
    }

    private static List<Mtu> mtus(String[] words) {
        List<String> all = Arrays.asList(words);
        return Arrays.stream(Mtu.values())
                .filter(each -> all.contains(Integer.toString(each.bytes()))).toList();
    }

    /**
     * Tells what has arrived.
     *
     * @param to the receiver's address
     * @return whether connections are possible
     */
    private boolean report(PacketTrial trial, List<Mtu> arrived, boolean isThere, InetAddress to) {
        String way = "RoCE packets " + (isThere ? "to " : "from ") + host;
        if (arrived.isEmpty()) {
            checklist.failed(way + ": none arrives; a firewall "
                    + (isThere ? "there" : "here") + " or on the way drops UDP port 4791 towards "
                    + text(to) + ", or the sender's own does (" + (isThere ? "there: " : "here: ")
                    + RULE + "udp dport 4791 accept)");
            return false;
        }
        List<Mtu> missing = new ArrayList<>(trial.tried());
        missing.removeAll(arrived);
        Mtu largest = arrived.getLast();
        if (missing.isEmpty()) {
            checklist.ok(way + ": those of path MTU " + largest.bytes() + " arrive");
            return true;
        }
        Mtu first = missing.getFirst();
        checklist.failed(first.bytes() < largest.bytes()
                ? way + ": some are lost, of those of path MTU " + TrialServer.text(missing)
                : way + ": those of path MTU " + largest.bytes() + " arrive, and those of "
                        + first.bytes() + " do not: a hop on the way has an MTU smaller than "
                        + (first.bytes() + headers(to)) + "; until that is mended, tools need -m "
                        + largest.bytes());
        return false;
    }

    /** {@return bytes of the longest headers of a packet}  IP, UDP, BTH, RETH, immediate data, ICRC. */
    private static int headers(InetAddress to) {
        return (to instanceof Inet6Address ? 40 : 20) + 8 + 12 + 16 + 4 + 4;
    }

    // ---------------------------------------------------------------- connections

    private void checkConnection(TrialChannel channel, TransportType transport)
            throws IOException {
        String name = ConnectionTrial.name(transport);
        String[] received;
        try {
            channel.send("listen " + name);
            received = channel.answer("listening", 2, STEP);
        } catch (IOException e) {
            checklist.failed(name + ": " + OneLine.of(e));
            return;
        }
        int at = port(received[1]);
        boolean isAnswerDue = true;
        try {
            ConnectionTrial.connect(transport, channel.localAddress(),
                    new InetSocketAddress(channel.remoteAddress(), at), deadline);
            isAnswerDue = false;
            channel.answer("received", 1, STEP);
            checklist.ok(name + ": connected to port " + at + ", and a message of "
                    + TransferEnd.LENGTH + " bytes arrived");
        } catch (IOException e) {
            if (isAnswerDue) {
                // The other side is still waiting; what it says when it has waited long enough tells nothing more.
                channel.receive(STEP);
            }
            checklist.failed(name + " to port " + at + ": " + OneLine.of(e)
                    + (transport == TransportType.IWARP
                            ? "; a firewall there or on the way may drop that TCP port (" + RULE
                                    + "tcp dport " + at + " accept)"
                            : ""));
        }
    }

    private static int port(String word) throws IOException {
        try {
            int port = Integer.parseInt(word);
            if (port > 0 && port < 1 << 16) {
                return port;
            }
        } catch (NumberFormatException e) {
            // Told below.
        }
        throw new IOException("the peer does not speak as a doctor of this version does");
    }

    private static String text(InetAddress address) {
        return address.getHostAddress();
    }
}
