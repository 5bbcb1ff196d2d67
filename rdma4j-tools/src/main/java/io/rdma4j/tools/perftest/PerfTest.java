package io.rdma4j.tools.perftest;

import io.rdma4j.tools.endpoint.LocalPort;
import io.rdma4j.tools.tcp.OutOfBandChannel;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Mtu;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;

import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;

/** One run of a tool, the same for all of them. */
final class PerfTest {
    private final PrintWriter out;
    private final PrintWriter err;
    private final PeerOptions options;
    private final Plan plan;
    private final Report report;

    private PerfTest(CommandSpec spec, PeerOptions options, Plan plan, ReportOptions reporting) {
        out = spec.commandLine().getOut();
        err = spec.commandLine().getErr();
        this.options = options;
        this.plan = plan;
        report = new Report(out, plan, reporting);
    }

    /** {@return the exit status of a tool} */
    static int run(CommandSpec spec, PeerOptions options, Plan plan, ReportOptions reporting)
            throws IOException {
        return new PerfTest(spec, options, plan, reporting).run();
    }

    private int run() throws IOException {
        try (DeviceContext context = options.open()) {
            LocalPort port = options.localPort(context, plan);
            Mtu mtu = options.mtu(context);
            if (options.isManaged()) {
                InetAddress own = context.queryGid(port.number(), port.gidIndex()).address();
                try (ManagedMeeting meeting = managedMeeting(own);
                        SideChannel channel = new SideChannel(meeting.talk(plan))) {
                    measure(port, mtu, channel, meeting);
                }
            } else {
                try (SideChannel channel = new SideChannel(new TcpTalk(meet()))) {
                    measure(port, mtu, channel, null);
                }
            }
        }
        return 0;
    }

    private OutOfBandChannel meet() throws IOException {
        String host = options.host();
        if (host != null) {
            return OutOfBandChannel.connect(host, options.port(), options.patience());
        }
        try (ServerSocket listener = OutOfBandChannel.listen(options.port())) {
            tellPort(listener.getLocalPort());
            return OutOfBandChannel.accept(listener, options.patience());
        }
    }

    private ManagedMeeting managedMeeting(InetAddress own) throws IOException {
        String host = options.host();
        if (host != null) {
            return ManagedMeeting.with(host, options.port(), own, options.patience());
        }
        ManagedMeeting meeting = ManagedMeeting.listen(own, options.port(), plan,
                options.patience());
        tellPort(meeting.port());
        return meeting;
    }

    /** The server listens before it prints anything: who reads the first line may connect. */
    private void tellPort(int port) {
        report.printWaiting();
        if (options.port() == 0) {
            out.println("  listening on port " + port);
            out.flush();
        }
    }

    private void measure(LocalPort port, Mtu own, SideChannel channel,
            @Nullable ManagedMeeting meeting) throws IOException {
        Mtu mtu = channel.greet(own);
        Plan fitting = fit(mtu);
        try (Side side = meeting == null
                ? new Side(port, null, fitting, mtu, channel.cycleBytes())
                : managedSide(new ManagedPairs(fitting, meeting), port, mtu, fitting, channel)) {
            channel.watch(side::arrived);
            report.printTest(side);
            connect(side, channel);
            report.printColumns();
            Course.of(fitting).run(
                    new Session(fitting, side, channel, report, options.patience()));
            report.printEnd();
        }
    }

    /** {@return a side whose queue pairs the connection manager has connected} */
    private Side managedSide(ManagedPairs pairs, LocalPort port, Mtu mtu, Plan fitting,
            SideChannel channel) throws IOException {
        try {
            channel.exchange(Endpoint.NONE);
            return new Side(port.of(pairs.open()), pairs, fitting, mtu, channel.cycleBytes());
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
            err.println("A datagram carries no more than the path MTU: the size is "
                    + mtu.bytes());
            return plan.withSizes(List.of((long) mtu.bytes()));
        }
        return plan.withSizes(
                plan.sizes().stream().filter(size -> size <= mtu.bytes()).toList());
    }

    /** Where the C programs meet, and how often, depends on the tool. */
    private void connect(Side side, SideChannel channel) throws IOException {
        if (side.isManaged()) {
            channel.exchange(Endpoint.NONE);
        }
        boolean isSend = plan.verb().isSend();
        if (plan.isLatency() && !isSend) {
            channel.exchange(side.first());
        }
        side.connect(exchange(side, channel));
        if (isSend) {
            channel.exchange(side.first());
        }
        side.endpoints().forEach(own -> report.printEndpoint("local", own));
        exchange(side, channel).forEach(peer -> report.printEndpoint("remote", peer));
        if (!isSend) {
            channel.exchange(side.first());
        }
    }

    private static List<Endpoint> exchange(Side side, SideChannel channel) throws IOException {
        List<Endpoint> remote = new ArrayList<>();
        for (Endpoint own : side.endpoints()) {
            remote.add(channel.exchange(own));
        }
        return remote;
    }
}
