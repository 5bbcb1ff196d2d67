// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.perftest;

import io.rdma4j.tools.endpoint.LocalPort;
import io.rdma4j.tools.endpoint.SendRefusals;
import io.rdma4j.tools.tcp.OutOfBandChannel;
import io.rdma4j.verbs.AtomicCapability;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.TransportType;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;

import java.io.IOException;
import java.io.PrintWriter;
import java.net.ServerSocket;
import java.util.List;

/** One run of a tool, the same for all of them. */
final class PerfTest {
    private final PrintWriter out;
    private final ConnectOptions options;
    private final Plan plan;
    private final TestReport report;

    private PerfTest(CommandSpec spec, ConnectOptions options, Plan plan, ReportOptions reporting) {
        out = spec.commandLine().getOut();
        this.options = options;
        this.plan = plan;
        report = new TestReport(out, plan, reporting);
    }

    /** {@return the exit status of a tool} */
    static int run(CommandSpec spec, ConnectOptions options, Plan plan, ReportOptions reporting)
            throws IOException {
        return new PerfTest(spec, options, plan, reporting).run();
    }

    private int run() throws IOException {
        try (DeviceContext chosen = options.openChosen()) {
            Place own = Place.ANY;
            if (chosen != null) {
                // What was chosen is checked before a peer comes.
                requireAtomics(chosen);
                LocalPort port = options.localPort(chosen, plan);
                options.mtu(port);
                own = placeOf(port);
            }
            if (options.isManaged()) {
                measureManaged(own);
            } else {
                if (chosen != null) {
                    requireByHand(chosen);
                }
                measureByHand();
            }
        }
        return 0;
    }

    private static void requireByHand(DeviceContext context) throws IOException {
        LocalPort.requireByHand(context, "add -R on both sides");
    }

    /**
     * Meets the peer over TCP. The connection decides what the user left open of device and GID: its addresses are those by
     * which the sides reach each other.
     */
    private void measureByHand() throws IOException {
        try (OutOfBandChannel met = meet();
                DeviceContext context = options.open(met.localAddress());
                SideChannel channel = new SideChannel(new TcpExchange(met))) {
            requireAtomics(context);
            requireByHand(context);
            LocalPort port = options.localPort(context, plan, met.localAddress());
            measure(port, options.mtu(port), channel, null);
        }
    }

    private void requireAtomics(DeviceContext context) throws IOException {
        if (plan.verb() == Verb.ATOMIC
                && context.queryDevice().atomicCapability() == AtomicCapability.NONE) {
            throw new IOException(context.device().name() + " has no atomic operations; take a RoCE"
                    + " device with -d, or measure WRITE, READ or SEND");
        }
    }

    /** {@return where a port is met: at the address that is its GID, if one was chosen; else wherever its device has any} */
    private Place placeOf(LocalPort port) throws RdmaException {
        DeviceContext context = port.context();
        // GIDs of iWARP are no addresses.
        boolean isAddress = options.isGidChosen()
                && context.device().transport() != TransportType.IWARP;
        return new Place(context.device().name(),
                isAddress
                        ? context.queryGid(port.number(), port.gidIndex()).address()
                        : null);
    }

    /**
     * Meets the peer by the connection manager.
     *
     * @param own where this side is; if that is anywhere, whom it meets decides which device it uses
     */
    private void measureManaged(Place own) throws IOException {
        try (CmRendezvous rendezvous = rendezvous(own)) {
            CmExchange exchange = rendezvous.exchange(plan);
            try (SideChannel channel = new SideChannel(exchange)) {
                DeviceContext context = exchange.context();
                requireAtomics(context);
                LocalPort port = options.localPort(context, plan, exchange.address());
                measure(port, options.mtu(port), channel, rendezvous);
            }
        }
    }

    private OutOfBandChannel meet() throws IOException {
        String host = options.host();
        if (host != null) {
            return OutOfBandChannel.connect(host, options.port(), options.patience());
        }
        try (ServerSocket listener = OutOfBandChannel.listen(options.port())) {
            printPort(listener.getLocalPort());
            return OutOfBandChannel.accept(listener, options.patience());
        }
    }

    private CmRendezvous rendezvous(Place own) throws IOException {
        String host = options.host();
        if (host != null) {
            return CmRendezvous.with(host, options.port(), own, options.patience());
        }
        CmRendezvous rendezvous = CmRendezvous.listen(own, options.port(), plan,
                options.patience());
        printPort(rendezvous.port());
        return rendezvous;
    }

    /** The server listens before it prints anything: who reads the first line may connect. */
    private void printPort(int port) {
        report.printWaiting();
        if (options.port() == 0) {
            out.println("  listening on port " + port);
            out.flush();
        }
    }

    private void measure(LocalPort port, Mtu own, SideChannel channel,
            @Nullable CmRendezvous rendezvous) throws IOException {
        Mtu mtu = channel.greet(own, options.isWarmUpWanted());
        WarmUp warmUp = WarmUp.of(plan, options.isWarmUpWanted(), channel.isPeerReadyToWarmUp());
        Plan fitting = fit(mtu);
        try (TestSide side = rendezvous == null
                ? new TestSide(port, null, fitting, mtu, channel.cycleBytes())
                : managedSide(new CmQueuePairs(fitting, rendezvous, chosen(own, mtu)), port, mtu,
                        fitting, channel)) {
            channel.watch(side::arrived);
            report.printTest(side, warmUp);
            connect(side, channel);
            Session session = new Session(fitting, side, channel, report, options.patience(),
                    null);
            warmUp(warmUp, session, port);
            report.printColumns();
            TestFlow flow = FlowChoice.of(fitting);
            try {
                flow.measure(session);
                flow.part(session);
            } catch (PeerGone gone) {
                throw explained(gone, fitting.type(), side);
            }
            report.printEnd();
        }
    }

    /** Where nothing is acknowledged, a peer that waits in vain and ends is all that this side sees of lost messages. */
    private static PeerGone explained(PeerGone gone, QueuePairType type, TestSide side) {
        return switch (type) {
            case UC, UD -> new PeerGone(SendRefusals.text(side.queuePairs(), Exchange.OWN_OUTPUT
                    + ": perhaps nothing came to it, as " + type + " does not acknowledge"));
            case RC, RAW_PACKET, XRC_SEND, XRC_RECEIVE, DRIVER -> gone;
        };
    }

    /** Where messages may be lost, queue pairs of their own are taken. */
    private static void warmUp(WarmUp warmUp, Session session, LocalPort port)
            throws IOException {
        if (session.plan().type() == QueuePairType.RC) {
            ReliableWarmUp.run(session, warmUp);
        } else if (warmUp != WarmUp.OFF) {
            LossyWarmUp.run(session, port);
        }
    }

    /** {@return the path MTU that either side wants, null if both take the largest} */
    private @Nullable Mtu chosen(Mtu own, Mtu agreed) {
        return options.isMtuChosen() || agreed != own ? agreed : null;
    }

    /** {@return a side whose queue pairs the connection manager has connected} */
    private TestSide managedSide(CmQueuePairs pairs, LocalPort port, Mtu mtu, Plan fitting,
            SideChannel channel) throws IOException {
        try {
            channel.exchange(Endpoint.NONE);
            return new TestSide(port.on(pairs.open()), pairs, fitting, mtu, channel.cycleBytes());
        } catch (IOException | RuntimeException e) {
            pairs.close();
            throw e;
        }
    }

    /** {@return the plan with messages that datagrams can carry} */
    private Plan fit(Mtu mtu) throws IOException {
        if (!plan.isDatagrams() || plan.longest() <= mtu.bytes()) {
            return plan;
        }
        if (plan.isSizeChosen()) {
            throw new IOException("-s " + plan.longest() + ": a datagram carries no more than the"
                    + " path MTU, " + mtu.bytes());
        }
        if (!plan.isAllSizes()) {
            out.println("A datagram carries no more than the path MTU: the size is "
                    + mtu.bytes());
            return plan.withSizes(List.of((long) mtu.bytes()));
        }
        return plan.withSizes(
                plan.sizes().stream().filter(size -> size <= mtu.bytes()).toList());
    }

    /** Where the C programs meet, and how often, depends on the tool. */
    private void connect(TestSide side, SideChannel channel) throws IOException {
        if (side.isManaged()) {
            channel.exchange(Endpoint.NONE);
        }
        boolean isSend = plan.verb().isSend();
        if (plan.isLatency() && !isSend) {
            channel.exchange(side.first());
        }
        side.connect(channel.exchange(side.endpoints()));
        if (isSend) {
            channel.exchange(side.first());
        }
        side.endpoints().forEach(own -> report.printEndpoint("local", own));
        channel.exchange(side.endpoints()).forEach(peer -> report.printEndpoint("remote", peer));
        if (!isSend) {
            channel.exchange(side.first());
        }
    }
}
